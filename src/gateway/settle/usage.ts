/** The usage of an answer: as the provider reports it, or estimated where it reports none. */

import { brotliDecompressSync, gunzipSync, inflateSync, zstdDecompressSync } from 'node:zlib';
import { readJson } from '../../bounded-json.ts';
import type { EndpointKind } from '../../providers/endpoints.ts';
import type { JsonObject, ServerEvent, Usage } from '../../providers/provider.ts';
import { laterUsage, mayListTools, noUsage, readResponseUsage, readUsage } from '../../providers/usage.ts';
import type { AttemptRecord } from '../attempt/answer.ts';
import type { RequestContext } from '../context.ts';
import { jsonOf, objectIn } from '../dialects/dialect.ts';
import { readEvents } from '../streaming/sse.ts';
import { charactersIn } from './characters.ts';

const decoder = new TextDecoder();

/** Null when the provider reported nothing. */
export function usageOfAnswer(kind: EndpointKind, record: AttemptRecord, modelKnown: boolean): Reported | null {
  if (record.usage) return { usage: record.usage, model: record.model };
  if (record.firstTokenMs !== null || !record.received) return null;
  const bytes = plainBytes(record);
  if (!bytes) return null;
  if (isStream(record)) return usageInEvents(readEvents(bytes));
  const text = decoder.decode(bytes);
  const atTheEnd = modelKnown && !mayListTools(text) ? readUsage(ending(text)?.usage) : null;
  if (atTheEnd) return { usage: atTheEnd, model: null };
  const json = parsed(text);
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
function ending(text: string): JsonObject | null {
  const start = text.lastIndexOf('"usage":');
  // A quote inside of a text stands behind a backslash, so that this is a name; what is whole from here to the end has it at the top.
  return start === -1 || text[start - 1] === '\\' ? null : parsed(`{${text.slice(start)}`);
}

export const isStream = ({ firstTokenMs, responseHeaders }: AttemptRecord): boolean =>
  firstTokenMs !== null || (responseHeaders?.get('content-type')?.startsWith('text/event-stream') ?? false);

const largestDecoded = 16 * 1024 * 1024;

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

function parsed(text: string): JsonObject | null {
  try {
    const value: unknown = readJson(text);
    return typeof value === 'object' && value !== null ? (value as JsonObject) : null;
  } catch {
    // A transcript as plain text, or an error page: there is no usage in it.
    return null;
  }
}

/** Rerankers keep their figures one level deeper. */
const billedUnits = (json: JsonObject): unknown => (json.meta as { billed_units?: unknown } | undefined)?.billed_units;

function countedImages(kind: EndpointKind, json: JsonObject): Usage | null {
  const isImage = kind === 'imageGenerate' || kind === 'imageEdit' || kind === 'imageVariation';
  return isImage && Array.isArray(json.data) ? { ...noUsage, units: { generated_images: json.data.length } } : null;
}

const soundKinds: ReadonlySet<EndpointKind> = new Set<EndpointKind>(['createTranscription', 'createTranslation']);

const seconds = (count: number): Usage => ({ ...noUsage, units: { audio_seconds: count } });

/** A detailed transcript tells how long the sound was. */
const heardSeconds = (kind: EndpointKind, { duration }: JsonObject): Usage | null =>
  soundKinds.has(kind) && Number(duration) > 0 ? seconds(Number(duration)) : null;

const charactersPerToken = 4;

const textKinds: ReadonlySet<EndpointKind> = new Set<EndpointKind>([
  'chatComplete',
  'complete',
  'messages',
  'createModelResponse',
]);

/** A provider that tells nothing is counted by length: about four characters a token. The log marks the figures as estimated. */
export function estimateUsage(context: RequestContext, record: AttemptRecord): Usage | null {
  const { kind } = context.matched.route;
  if (soundKinds.has(kind)) return saidSeconds(context);
  if (!textKinds.has(kind) || context.body.form !== 'json') return null;
  const { messages, input, prompt, system, instructions, tools } = context.body.json;
  const asked = charactersIn([messages ?? input ?? prompt, system, instructions, tools]);
  const produced = record.firstTokenMs === null ? writtenIn(record) : record.producedCharacters;
  return {
    ...noUsage,
    inputTokens: Math.ceil(asked / charactersPerToken),
    outputTokens: Math.ceil(produced / charactersPerToken),
  };
}

/** Of an answer that came whole, in any of the dialects. */
function writtenIn(record: AttemptRecord): number {
  const bytes = plainBytes(record);
  const { choices, content, output } = (bytes && parsed(decoder.decode(bytes))) ?? {};
  return charactersIn(choices ?? content ?? output);
}

/** SDKs that know how long a file of sound is say so; most transcripts do not. */
function saidSeconds({ own: { fields } }: RequestContext): Usage | null {
  const said = Number(fields['audio-file-duration']);
  return said > 0 && said < Number.POSITIVE_INFINITY ? seconds(said) : null;
}
