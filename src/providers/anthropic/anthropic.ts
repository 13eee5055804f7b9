/** Anthropic. */
import type { CallFacts, Provider, ProviderField } from '../provider.ts';
import { completion } from './complete.ts';
import { apiEndpoints } from './endpoints.ts';
import { apiHeaders } from './headers.ts';
import { modelEndpoints } from './resources.ts';

/** Tokens of the vendor's own command line are OAuth tokens and travel as such. */
const isOauthToken = (credential: string): boolean => credential.startsWith('sk-ant-oat');

const credentialHeaders = ({ credential }: CallFacts): Record<string, string> => {
  if (credential === null) return {};
  return isOauthToken(credential) ? { authorization: `Bearer ${credential}` } : { 'x-api-key': credential };
};

export const apiFields: readonly ProviderField[] = [
  { name: 'anthropic_version', about: 'The version of the API, such as 2023-06-01, where the client names none.' },
  { name: 'anthropic_beta', about: 'Betas to turn on, separated by commas; added to those that the client names.' },
];

export const anthropic: Provider = {
  id: 'anthropic',
  name: 'Anthropic',
  address: 'https://api.anthropic.com/v1',
  needsCredential: true,
  headers: (facts) => ({ ...apiHeaders(facts), ...credentialHeaders(facts) }),
  fields: [
    ...apiFields,
    {
      name: 'anthropic_inspect_stream_for_overloaded_error',
      about: 'Accepted for compatibility: a stream whose first event is an error always answers with its status.',
    },
  ],
  rowsInline: true,
  continuesPrefix: true,
  endpoints: { ...apiEndpoints, ...modelEndpoints, complete: { path: '/complete', translation: completion } },
  notes: [
    'An answer may be as long as the model allows where max_tokens is not set; Anthropic itself would refuse the call.',
    'reasoning_effort becomes adaptive thinking on models from 4.6 on and a budget of tokens on older ones. Thinking is left out where a tool must be called, and on older models where the history lacks the thoughts that belong to its last tool calls.',
    'A talk in which another provider answered goes on here: on /messages, thoughts that Claude did not sign, the marks that the gateway keeps in them for other providers, and sources that it wrote on a text are left out of the request, and thinking by a budget with them where it would need them. Every other request arrives as it was written.',
    'Structured output is native on models from 4.5 on; older ones are made to call a tool whose arguments become the answer.',
    'Models and files are shown in OpenAI’s form, unless the client sends anthropic-version as Anthropic’s own SDK does.',
    'Batches are made from a file that was uploaded with purpose batch, which the gateway keeps and hands over, or from rows that come with the call as requests, each with custom_id and the body of a chat completion. With completion_window immediate the gateway runs the rows itself, at full price.',
    'The output of a batch is read at /batches/{id}/output, or as the file that output_file_id names.',
  ],
};
