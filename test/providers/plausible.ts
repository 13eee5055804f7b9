/** A provider that says yes in every dialect at once: what it answers holds the fields of all of them. */
import type { JsonObject } from '../../src/providers/provider.ts';

interface PlausibleCall {
  method: string;
  path: string;
  headers: Headers;
  body: string;
}

export interface PlausibleServer {
  url: string;
  /** Since `next` was called last. */
  calls: PlausibleCall[];
  /** The first call from now on is refused with this status, so that another target is tried; null: none is. */
  next(refused: number | null): void;
  /** Answers in place of the plausible ones. */
  answer: ((call: PlausibleCall) => Response) | null;
  stop(): Promise<void>;
}

const words = { type: 'text', text: 'Hello' };
const usage = { prompt_tokens: 3, completion_tokens: 2, total_tokens: 5, input_tokens: 3, output_tokens: 2 };
const vector = [0.5, 0.25];
const sound = Buffer.from('RIFF').toString('base64');

/** Fields that dialects share by name have the form that most of them read. */
export const everything = (home: string): JsonObject => ({
  id: 'id-1',
  object: 'chat.completion',
  type: 'message',
  role: 'assistant',
  model: 'model-1',
  created: 1_700_000_000,
  choices: [{ index: 0, text: 'Hello', message: { role: 'assistant', content: 'Hello' }, finish_reason: 'stop' }],
  content: [words],
  stop_reason: 'end_turn',
  completion: 'Hello',
  message: { role: 'assistant', content: [words] },
  finish_reason: 'COMPLETE',
  output: { message: { role: 'assistant', content: [{ text: 'Hello' }] } },
  stopReason: 'end_turn',
  candidates: [{ content: { role: 'model', parts: [{ text: 'Hello' }] }, finishReason: 'STOP' }],
  usage,
  usageMetadata: { promptTokenCount: 3, candidatesTokenCount: 2, totalTokenCount: 5 },
  embeddings: { float: [vector, vector] },
  embedding: vector,
  data: [
    { index: 0, embedding: vector, url: `${home}/a.png`, b64_json: sound },
    { index: 1, embedding: vector },
  ],
  results: [{ index: 0, relevance_score: 0.5, relevanceScore: 0.5, categories: {} }],
  predictions: [{ bytesBase64Encoded: sound, mimeType: 'image/png', embeddings: { values: vector } }],
  images: [{ url: `${home}/a.png` }],
  artifacts: [{ base64: sound, finishReason: 'SUCCESS' }],
  audioContent: sound,
  audios: [sound],
  text: 'Hello',
  inputTokens: 5,
  totalTokens: 5,
  input_tokens: 5,
  status: 'succeeded',
  generation: 'Hello',
  outputs: [{ text: 'Hello', stop_reason: 'stop' }],
});

/** A provider that is asked again and again in one call never finishes. */
const mostCalls = 8;

export function startPlausible(): PlausibleServer {
  const server: PlausibleServer = {
    url: '',
    calls: [],
    next(refused) {
      server.calls = [];
      refusal = refused;
    },
    answer: null,
    stop: () => listener.stop(true),
  };
  let refusal: number | null = null;
  const listener = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    development: false,
    maxRequestBodySize: Number.MAX_SAFE_INTEGER,
    async fetch(request) {
      const { method, url, headers } = request;
      const call = { method, path: url.slice(url.indexOf('/', 8)), headers, body: await request.text() };
      server.calls.push(call);
      if (refusal !== null) {
        const status = refusal;
        refusal = null;
        return Response.json({ error: { message: 'Not me' } }, { status });
      }
      if (server.answer) return server.answer(call);
      if (server.calls.length > mostCalls) return Response.json({ error: { message: 'Enough' } }, { status: 422 });
      return Response.json(everything(server.url));
    },
  });
  server.url = `http://127.0.0.1:${listener.port}`;
  return server;
}
