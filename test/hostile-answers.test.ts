/** Answers that are wrong in every way, from every provider: the client gets an answer, a typed error or an error event; never a fault of ours, and never the mark of an end that did not come. */
import { afterAll, beforeAll, expect, test } from 'bun:test';
import fc from 'fast-check';
import { EventSplitter, readEvents } from '../src/gateway/streaming/sse.ts';
import { objectOf, parsed } from '../src/providers/json.ts';
import type { Provider, ServerEvent } from '../src/providers/provider.ts';
import { planeOfAll, remoteProviders } from './any-provider.ts';
import type { Plane } from './gateway-deps.ts';
import { type HostileRoute, hostileRoutes } from './hostile-routes.ts';
import { dialectStreams, type Said, type StreamDialect } from './providers/dialect-streams.ts';
import { everything, type PlausibleServer, startPlausible } from './providers/plausible.ts';
import { inPieces } from './providers/scripted.ts';
import { asText, spoiled } from './spoiled.ts';

const seed = 20_261_116;
const answersEach = 4;
const streamsEach = 6;

const server: PlausibleServer = startPlausible();
let plane: Plane;

beforeAll(() => {
  plane = planeOfAll(server.url);
});
afterAll(async () => {
  await plane.stop();
  await server.stop();
});

/** The dialect that a provider streams; any other speaks OpenAI's. */
const dialects: Readonly<Record<string, StreamDialect>> = {
  anthropic: 'anthropic',
  'claude-platform-aws': 'anthropic',
  bedrock: 'bedrock',
  cohere: 'cohere',
  google: 'gemini',
  'vertex-ai': 'gemini',
  sagemaker: 'payload',
};

const models: Readonly<Record<string, string>> = {
  'vertex-ai': 'gemini-2.5-pro',
  google: 'gemini-2.5-pro',
  bedrock: 'anthropic.claude-sonnet-4-5-20250929-v1:0',
};
/** Where what a model is for tells the dialect. */
const modelsByKind: Readonly<Record<string, Partial<Record<HostileRoute['kind'], string>>>> = {
  bedrock: {
    embed: 'amazon.titan-embed-text-v2:0',
    imageGenerate: 'amazon.nova-canvas-v1:0',
    rerank: 'cohere.rerank-v3-5:0',
  },
  google: { imageGenerate: 'imagen-4.0-generate-001', createSpeech: 'gemini-2.5-flash-preview-tts' },
  'vertex-ai': { embed: 'text-embedding-005', imageGenerate: 'imagen-4.0-generate-001' },
};
const modelOf = ({ id }: Provider, kind: HostileRoute['kind']): string =>
  modelsByKind[id]?.[kind] ?? models[id] ?? 'model-1';

/** Bodies that every provider of the route takes. */
const question = { messages: [{ role: 'user', content: 'Hello?' }], max_tokens: 50 };
const plainBodies: Partial<Record<HostileRoute['kind'], object>> = {
  chatComplete: question,
  messages: question,
  messagesCountTokens: question,
  createModelResponse: { input: 'Hello?' },
  complete: { prompt: 'Hello?', max_tokens: 5 },
  embed: { input: ['one', 'two'] },
  rerank: { query: 'q', documents: ['a', 'b'] },
  imageGenerate: { prompt: 'A cat', size: '1024x1024' },
  createSpeech: { input: 'Hello', voice: 'alloy' },
  moderate: { input: 'a' },
  ocr: { document: { type: 'document_url', document_url: 'data:application/pdf;base64,JVBERi0=' } },
  createBatch: { requests: [{ custom_id: 'a', body: { ...question, model: 'm' } }] },
  createFinetune: { training_file: 'file-1' },
};
const routes = hostileRoutes.filter(
  ({ kind, form }, index) =>
    !form && plainBodies[kind] && hostileRoutes.findIndex((one) => one.kind === kind) === index,
);

const ask = async (provider: Provider, { path, kind }: Pick<HostileRoute, 'path' | 'kind'>, more: object = {}) => {
  server.next(null);
  const body = { model: modelOf(provider, kind), ...plainBodies[kind], ...more };
  const headers = { 'x-gw-provider': `@${provider.id}`, 'x-gw-strict-open-ai-compliance': String(seed % 2 === 0) };
  const response = await plane.call(path, body, headers);
  const bytes = Buffer.from(await response.arrayBuffer());
  await plane.settled();
  return { response, bytes, text: bytes.toString() };
};

const statuses = [200, 200, 200, 200, 201, 204, 206, 301, 304, 400, 404, 418, 429, 500, 503, 529, 599];
const contentTypes = [
  'application/json',
  'application/json; charset=utf-8',
  'text/html',
  'text/plain',
  'text/event-stream',
  'application/x-ndjson',
  'application/vnd.amazon.eventstream',
  'application/octet-stream',
  'nonsense',
  '',
];

