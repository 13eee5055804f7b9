/** Credentials that a provider says back in an error, blotted out before a client or the log sees them. Only errors are looked at. */
import { readJson } from '../../bounded-json.ts';
import type { MaybePromise } from '../../maybe-promise.ts';
import { objectOf } from '../../providers/json.ts';
import type { ServerEvent } from '../../providers/provider.ts';
import { type AnswerHeaders, type ByteReader, ReceivedHeaders, type WireAnswer } from '../../wire/client/answer.ts';
import { type Bytes, collected } from '../../wire/client/collected.ts';
import { decodedBody, isUnderstood } from '../../wire/client/decoded.ts';
import type { Target } from '../attempt/target.ts';
import { GatewayError } from '../errors.ts';
import { fieldsOf } from '../request/headers.ts';

const secretName = /auth|key|token|secret|cookie|credential|password|passphrase|private|signature/i;
/** Settings that tell where a secret goes, not what it is. */
const placeName = /(name|header|url|uri|id|type|path)$/i;
/** Shorter ones stand in ordinary words. */
const shortest = 8;

/** Every credential that went along, in the spellings in which it may come back; the longest first. */
export function secretsSent(target: Pick<Target, 'credential' | 'fields' | 'customHeaders'>, sent: SentWith): string[] {
  const found = new Set<string>();
  const add = (value: unknown) => {
    if (typeof value !== 'string' || value.length < shortest) return;
    for (const spelling of [value, JSON.stringify(value).slice(1, -1), encodeURIComponent(value.toWellFormed())]) {
      found.add(spelling);
    }
  };
  add(target.credential);
  for (const [name, value] of Object.entries(target.fields)) {
    if (secretName.test(name) && !placeName.test(name)) add(value);
  }
  for (const value of Object.values(target.customHeaders)) add(value);
  for (const [name, value] of Object.entries(sent.headers)) {
    if (secretName.test(name) || sent.sensitive?.includes(name.toLowerCase()))
      add(value.replace(/^[a-z][a-z0-9-]*\s+(?=\S+$)/i, ''));
  }
  for (const [name, value] of URL.parse(sent.url)?.searchParams ?? []) if (secretName.test(name)) add(value);
  return [...found].sort((one, other) => other.length - one.length);
}

/** What was sent. */
interface SentWith {
  /** Its answer comes back as it is. */
  passthrough?: boolean;
  url: string;
  headers: Readonly<Record<string, string>>;
  /** Headers that the caller or the operator called sensitive, in lower case. */
  sensitive?: readonly string[];
}

/** As long as it was, so that lengths that were told stay true. */
export function concealedText(text: string, secrets: readonly string[]): string {
  let concealed = text;
  for (const secret of secrets) {
    if (concealed.includes(secret)) concealed = concealed.replaceAll(secret, '*'.repeat(secret.length));
  }
  return concealed;
}

const star = 0x2a;

/** The very same bytes where there is nothing to conceal. */
export function concealedBytes(bytes: Bytes, secrets: readonly string[]): Bytes {
  let concealed: Buffer<ArrayBuffer> | null = null;
  for (const secret of secrets) {
    const wanted = Buffer.from(secret);
    const source = concealed ?? Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
    for (let at = source.indexOf(wanted); at >= 0; at = (concealed ?? source).indexOf(wanted, at + wanted.length)) {
      concealed ??= Buffer.from(bytes);
      concealed.fill(star, at, at + wanted.length);
    }
  }
  return concealed ?? bytes;
}

/** An error of the provider's without our credentials; any other answer is the very same. */
export function concealedAnswer(answer: WireAnswer, target: Target, sent: SentWith): MaybePromise<WireAnswer> {
  if (answer.status < 400) return answer;
  const secrets = secretsSent(target, sent);
  if (secrets.length === 0) return answer;
  const headers = concealedHeaders(answer.headers, secrets);
  // What only the two sides understand was agreed on by them.
  if (!answer.body || !isUnderstood(answer.headers)) return { ...answer, headers };
  const packed = sent.passthrough && answer.headers.get('content-encoding');
  if (packed) return concealedPacking({ ...answer, headers }, answer.body, secrets);
  return { ...answer, headers, body: concealedReader(answer.body, secrets) };
}

