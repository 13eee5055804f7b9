/** The usage of an answer: as the provider reports it, or estimated where it reports none. */

import { brotliDecompressSync, gunzipSync, inflateSync, zstdDecompressSync } from 'node:zlib';
import { jsonOrNothing, jsonOrNothingIn } from '../../bounded-json.ts';
import type { EndpointKind } from '../../providers/endpoints.ts';
import { objectsOf } from '../../providers/json.ts';
import type { JsonObject, ServerEvent, Usage } from '../../providers/provider.ts';
import { laterUsage, mayListTools, noUsage, readResponseUsage, readUsage } from '../../providers/usage.ts';
import type { AttemptRecord } from '../attempt/answer.ts';
import type { RequestContext } from '../context.ts';
import { jsonOf, objectIn } from '../dialects/dialect.ts';
import { readEvents } from '../streaming/sse.ts';
import { tokensOf } from './token-estimate.ts';

const decoder = new TextDecoder();

/** Null when the provider reported nothing. */
export function usageOfAnswer(kind: EndpointKind, record: AttemptRecord, modelKnown: boolean): Reported | null {
  if (record.usage) return { usage: record.usage, model: record.model };
  if (record.firstTokenMs !== null || !record.received) return null;
  const bytes = plainBytes(record);
  if (!bytes) return null;
  if (isStream(record)) return usageInEvents(outerEvents(bytes));
  const atTheEnd = modelKnown ? readUsage(ending(bytes)?.usage) : null;
  if (atTheEnd) return { usage: atTheEnd, model: null };
  const json = parsedBytes(bytes);
  const usage =
    json &&
    (readResponseUsage(json) ?? readUsage(billedUnits(json)) ?? countedImages(kind, json) ?? heardSeconds(kind, json));
  return usage ? { usage, model: typeof json?.model === 'string' ? json.model : null } : null;
}

interface Reported {
  usage: Usage;
  /** Null where nobody asks, since the model is known. */
  model: string | null;
}

/** The fields of an answer from its usage on, which mostly stands near the end: what was written before, or all the vectors, need not be read again. Null where they are not all. */
function ending(received: Uint8Array): JsonObject | null {
  const bytes = Buffer.from(received.buffer, received.byteOffset, received.length);
  const start = bytes.lastIndexOf('"usage":');
  // A quote inside of a text stands behind a backslash, so that this is a name; what is whole from here to the end has it at the top.
  if (start === -1 || bytes[start - 1] === backslash || mayListTools(bytes)) return null;
  return parsed(`{${decoder.decode(bytes.subarray(start))}`);
}

const backslash = 92;

export const isStream = ({ firstTokenMs, responseHeaders }: AttemptRecord): boolean =>
  firstTokenMs !== null || (responseHeaders?.get('content-type')?.startsWith('text/event-stream') ?? false);

/** It is unpacked while others wait. */
const largestDecoded = 4 * 1024 * 1024;

/** What was received, without the encoding that a passthrough leaves on it; null when that cannot be undone. */
function plainBytes({ received, upstream, responseHeaders }: AttemptRecord): Uint8Array | null {
  const encoding = upstream?.passthrough ? responseHeaders?.get('content-encoding') : null;
  if (!received || !encoding || encoding === 'identity') return received;
  const decode = decoders[encoding];
  try {
    return decode ? decode(received, { maxOutputLength: largestDecoded }) : null;
  } catch {
    // Cut off by the bound on copies, or not what its header says: the usage stays unknown.
    return null;
  }
}

const decoders: Record<string, (bytes: Uint8Array, bound: { maxOutputLength: number }) => Uint8Array> = {
  gzip: gunzipSync,
  deflate: inflateSync,
  br: brotliDecompressSync,
  zstd: zstdDecompressSync,
};

/** So much of the copy of a stream is read again at its beginning and at its end, because others wait meanwhile. Every dialect tells its figures in one of the two. */
const readAtBeginning = 256 * 1024;
const readAtEnd = 512 * 1024;

/** The whole events at the beginning of a copy. */
function firstEvents(bytes: Uint8Array): ServerEvent[] {
  return readEvents(bytes.subarray(0, eventEndBefore(bytes, readAtBeginning)));
}

/** And those at its end, an event that is longer than what is read included. */
function outerEvents(bytes: Uint8Array): ServerEvent[] {
  if (bytes.length <= readAtBeginning + readAtEnd) return readEvents(bytes);
  const from = eventEndBefore(bytes, bytes.length - readAtEnd);
  return [...firstEvents(bytes), ...readEvents(bytes.subarray(from))];
}

const blankLines = ['\n\n', '\n\r\n', '\r\r'];
const longestBlank = 3;

/** Behind the last blank line before this place; the place itself where there is none. */
function eventEndBefore(received: Uint8Array, place: number): number {
  if (place >= received.length) return received.length;
  const bytes = Buffer.from(received.buffer, received.byteOffset, place);
  const ends = blankLines.map((blank) => bytes.lastIndexOf(blank) + blank.length);
  const end = Math.max(...ends);
  return end > longestBlank ? end : place;
}

/** The figures of a stream that passed through, in whichever dialect it came. */
function usageInEvents(events: readonly ServerEvent[]): Reported | null {
  let usage: Usage | null = null;
  let model: string | null = null;
  for (const event of events) {
    const json = jsonOf(event);
    if (!json) continue;
    for (const holder of [json, objectIn(json, 'message'), objectIn(json, 'response')]) {
      const reported = readResponseUsage(holder);
      if (reported) usage = laterUsage(usage, reported);
      if (typeof holder.model === 'string') model ??= holder.model;
    }
  }
  return usage && { usage, model };
}

