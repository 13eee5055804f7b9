/** OpenAI. */
import { openAiCompatible, openAiEndpoints } from '../openai-compatible.ts';
import type { CallFacts, OfferedEndpoint } from '../provider.ts';
import { responsesFamily } from './responses/family.ts';

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

/** Models that have no chat. */
const onlyResponses =
  /^(?:o[13]-pro|o[34](?:-mini)?-deep-research|gpt-5(?:\.\d+)?-(?:pro|codex)|codex-mini|computer-use-preview)/;
const responsesBeta = 'use-responses-api-2026-07-30';

const viaResponses = { path: '/responses', chat: responsesFamily };

/** Messages are served by chat, unless the model has none or the client asks otherwise. */
const messages: OfferedEndpoint = ({ model, clientHeader }) =>
  onlyResponses.test(model) || clientHeader('x-gw-beta')?.includes(responsesBeta) ? viaResponses : null;

export const openai = openAiCompatible({
  id: 'openai',
  name: 'OpenAI',
  aliases: ['open-ai'],
  address: 'https://api.openai.com/v1',
  endpoints: { ...openAiEndpoints, messages },
  headers: accountHeaders,
  fields: [
    { name: 'openai_organization', about: 'The organisation that calls are counted for.' },
    { name: 'openai_project', about: 'The project that calls are counted for.' },
    { name: 'openai_beta', about: 'The betas that calls ask for, as OpenAI-Beta.' },
  ],
});
