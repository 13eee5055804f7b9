/** OpenAI. */
import { openAiCompatible, openAiEndpoints } from '../openai-compatible.ts';
import type { CallFacts } from '../provider.ts';

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

export const openai = openAiCompatible({
  id: 'openai',
  name: 'OpenAI',
  address: 'https://api.openai.com/v1',
  endpoints: openAiEndpoints,
  headers: accountHeaders,
});
