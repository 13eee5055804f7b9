/** What passes through to a cloud with credentials that are not the caller's own: it reads and writes no objects of others, and the gateway's own identity makes model calls alone. */
import type { CallFacts } from '../../providers/provider.ts';
import { mayBeRead } from '../../providers/stored-files.ts';
import type { Target } from '../attempt/target.ts';
import type { RequestContext } from '../context.ts';
import { GatewayError } from '../errors.ts';
import { partsOf } from './upstream-address.ts';

export function requirePassedStorage(
  { body, request }: RequestContext,
  { provider }: Target,
  facts: CallFacts,
  url: string,
): void {
  const { modelCalls: calls } = provider;
  const own = calls ? facts.storage() : null;
  // Callers who bring their own credentials are bound by those alone.
  if (!calls || !own) return;
  if (own.lent) {
    const known = request.method === 'POST' ? calls.POST : request.method === 'GET' ? calls.GET : null;
    if (!known?.test(partsOf(url).path)) throw onlyModels();
  }
  if (body.form === 'none') return;
  if (body.form !== 'json') throw unread();
  for (const literal of stringsIn(body.bytes)) {
    if (/^\s*(?:gs|s3):/i.test(literal) && !mayBeRead(literal.trim(), facts)) throw notTheirs(literal.trim());
  }
}

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
