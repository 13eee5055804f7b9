/** Which models may be asked. */

import { z } from 'zod';
import { readJson } from '../../bounded-json.ts';
import { defineCheck, failedCheck } from '../check.ts';
import { before } from './events.ts';
import { not, words } from './fields.ts';

/** `@slug/model` is also known as `model`. */
const namesOf = (model: string): string[] =>
  model.startsWith('@') && model.includes('/') ? [model, model.slice(model.indexOf('/') + 1)] : [model];

const isListed = (model: string, list: readonly string[]): boolean =>
  list.includes('*') || namesOf(model).some((name) => list.includes(name));

export const modelWhitelist = defineCheck({
  id: 'default.modelWhitelist',
  aliases: ['default.modelwhitelist'],
  title: 'Model whitelist',
  description: 'Passes when the model of the request is in the list, as `@slug/model` or by the model alone.',
  category: 'BASIC',
  events: before,
  parameters: () => ({ models: words(), not: not() }),
  example: { models: ['gpt-4o-mini'] },
  prepare: ({ models, not: inverted }) => ({
    run({ request }) {
      const { model } = request;
      if (typeof model !== 'string' || model === '') return failedCheck('the request names no model');
      if (models.length === 0) return failedCheck('the list of models is empty');
      const listed = namesOf(model).some((name) => models.includes(name));
      const verdict = listed !== inverted;
      const explanation = `The model ${model} is ${listed ? '' : 'not '}in the list.`;
      return { verdict, data: { requestedModel: model, allowedModels: models, not: inverted, verdict, explanation } };
    },
  }),
});

export const modelRules = defineCheck({
  id: 'default.modelRules',
  title: 'Model rules',
  description: 'Passes when the model is one that the metadata of the request allows; `*` allows every model.',
  category: 'BASIC',
  events: before,
  parameters: () => ({
    rules: z.object({
      defaults: words().optional(),
      metadata: z.record(z.string().max(128), z.record(z.string().max(1_024), words())).optional(),
    }),
    not: not(),
  }),
  example: { rules: { defaults: ['gpt-4o-mini'], metadata: { tier: { premium: ['*'] } } } },
  prepare: ({ rules, not: inverted }) => ({
    run({ request, facts }) {
      const { model } = request;
      if (typeof model !== 'string' || model === '') return failedCheck('the request names no model');
      const allowed = resolved(rules, facts.metadata);
      if (allowed.length === 0) return failedCheck('no rule names a model for this request');
      const listed = isListed(model, allowed);
      const verdict = listed !== inverted;
      const explanation = `The model ${model} is ${listed ? '' : 'not '}allowed by the rules for this request.`;
      return { verdict, data: { requestedModel: model, allowedModels: allowed, not: inverted, verdict, explanation } };
    },
  }),
});

interface Rules {
  defaults?: string[] | undefined;
  metadata?: Record<string, Record<string, string[]>> | undefined;
}

function resolved({ defaults = [], metadata = {} }: Rules, given: Readonly<Record<string, string>>): string[] {
  const models = new Set<string>();
  let matched = false;
  for (const [key, byValue] of Object.entries(metadata)) {
    for (const value of valuesOf(ownValue(given, key))) {
      const own = Object.hasOwn(byValue, value) ? byValue[value] : undefined;
      if (!own) continue;
      matched = true;
      for (const model of own) models.add(model);
    }
  }
  return matched ? [...models] : defaults;
}

/** Names that every object has are no metadata. */
export const ownValue = (metadata: Readonly<Record<string, string>>, key: string): string | undefined =>
  Object.hasOwn(metadata, key) ? metadata[key] : undefined;

/** Metadata are texts; a list arrives as its JSON. */
export function valuesOf(value: string | undefined): string[] {
  if (value === undefined) return [];
  if (!value.startsWith('[')) return [value];
  try {
    const list: unknown = readJson(value);
    return Array.isArray(list) ? list.map((item) => (typeof item === 'string' ? item : JSON.stringify(item))) : [value];
  } catch {
    return [value];
  }
}
