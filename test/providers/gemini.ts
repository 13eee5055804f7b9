/** Gemini as its API behaves: keys, addresses, refusals, answers whole and in records of a stream. */
import { cutterOf } from '../../src/gateway/streaming/framing.ts';
import type { ServerEvent } from '../../src/providers/provider.ts';
import type { Json } from '../harness.ts';
import { refusalOf } from './gemini-rules.ts';
import { inPieces } from './scripted.ts';
import { type Behaviour, json, type SimulatedProvider, startProvider, stream } from './simulated.ts';

export interface Candidate {
  parts?: readonly Json[];
  finishReason?: string | null;
  [field: string]: Json;
}

export interface Scripted {
  candidates?: readonly Candidate[];
  usage?: Json;
  promptFeedback?: Json;
}

export const plainUsage = {
  promptTokenCount: 20,
  candidatesTokenCount: 10,
  totalTokenCount: 30,
  promptTokensDetails: [{ modality: 'TEXT', tokenCount: 20 }],
};

const responseId = 'rDgB-1';

export const fault = (code: number, status: string, message: string): Behaviour =>
  json(code, { error: { code, message, status } });

/** The whole answer. */
export const answerOf = (modelVersion: string, { candidates = [], usage, promptFeedback }: Scripted): Json => ({
  ...(candidates.length > 0 && {
    candidates: candidates.map(({ parts, finishReason = 'STOP', ...more }, index) => ({
      ...(parts && { content: { role: 'model', parts } }),
      ...(finishReason !== null && { finishReason }),
      index,
      ...more,
    })),
  }),
  ...(promptFeedback && { promptFeedback }),
  usageMetadata: { ...plainUsage, ...usage },
  modelVersion,
  responseId,
});

export const record = (body: Json): string => `data: ${JSON.stringify(body)}\r\n\r\n`;

const piece = 5;

/** Text comes in pieces; everything else comes whole. */
const piecesOf = (part: Json): Json[] =>
  typeof part.text === 'string' && part.text.length > piece
    ? (part.text.match(new RegExp(`[\\s\\S]{1,${piece}}`, 'gu')) ?? []).map((text: string) => ({ ...part, text }))
    : [part];

/** The records of a stream: all that the whole answer holds, with usage on every one and the end of each candidate on its last. */
export function recordsOf(modelVersion: string, scripted: Scripted): string[] {
  const { candidates = [], ...rest } = answerOf(modelVersion, scripted);
  const head = { modelVersion, responseId };
  if (candidates.length === 0) return [record({ ...rest, ...head })];
  return candidates.flatMap(({ content, index, ...last }: Json) => {
    const pieces = (content?.parts ?? []).flatMap(piecesOf);
    const said = pieces.map((part: Json) => ({ content: { role: 'model', parts: [part] }, index }));
    const final = { ...(said.at(-1) ?? { index }), ...last };
    return [...said.slice(0, -1), final].map((candidate, position, all) =>
      record({
        candidates: [candidate],
        usageMetadata: position === all.length - 1 ? rest.usageMetadata : { promptTokenCount: 20, totalTokenCount: 20 },
        ...head,
      }),
    );
  });
}

/** The events of a stream that arrives in pieces of these sizes. */
export function eventsIn(bytes: Uint8Array, sizes: readonly number[]): ServerEvent[] {
  const cutter = cutterOf('sse');
  return [...inPieces(bytes, sizes).flatMap((part) => cutter.push(part)), ...cutter.rest()];
}

/** `/v1beta/models/gemini-2.5-flash:generateContent` */
export function calledMethod(path: string): { model: string; method: string } {
  const [, model = '', method = ''] = /models\/([^:/]+):(\w+)/.exec(decodeURIComponent(path)) ?? [];
  return { model, method };
}

const keyRefusal = (headers: Record<string, string>): Behaviour | null => {
  const key = headers['x-goog-api-key'];
  if (!key) {
    const words = "Method doesn't allow unregistered callers (callers without established identity).";
    return fault(403, 'PERMISSION_DENIED', words);
  }
  return key === 'wrong' ? fault(400, 'INVALID_ARGUMENT', 'API key not valid. Please pass a valid API key.') : null;
};

/** Generates content from the script, as whole as the address asks. */
export const generates =
  (scripted: Scripted): Behaviour =>
  (call, response) => {
    const { model, method } = calledMethod(call.path);
    const refusal = refusalOf(model, call.json);
    if (refusal) return fault(400, 'INVALID_ARGUMENT', refusal)(call, response);
    if (method === 'generateContent') return json(200, answerOf(model, scripted))(call, response);
    if (method !== 'streamGenerateContent') {
      return fault(404, 'NOT_FOUND', `models/${model} is not found for ${method}.`)(call, response);
    }
    return call.path.includes('alt=sse')
      ? stream(recordsOf(model, scripted))(call, response)
      : json(200, [answerOf(model, scripted)])(call, response);
  };

/** AI Studio: a key first. */
export const studio =
  (behaviour: Behaviour): Behaviour =>
  (call, response) =>
    (keyRefusal(call.headers) ?? behaviour)(call, response);

export const answers = (scripted: Scripted): Behaviour => studio(generates(scripted));
export const says = (...parts: readonly (string | Json)[]): Behaviour =>
  answers({ candidates: [{ parts: parts.map((part) => (typeof part === 'string' ? { text: part } : part)) }] });

/** The service has no version in its address. */
export async function startGemini(...behaviours: Behaviour[]): Promise<SimulatedProvider> {
  const provider = await startProvider(...behaviours);
  return { ...provider, url: new URL(provider.url).origin };
}