/** The same for an answer whose body is unpacked already, and for whatever was sent in these headers. */
export function concealedFrom(answer: WireAnswer, url: string, headers: Readonly<Record<string, string>>): WireAnswer {
  if (answer.status < 400) return answer;
  const secrets = secretsSent({ credential: null, fields: {}, customHeaders: headers }, { url, headers });
  if (secrets.length === 0) return answer;
  const body = answer.body && concealedReader(answer.body, secrets);
  return { ...answer, headers: concealedHeaders(answer.headers, secrets), body };
}

const longestPacked = 4 * 1024 * 1024;

/** What passes through stays packed as it came, unless there is something to conceal in it. */
async function concealedPacking(
  answer: WireAnswer & { headers: ReceivedHeaders },
  body: ByteReader,
  secrets: readonly string[],
): Promise<WireAnswer> {
  const packed = await collected(body, longestPacked);
  const plain = await collected(decodedBody(readerOf(packed), answer.headers), longestPacked);
  const concealed = concealedBytes(plain, secrets);
  if (concealed === plain) return { ...answer, body: readerOf(packed) };
  return { ...answer, headers: withoutPacking(answer.headers), body: readerOf(concealed) };
}

function readerOf(bytes: Bytes): ByteReader {
  let left: Bytes | null = bytes;
  return {
    async read() {
      const value = left;
      left = null;
      return value && value.length > 0 ? { done: false, value } : { done: true };
    },
    cancel: async () => undefined,
  };
}

export function concealedHeaders(headers: AnswerHeaders, secrets: readonly string[]): ReceivedHeaders {
  const fields: Record<string, string> = {};
  const received = fieldsOf(headers);
  for (const name in received) fields[name] = concealedText(received[name] ?? '', secrets);
  return new ReceivedHeaders(fields);
}

function withoutPacking({ fields }: ReceivedHeaders): ReceivedHeaders {
  const { 'content-encoding': _encoding, 'content-length': _length, ...rest } = fields;
  return new ReceivedHeaders(rest);
}

/** Holds back as many bytes as could be the beginning of a secret. */
function concealedReader(body: ByteReader, secrets: readonly string[]): ByteReader {
  const longest = Math.max(...secrets.map((secret) => Buffer.byteLength(secret)));
  let held: Bytes = new Uint8Array();
  let over = false;
  return {
    async read() {
      while (!over) {
        const { done, value } = await body.read();
        over = done;
        const all = concealedBytes(value ? Buffer.concat([held, value]) : held, secrets);
        const ready = done ? all.length : Math.max(0, all.length - longest + 1);
        held = all.subarray(ready);
        if (ready > 0) return { done: false, value: all.subarray(0, ready) };
      }
      return { done: true };
    },
    cancel: () => body.cancel(),
  };
}

/** The very same error where there is nothing to conceal. */
export function concealedError(error: GatewayError, secrets: readonly string[]): GatewayError {
  const message = concealedText(error.message, secrets);
  const { ofProvider } = error;
  if (message === error.message && !ofProvider) return error;
  return new GatewayError(error.code, message, {
    status: error.status,
    type: error.type,
    faults: error.faults,
    headers: error.headers,
    // Its prefix stands in the message already.
    spoken: 'by the provider',
    ...(error.field !== null && { field: error.field }),
    ...(ofProvider && {
      ofProvider: (form) => objectOf(readJson(concealedText(JSON.stringify(ofProvider(form)), secrets))),
    }),
  });
}

export const concealedEvent = (event: ServerEvent, secrets: readonly string[]): ServerEvent => ({
  ...event,
  data: concealedText(event.data, secrets),
});
