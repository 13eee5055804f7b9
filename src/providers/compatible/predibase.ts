/** Predibase: models are named `base:adapter`; the base stands in the path, the adapter in the body. */
import { openAiCompatible } from '../openai-compatible.ts';
import type { CallFacts } from '../provider.ts';
import { needSetting } from '../settings.ts';
import { chat } from './quirks/chat.ts';
import { limitAsMaxTokens, oneChoice, type Quirk } from './quirks/parameters.ts';
import { inPath } from './quirks/paths.ts';

const named = (model: string): { base: string; adapter: string } => {
  const [base = '', ...adapter] = model.split(':');
  return { base, adapter: adapter.join(':') };
};

const adapterAsModel: Quirk = (body, { model }) => ({ ...body, model: named(model).adapter });

/** Clients that know no settings name the tenant as the user. */
const tenantOf = ({ fields, body }: CallFacts): string =>
  typeof body.user === 'string' && fields.predibase_tenant === undefined
    ? body.user
    : needSetting(fields, 'predibase_tenant');

export const predibase = openAiCompatible({
  id: 'predibase',
  name: 'Predibase',
  address: 'https://serving.app.predibase.com',
  endpoints: {
    chatComplete: chat({
      path: (facts) =>
        `/${inPath(tenantOf(facts))}/deployments/v2/llms/${inPath(named(facts.model).base)}/v1/chat/completions`,
      asks: [limitAsMaxTokens, oneChoice, adapterAsModel],
    }),
  },
  fields: [{ name: 'predibase_tenant', about: 'The id of the tenant; else the user of the call is taken for it.' }],
  notes: ['A model is named as base:adapter/version; the base alone means no adapter.'],
});
