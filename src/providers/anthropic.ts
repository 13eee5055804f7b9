/** Anthropic, on its own messages route. */
import type { CallFacts, Provider } from './provider.ts';

const text = (value: unknown): string | null => (typeof value === 'string' && value !== '' ? value : null);

const defaultVersion = '2023-06-01';

/** Tokens of the vendor's own command line are OAuth tokens and travel as such. */
const isOauthToken = (credential: string): boolean => credential.startsWith('sk-ant-oat');

function headers({ credential, fields, clientHeader }: CallFacts): Record<string, string> {
  const beta = clientHeader('anthropic-beta') ?? text(fields.anthropic_beta);
  return {
    'anthropic-version': clientHeader('anthropic-version') ?? text(fields.anthropic_version) ?? defaultVersion,
    ...(beta && { 'anthropic-beta': beta }),
    ...(credential !== null &&
      (isOauthToken(credential) ? { authorization: `Bearer ${credential}` } : { 'x-api-key': credential })),
  };
}

export const anthropic: Provider = {
  id: 'anthropic',
  name: 'Anthropic',
  address: 'https://api.anthropic.com/v1',
  needsCredential: true,
  headers,
  continuesPrefix: true,
  endpoints: {
    messages: {},
    messagesCountTokens: {},
    listModels: {},
    retrieveModel: {},
    uploadFile: {},
    listFiles: {},
    retrieveFile: {},
    deleteFile: {},
    retrieveFileContent: {},
  },
};
