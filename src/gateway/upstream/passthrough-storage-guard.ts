/** What passes through to a cloud with credentials that are not the caller's own: it reads and writes no objects of others, and the gateway's own identity makes model calls alone. */
import type { EndpointKind } from '../../providers/endpoints.ts';
import type { CallFacts } from '../../providers/provider.ts';
import { mayBeRead } from '../../providers/stored-files.ts';
import type { Target } from '../attempt/target.ts';
import type { RequestContext } from '../context.ts';
import { GatewayError } from '../errors.ts';
import { loosely, partsOf } from './upstream-address.ts';

export function requirePassedStorage(
  { body, request }: RequestContext,
  { provider }: Target,
  facts: CallFacts,
  url: string,
): void {
  if (!provider.authentication) return;
  const own = facts.storage();
  // Callers who bring their own credentials are bound by those alone.
  if (!own) return;
  const { path } = partsOf(url);
  if (own.lent) {
    const { POST: posted, GET: got } = provider.modelCalls ?? {};
    const known = request.method === 'POST' ? posted : request.method === 'GET' ? got : null;
    if (!known?.test(path)) throw onlyModels();
  }
  const { storage } = provider;
  if (!storage) return;
  if (storage.jobs.test(loosely(path))) throw sharedJobs(storage.routes);
  if (body.form === 'none') return;
  if (body.form !== 'json') throw unread();
  for (const literal of stringsIn(body.bytes)) {
    if (/^\s*(?:gs|s3):/i.test(literal) && !mayBeRead(literal.trim(), facts)) throw notTheirs(literal.trim());
  }
}

/** What a workspace keeps with a provider, and its jobs there, are no calls of models. */
export function requireLentKind({ provider }: Target, facts: CallFacts): void {
  if (modelKinds.has(facts.kind) || provider.storage || !provider.authentication) return;
  if (facts.storage()?.lent) throw onlyModels();
}

/** Kinds that ask a model, or ask for what a model has answered. */
const modelKinds: ReadonlySet<EndpointKind> = new Set<EndpointKind>([
  'chatComplete',
  'complete',
  'embed',
  'rerank',
  'moderate',
  'imageGenerate',
  'imageEdit',
  'imageVariation',
  'createSpeech',
  'createTranscription',
  'createTranslation',
  'createModelResponse',
  'getModelResponse',
  'deleteModelResponse',
  'listResponseInputItems',
  'messages',
  'messagesCountTokens',
  'ocr',
  'listModels',
  'retrieveModel',
  'realtime',
]);

const sharedJobs = (routes: string): GatewayError =>
  new GatewayError(
    'provider_not_allowed',
    `jobs of this cloud belong to all workspaces with the same credential, and do not pass through; ${routes} show those of this workspace`,
  );

const onlyModels = (): GatewayError =>
  new GatewayError('provider_not_allowed', 'the gateway lends its own cloud identity for calls of models only');

const unread = (): GatewayError =>
  new GatewayError(
    'invalid_body',
    'what passes through to this cloud with a saved credential must be JSON; send it as application/json',
  );

const notTheirs = (uri: string): GatewayError =>
  new GatewayError('provider_not_allowed', `the object ${uri.slice(0, 200)} is none of this workspace's`);

const quote = 34;
const backslash = 92;
const longestAddress = 8_192;

/** Every string of a JSON text as it stands there, also those of fields that are named twice; what is too long for an address is left out. */
function* stringsIn(given: Uint8Array): Generator<string> {
  const bytes = Buffer.from(given.buffer, given.byteOffset, given.length);
  for (let open = bytes.indexOf(quote); open !== -1; ) {
    let close = bytes.indexOf(quote, open + 1);
    while (close !== -1 && isEscaped(bytes, close)) close = bytes.indexOf(quote, close + 1);
    if (close === -1) return;
    if (close - open <= longestAddress) {
      const written = bytes.toString('utf8', open + 1, close);
      yield written.includes('\\') ? unescaped(written) : written;
    }
    open = bytes.indexOf(quote, close + 1);
  }
}

function isEscaped(bytes: Buffer, at: number): boolean {
  let escapes = 0;
  while (bytes[at - 1 - escapes] === backslash) escapes++;
  return escapes % 2 === 1;
}

const letters: Readonly<Record<string, string>> = { n: '\n', r: '\r', t: '\t', b: '\b', f: '\f' };

const unescaped = (written: string): string =>
  written.replace(/\\(?:u([0-9a-f]{4})|(.))/gi, (_, code: string | undefined, letter: string) =>
    code === undefined ? (letters[letter] ?? letter) : String.fromCharCode(Number.parseInt(code, 16)),
  );
