/** Paths that depend on where the provider stands. */
import type { EndpointKind } from '../../endpoints.ts';
import type { CallFacts, ProviderEndpoint } from '../../provider.ts';

type Path = (facts: CallFacts, base: string) => string;

/** Kept at another address of the provider's own; behind a custom host it stands on that host too. */
export const elsewhere =
  (home: string, address: (facts: CallFacts) => string): Path =>
  (facts, base) => {
    const full = address(facts);
    return base === home ? full : new URL(base).origin + full.slice(new URL(full).origin.length);
  };

/** A part of a path that a client has written, such as a model's name: it cannot leave its place. */
export const inPath = (name: string): string =>
  name
    .toWellFormed()
    .split('/')
    .filter((part) => part !== '' && part !== '.' && part !== '..')
    .map(encodeURIComponent)
    .join('/');

const versioned = /\/v\d+[a-z0-9]*$/i;

/** Servers that people run themselves are named with or without the version at the end of their address. */
export const underVersion =
  (path: string): Path =>
  (_, base) =>
    versioned.test(base) ? path : `/v1${path}`;

const serverPaths = {
  chatComplete: '/chat/completions',
  complete: '/completions',
  embed: '/embeddings',
  rerank: '/rerank',
  imageGenerate: '/images/generations',
  createSpeech: '/audio/speech',
  createTranscription: '/audio/transcriptions',
  createModelResponse: '/responses',
  listModels: '/models',
} as const satisfies Partial<Record<EndpointKind, string>>;

/** Endpoints of a server that people run themselves. */
export const onServer = (
  ...kinds: readonly (keyof typeof serverPaths)[]
): Partial<Record<EndpointKind, ProviderEndpoint>> =>
  Object.fromEntries(kinds.map((kind) => [kind, { path: underVersion(serverPaths[kind]) }]));

export const serverAddress = [
  {
    name: 'custom_host',
    required: true,
    about: 'The address of the server, such as http://localhost:8000 or http://localhost:8000/v1.',
  },
];
