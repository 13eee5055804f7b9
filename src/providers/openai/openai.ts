/** OpenAI. */
import { openAiCompatible, openAiEndpoints } from '../openai-compatible.ts';
import type { CallFacts, OfferedEndpoint, ProviderEndpoint } from '../provider.ts';
import { hasOnlyResponses } from './only-responses.ts';
import { responsesFamily } from './responses/family.ts';
import { withoutForeignThoughts } from './responses/foreign-thoughts.ts';

const text = (value: unknown): string | null => (typeof value === 'string' && value !== '' ? value : null);

const accountHeaders = ({ fields, clientHeader }: CallFacts): Record<string, string> => {
  const headers: Record<string, string> = {};
  const organization = text(fields.openai_organization);
  const project = text(fields.openai_project);
  const beta = text(fields.openai_beta) ?? clientHeader('openai-beta');
  if (organization) headers['openai-organization'] = organization;
  if (project) headers['openai-project'] = project;
  if (beta) headers['openai-beta'] = beta;
  return headers;
};

const responsesBeta = 'use-responses-api-2026-07-30';

const viaResponses: ProviderEndpoint = { path: '/responses', chat: responsesFamily };
const chat: ProviderEndpoint = {};
const createModelResponse: ProviderEndpoint = { adjust: withoutForeignThoughts };

const chatComplete: OfferedEndpoint = ({ model }) => (hasOnlyResponses(model) ? viaResponses : chat);

/** Messages are served by chat, unless the model has none or the client asks otherwise. */
const messages: OfferedEndpoint = ({ model, clientHeader }) =>
  hasOnlyResponses(model) || clientHeader('x-gw-beta')?.includes(responsesBeta) ? viaResponses : null;

export const openai = openAiCompatible({
  id: 'openai',
  name: 'OpenAI',
  takesStreamOptions: true,
  aliases: ['open-ai'],
  address: 'https://api.openai.com/v1',
  endpoints: { ...openAiEndpoints, chatComplete, createModelResponse, messages },
  headers: accountHeaders,
  fields: [
    { name: 'openai_organization', about: 'The organisation that calls are counted for.' },
    { name: 'openai_project', about: 'The project that calls are counted for.' },
    { name: 'openai_beta', about: 'The betas that calls ask for, as OpenAI-Beta.' },
  ],
  notes: [
    'Models that have no chat (o1-pro, o3-pro, deep research, codex, gpt-5-pro and their like) are asked for responses: chat completions and messages are translated, and nothing is kept.',
    'On /responses, reasoning items that the gateway sealed for another provider are left out of the request; every other request arrives as it was written.',
  ],
});
