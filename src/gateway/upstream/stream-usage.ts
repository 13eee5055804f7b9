/** Streams are asked for their usage even where the client did not ask: a bill needs it. The extra chunk is hidden from that client. */
import { readJson } from '../../bounded-json.ts';
import { objectOf } from '../../providers/json.ts';
import type { ServerEvent } from '../../providers/provider.ts';
import type { Operation } from '../attempt/operation.ts';
import type { Target } from '../attempt/target.ts';
import type { RequestContext } from '../context.ts';
import type { Bytes } from '../request/body.ts';

/** Only in the provider's own dialect: a translated request asks anyway. */
export function asksForUsage(
  { body, workspace }: RequestContext,
  { provider }: Target,
  { facts, endpoint, translation, passthrough }: Operation,
): boolean {
  if (!provider.takesStreamOptions || !facts.stream || passthrough || body.form !== 'json') return false;
  if (facts.kind !== 'chatComplete' && facts.kind !== 'complete') return false;
  if (endpoint.steps || (translation && !translation.answersOnly)) return false;
  return workspace.settings.stream_usage && objectOf(facts.body.stream_options).include_usage !== true;
}

const opening = Buffer.from('{"stream_options":{"include_usage":true},');
const brace = '{'.charCodeAt(0);
const encoder = new TextEncoder();
const decoder = new TextDecoder();

/** The body with the question spliced in; all other bytes are the client's. */
export function withUsageAsked(bytes: Bytes, streamOptions: unknown): Bytes {
  if (streamOptions === undefined) {
    const rest = bytes.subarray(bytes.indexOf(brace) + 1);
    const asked = new Uint8Array(opening.length + rest.length);
    asked.set(opening);
    asked.set(rest, opening.length);
    return asked;
  }
  const body = objectOf(readJson(decoder.decode(bytes)));
  return encoder.encode(
    JSON.stringify({ ...body, stream_options: { ...objectOf(streamOptions), include_usage: true } }),
  );
}

/** The chunk that brings nothing but the usage. */
export const isUsageAlone = ({ data }: ServerEvent): boolean => /"choices":\s*\[\s*\]/.test(data);

const blankLines = ['\r\n\r\n', '\n\n', '\r\r'];

/** The bytes without the event that has this data; null where its data does not stand in one line. */
export function cutEvent(whole: Uint8Array, data: string): Uint8Array | null {
  const bytes = Buffer.from(whole.buffer, whole.byteOffset, whole.length);
  const at = bytes.indexOf(data);
  if (at === -1) return null;
  const start = Math.max(0, ...blankLines.map((blank) => endOf(bytes.lastIndexOf(blank, at), blank)));
  const ends = blankLines.map((blank) => endOf(bytes.indexOf(blank, at), blank)).filter((end) => end > 0);
  const end = ends.length > 0 ? Math.min(...ends) : bytes.length;
  return Buffer.concat([bytes.subarray(0, start), bytes.subarray(end)]);
}

const endOf = (index: number, blank: string): number => (index === -1 ? 0 : index + blank.length);