const wholeBodies = fc.oneof(
  { weight: 6, arbitrary: spoiled(everything('http://127.0.0.1:9')) },
  { weight: 2, arbitrary: fc.json() },
  { weight: 1, arbitrary: spoiled({ error: { message: 'No', type: 't', code: 'c', param: 'p', status: 'S' } }) },
  {
    weight: 1,
    arbitrary: spoiled({ message: 'No', detail: [{ loc: ['body', 0], msg: 'bad' }], errors: [{ message: 'e' }] }),
  },
  {
    weight: 2,
    arbitrary: fc.constantFrom(
      '',
      'null',
      '[]',
      '[null]',
      '{}',
      '0',
      '"text"',
      '{"choices":',
      '\ufeff{}',
      '<!doctype html><title>Bad gateway</title>',
      asText({ id: 'x', choices: [{ index: 1e21, message: null }], usage: { prompt_tokens: -5, total_tokens: 1e308 } }),
      '['.repeat(50_000) + ']'.repeat(50_000),
      `{"content":[{"type":"tool_use","input":${'{"a":'.repeat(50_000)}1${'}'.repeat(50_000)}}]}`,
    ),
  },
);

const wholeAnswers = fc.record({
  status: fc.constantFrom(...statuses),
  contentType: fc.constantFrom(...contentTypes.flatMap((type, index) => (index === 0 ? Array(10).fill(type) : [type]))),
  body: wholeBodies,
});

const empty = new Set([204, 304]);

/** The list that an answer of the route cannot be without. */
const shapes: Partial<Record<HostileRoute['kind'], string>> = {
  chatComplete: 'choices',
  complete: 'choices',
  messages: 'content',
  createModelResponse: 'output',
  embed: 'data',
  rerank: 'results',
  imageGenerate: 'data',
};

for (const provider of remoteProviders) {
  test(`whatever ${provider.id} answers`, async () => {
    for (const [index, route] of routes.entries()) {
      await fc.assert(
        fc.asyncProperty(wholeAnswers, async ({ status, contentType, body }) => {
          server.answer = () =>
            new Response(empty.has(status) ? null : body, { status, headers: { 'content-type': contentType } });
          const { response, text } = await ask(provider, route);
          const where = { provider: provider.id, path: route.path, said: status, status: response.status };
          const faults = plane.faults.splice(0).map(told);
          expect({ ...where, faults, answer: text.slice(0, 200) }).toEqual({
            ...where,
            faults: [],
            answer: text.slice(0, 200),
          });
          // What a provider of the route's own dialect says goes to the client as it is.
          const shape = empty.has(status) || isSame(text, body) ? undefined : shapes[route.kind];
          if (response.ok && shape) {
            const list = Array.isArray(objectOf(parsed(text))[shape]);
            expect({ ...where, text: text.slice(0, 300), list }).toEqual({
              ...where,
              text: text.slice(0, 300),
              list: true,
            });
          }
          if (response.status === 502 || (response.status >= 400 && status < 300)) {
            expect({ ...where, message: JSON.parse(text).error.message }).toEqual({
              ...where,
              message: expect.any(String),
            });
          }
        }),
        { seed: seed + index, numRuns: answersEach },
      );
    }
  });
}

const isSame = (text: string, body: string): boolean => text === body || Bun.deepEquals(parsed(text), parsed(body));

const told = (fault: unknown): string =>
  fault instanceof Error
    ? `${fault} ${fault.stack?.split('\n').find((line) => line.includes('/src/'))}`
    : String(fault);

/** What is done to a stream before it is sent. */
interface Broken {
  bytes: Uint8Array;
  contentType: string;
  /** The model never said that it was done. */
  unfinished: boolean;
  ending: 'end' | 'break';
  sizes: number[];
}

const strangeEvents: readonly Said[] = [
  { event: null, json: {} },
  { event: null, json: null },
  { event: null, json: [] },
  { event: 'unheard-of', json: { type: 'unheard-of', delta: 'x' } },
  { event: 'ping', json: { type: 'ping' } },
  { event: null, json: { choices: [{ index: 7, delta: null }] } },
  { event: null, json: { candidates: [null, { content: { parts: [null, { functionCall: 1 }] } }] } },
  { event: 'contentBlockDelta', json: { contentBlockIndex: 99, delta: { toolUse: { input: '{' } } } },
  { event: 'content_block_delta', json: { type: 'content_block_delta', index: 9, delta: { type: 'text_delta' } } },
  { event: 'tool-call-delta', json: { type: 'tool-call-delta', index: 4, delta: {} } },
];

