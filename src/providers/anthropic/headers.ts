/** The headers that every call carries, whoever hosts the API. */
import type { CallFacts } from '../provider.ts';
import { setting } from '../settings.ts';
import { betaHeader } from './betas.ts';
import { anthropicApi } from './surface.ts';

const defaultVersion = '2023-06-01';

export const apiHeaders = (facts: CallFacts): Record<string, string> => ({
  'anthropic-version':
    facts.clientHeader('anthropic-version') ??
    setting(facts.fields, 'anthropic_version') ??
    setting(facts.body, 'anthropic_version') ??
    defaultVersion,
  ...betaHeader(facts, anthropicApi),
});