/** Null for a transcript as plain text, or an error page: there is no usage in it. */
const parsed = (text: string): JsonObject | null => asObject(jsonOrNothing(text));
const parsedBytes = (bytes: Uint8Array): JsonObject | null => asObject(jsonOrNothingIn(bytes, decoder));

const asObject = (value: unknown): JsonObject | null =>
  typeof value === 'object' && value !== null ? (value as JsonObject) : null;

/** Rerankers keep their figures one level deeper. */
const billedUnits = (json: JsonObject): unknown => (json.meta as { billed_units?: unknown } | undefined)?.billed_units;

function countedImages(kind: EndpointKind, json: JsonObject): Usage | null {
  const isImage = kind === 'imageGenerate' || kind === 'imageEdit' || kind === 'imageVariation';
  return isImage && Array.isArray(json.data) ? { ...noUsage, units: { generated_images: json.data.length } } : null;
}

const soundKinds: ReadonlySet<EndpointKind> = new Set<EndpointKind>(['createTranscription', 'createTranslation']);

const seconds = (count: number): Usage => ({ ...noUsage, units: { audio_seconds: count } });

/** A detailed transcript tells how long the sound was. */
function heardSeconds(kind: EndpointKind, { duration }: JsonObject): Usage | null {
  const heard = Number(duration);
  return soundKinds.has(kind) && heard > 0 && Number.isFinite(heard) ? seconds(heard) : null;
}

const textKinds: ReadonlySet<EndpointKind> = new Set<EndpointKind>([
  'chatComplete',
  'complete',
  'messages',
  'createModelResponse',
]);

/** A provider that tells nothing is counted by what was asked and what came. The log marks the figures as estimated. */
export function estimateUsage(context: RequestContext, record: AttemptRecord, model: string): Usage | null {
  const { kind } = context.matched.route;
  if (soundKinds.has(kind)) return saidSeconds(context);
  if (kind === 'createSpeech') return spokenText(context);
  if (!textKinds.has(kind) && kind !== 'proxy') return null;
  const asked = askedIn(context);
  if (!asked) return null;
  const produced = producedTokens(record, model);
  // What passes through may be anything: only what looks like text that was asked for and came is counted.
  if (kind === 'proxy' && (asked.text === undefined || produced === 0)) return null;
  return {
    ...noUsage,
    inputTokens: Math.ceil(tokensOf([asked.text, asked.beside], model)),
    outputTokens: Math.ceil(produced),
  };
}

/** What a model was given to read, in any of the dialects; null where the body is none of theirs. */
function askedIn({ body }: RequestContext): { text: unknown; beside: unknown } | null {
  const json = body.form === 'json' ? body.json : body.form === 'bytes' ? parsedBytes(body.bytes) : null;
  if (!json) return null;
  const { messages, input, prompt, contents, system, instructions, tools, systemInstruction } = json;
  return { text: messages ?? input ?? prompt ?? contents, beside: [system, systemInstruction, instructions, tools] };
}

/** Of an answer in any of the dialects, whole or in pieces. */
function producedTokens(record: AttemptRecord, model: string): number {
  if (record.producedText !== null) return tokensOf(record.producedText, model);
  const bytes = plainBytes(record);
  if (!bytes) return 0;
  if (!isStream(record)) {
    const { choices, content, output, candidates } = parsedBytes(bytes) ?? {};
    return tokensOf(choices ?? content ?? output ?? candidates, model);
  }
  const text = firstEvents(bytes).map(producedBy).join('');
  // The copy of a long stream ends before the stream did, and not all of it is read.
  const known = Math.max(1, record.producedCharacters / Math.max(1, text.length));
  const share = record.producedCharacters > 0 ? known : Math.max(1, bytes.length / readAtBeginning);
  return tokensOf(text, model) * share;
}

/** Text, thoughts and arguments that an event brings. */
function producedBy(event: ServerEvent): string {
  const json = jsonOf(event);
  if (!json) return '';
  if (typeof json.delta === 'string') return json.delta;
  const { text, thinking, partial_json: input } = objectIn(json, 'delta');
  const choices = objectsOf(json.choices).map((choice) => {
    const { content, reasoning_content, reasoning, tool_calls } = objectIn(choice, 'delta');
    const calls = objectsOf(tool_calls).map((call) => {
      const { name, arguments: given } = objectIn(call, 'function');
      return [name, given];
    });
    return [content ?? choice.text, reasoning_content ?? reasoning, calls];
  });
  const parts = objectsOf(json.candidates).map((candidate) => objectIn(candidate, 'content').parts);
  return textsIn([text, thinking, input, choices, parts]);
}

function textsIn(value: unknown): string {
  if (typeof value === 'string') return value;
  if (typeof value !== 'object' || value === null) return '';
  return Object.values(value).map(textsIn).join('');
}

/** Speech is charged by what is to be spoken. */
function spokenText({ body }: RequestContext): Usage | null {
  const { input } = body.form === 'json' ? body.json : {};
  return typeof input === 'string' && input !== '' ? { ...noUsage, units: { characters: [...input].length } } : null;
}

/** SDKs that know how long a file of sound is say so; most transcripts do not. */
function saidSeconds({ own: { fields } }: RequestContext): Usage | null {
  const said = Number(fields['audio-file-duration']);
  return said > 0 && said < Number.POSITIVE_INFINITY ? seconds(said) : null;
}