function brokenStreams(dialect: StreamDialect): fc.Arbitrary<Broken> {
  const { said, unfinished, framed, end, contentType } = dialectStreams[dialect];
  const beforeEnd = said.slice(0, unfinished);
  const joined = (events: readonly Said[], closing = ''): Buffer =>
    Buffer.concat([...events.map(framed), Buffer.from(closing)]);
  const head = joined(beforeEnd);
  const common = { contentType, sizes: fc.array(fc.integer({ min: 1, max: 200 }), { minLength: 1, maxLength: 4 }) };
  const ending = fc.constantFrom('end' as const, 'break' as const);
  /** Cut before the model was done. */
  const cut = fc
    .tuple(fc.integer({ min: 0, max: head.length }), ending, common.sizes)
    .map(([at, how, sizes]) => ({ bytes: head.subarray(0, at), contentType, unfinished: true, ending: how, sizes }));
  /** Events are left out, repeated, spoiled or strange, and in any order. */
  const shuffled = fc
    .tuple(
      fc.array(
        fc.oneof(
          { weight: 4, arbitrary: fc.constantFrom(...said) },
          { weight: 1, arbitrary: fc.constantFrom(...strangeEvents) },
          {
            weight: 3,
            arbitrary: fc
              .constantFrom(...said)
              .chain(({ event, json }) =>
                spoiled(json).map((text) => ({ event, json: JSON.parse(text.replaceAll('1e999', '1e308')) })),
              ),
          },
        ),
        { maxLength: 14 },
      ),
      fc.boolean(),
      ending,
      common.sizes,
    )
    .map(([events, closed, how, sizes]) => ({
      bytes: joined(events, closed ? end : ''),
      contentType,
      unfinished: false,
      ending: how,
      sizes,
    }));
  /** One byte is another: lengths and checksums of frames, braces, names. */
  const flipped = fc
    .tuple(fc.integer({ min: 0, max: head.length - 1 }), fc.integer({ min: 1, max: 255 }), common.sizes)
    .map(([at, by, sizes]) => {
      const bytes = Buffer.from(head);
      bytes[at] = (bytes[at] ?? 0) ^ by;
      return { bytes, contentType, unfinished: true, ending: 'end' as const, sizes };
    });
  const noise = fc
    .tuple(fc.uint8Array({ maxLength: 300 }), common.sizes)
    .map(([bytes, sizes]) => ({ bytes, contentType, unfinished: true, ending: 'end' as const, sizes }));
  return fc.oneof(
    { weight: 4, arbitrary: cut },
    { weight: 6, arbitrary: shuffled },
    { weight: 2, arbitrary: flipped },
    { weight: 1, arbitrary: noise },
  );
}

function sent({ bytes, contentType, ending, sizes }: Broken): Response {
  const pieces = inPieces(bytes, sizes);
  const body = new ReadableStream<Uint8Array>({
    pull(controller) {
      const piece = pieces.shift();
      if (piece) controller.enqueue(piece);
      else if (ending === 'end') controller.close();
      else controller.error(new Error('broken'));
    },
  });
  return new Response(body, { headers: { 'content-type': contentType } });
}

interface Front {
  path: string;
  kind: HostileRoute['kind'];
  isEnd(event: ServerEvent): boolean;
  isError(event: ServerEvent): boolean;
}

const jsonOf = ({ data }: ServerEvent): Record<string, unknown> => JSON.parse(data);

const fronts: readonly Front[] = [
  {
    path: '/v1/chat/completions',
    kind: 'chatComplete',
    isEnd: ({ data }) => data === '[DONE]',
    isError: (event) => event.data !== '[DONE]' && jsonOf(event).error !== undefined,
  },
  {
    path: '/v1/messages',
    kind: 'messages',
    isEnd: (event) => jsonOf(event).type === 'message_stop',
    isError: (event) => jsonOf(event).type === 'error',
  },
  {
    path: '/v1/responses',
    kind: 'createModelResponse',
    isEnd: (event) => ['response.completed', 'response.incomplete'].includes(String(jsonOf(event).type)),
    isError: (event) => ['response.failed', 'error'].includes(String(jsonOf(event).type)),
  },
];

function eventsIn(bytes: Uint8Array): { events: ServerEvent[]; rest: Uint8Array | null } {
  const splitter = new EventSplitter();
  const whole = splitter.push(bytes);
  return { events: whole ? readEvents(whole) : [], rest: splitter.rest() };
}

for (const provider of remoteProviders) {
  test(`however ${provider.id} streams`, async () => {
    const streams = brokenStreams(dialects[provider.id] ?? 'openai');
    for (const [index, front] of fronts.entries()) {
      await fc.assert(
        fc.asyncProperty(streams, async (broken) => {
          server.answer = () => sent(broken);
          const { response, bytes, text } = await ask(provider, front, { stream: true });
          const where = { provider: provider.id, path: front.path, status: response.status, text: text.slice(-400) };
          expect({ ...where, faults: plane.faults.splice(0).map(told) }).toEqual({ ...where, faults: [] });
          if (!response.headers.get('content-type')?.startsWith('text/event-stream')) {
            if (broken.unfinished)
              expect({ ...where, refused: response.status >= 400 }).toEqual({ ...where, refused: true });
            return;
          }
          const { events, rest } = eventsIn(bytes);
          expect({ ...where, rest }).toEqual({ ...where, rest: null });
          const ended = events.some(front.isEnd);
          const failed = events.some(front.isError);
          expect({ ...where, ended, failed, said: ended !== failed }).toEqual({ ...where, ended, failed, said: true });
          if (broken.unfinished) expect({ ...where, ended }).toEqual({ ...where, ended: false });
        }),
        { seed: seed + index, numRuns: streamsEach },
      );
    }
  });
}
