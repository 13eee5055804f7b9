import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'bun:test';
import { type Plane, savedProvider, startPlane } from '../../../test/gateway-deps.ts';
import { completion, wholeStream } from '../../../test/providers/openai.ts';
import { json, type SimulatedProvider, startProvider, stream } from '../../../test/providers/simulated.ts';
import { EncodedBody } from '../../providers/encoded-body.ts';
import { ProviderFault, RequestFault } from '../../providers/faults.ts';
import { objectOf, parsed } from '../../providers/json.ts';
import { openAiFamily } from '../../providers/openai/family.ts';
import type { CallFacts, JsonObject, Provider, RawAnswer, Step, StepAnswers, Steps } from '../../providers/provider.ts';
import { StreamedCall } from '../../providers/streamed-call.ts';

const jsonOf = (answer: RawAnswer | undefined) => objectOf(parsed(new TextDecoder().decode(answer?.bytes)));

/** Starts a job, asks until it is done, and reads what it has made. */
function* drawing({ body }: CallFacts): Generator<Step, Record<string, unknown>, StepAnswers> {
  if (body.prompt === '') throw new RequestFault('prompt', 'prompt must not be empty');
  let [job] = yield { calls: [{ method: 'POST', path: '/jobs', body: { prompt: body.prompt } }] };
  while (jsonOf(job).status === 'running') {
    yield { waitMs: 500 };
    [job] = yield { calls: [{ method: 'GET', path: `/jobs/${jsonOf(job).id}`, accepts: [404] }] };
    if (job?.status === 404) throw new ProviderFault(502, 'the job is gone');
  }
  return { created: 1, data: [{ url: jsonOf(job).url }] };
}

function* embedding({ body }: CallFacts): Generator<Step, Record<string, unknown>, StepAnswers> {
  const inputs = Array.isArray(body.input) ? body.input : [body.input];
  const answers = yield {
    calls: inputs.map((text) => ({ method: 'POST', path: '/embed', body: { text } })),
    atOnce: 2,
  };
  return { object: 'list', data: answers.map((answer, index) => ({ index, embedding: [jsonOf(answer).vector] })) };
}

/** Starts an answer and says where its stream is; or tells it whole, as a stream would have. */
function* talking({ stream }: CallFacts, asked: JsonObject | EncodedBody): ReturnType<Steps> {
  const [begun] = yield { calls: [{ method: 'POST', path: '/talks', body: asked }] };
  const { url, said } = jsonOf(begun);
  if (!stream) return { ...completion(String(said)) };
  if (typeof url === 'string') return new StreamedCall({ method: 'GET', path: url, bare: true });
  return new EncodedBody('text/event-stream', Buffer.from(wholeStream([String(said)]).join('')));
}

const madeUp = (endpoints: { imageGenerate?: Steps; embed?: Steps }): Provider => ({
  id: 'made-up',
  name: 'Made up',
  address: null,
  needsCredential: true,
  headers: ({ credential }) => ({ authorization: `Key ${credential}` }),
  endpoints: {
    ...Object.fromEntries(Object.entries(endpoints).map(([kind, steps]) => [kind, { steps }])),
    chatComplete: { chat: openAiFamily, steps: talking },
  },
});

let plane: Plane;
let provider: SimulatedProvider;

beforeAll(async () => {
  provider = await startProvider(json(200, {}));
  plane = startPlane();
  plane.deps.providers = new Map([
    ...plane.deps.providers,
    ['made-up', madeUp({ imageGenerate: drawing, embed: embedding })],
  ]);
  plane.providers.set('m', savedProvider('m', { provider: 'made-up', customHost: provider.url }));
});
afterAll(async () => {
  await plane.stop();
  await provider.stop();
});
beforeEach(() => {
  provider.calls.length = 0;
  plane.waits.length = 0;
});
afterEach(() => {
  expect(plane.faults).toEqual([]);
});

const talk = (path: string, more: object) =>
  plane.call(
    path,
    { model: 'm', max_tokens: 9, messages: [{ role: 'user', content: 'Hi' }], ...more },
    { 'x-gw-provider': '@m' },
  );

describe('chat in steps', () => {
  const asked = { model: 'm', messages: [{ role: 'user', content: 'Hi' }], max_completion_tokens: 9 };

  test('is asked and answered in the words of its family, for every dialect', async () => {
    provider.script(json(200, { said: 'Hello' }));
    const chat = await talk('/v1/chat/completions', {});
    expect(await chat.json()).toMatchObject({ choices: [{ message: { content: 'Hello' } }], provider: 'made-up' });
    const message = await talk('/v1/messages', {});
    expect(await message.json()).toMatchObject({ type: 'message', content: [{ type: 'text', text: 'Hello' }] });
    expect(provider.calls.map((call) => call.json)).toEqual([asked, asked]);
  });

  test.each(['/v1/chat/completions', '/v1/messages'])('streams the answer of its last call on %s', async (path) => {
    const url = `${provider.url}/streams/1`;
    provider.script(json(200, { url }), stream(wholeStream(['Hello', ' there'])));
    const response = await talk(path, { stream: true });
    expect(response.headers.get('content-type')).toStartWith('text/event-stream');
    expect(await response.text()).toContain(' there');
    expect(provider.calls.map(({ method }) => method)).toEqual(['POST', 'GET']);
    expect(provider.calls[1]?.headers.authorization).toBeUndefined();
  });

  test('streams what was told as events', async () => {
    provider.script(json(200, { said: 'Hello' }));
    const response = await talk('/v1/chat/completions', { stream: true });
    expect(await response.text()).toEndWith('data: [DONE]\n\n');
  });

  test('is refused with the words of its last call', async () => {
    provider.script(json(200, { url: `${provider.url}/streams/1` }), json(410, { detail: 'the stream is gone' }));
    const response = await talk('/v1/chat/completions', { stream: true });
    expect([response.status, await response.json()]).toMatchObject([
      410,
      { error: { message: 'made-up error: the stream is gone' } },
    ]);
  });

  test('ends in an error where the stream of its last call breaks off', async () => {
    const parts = wholeStream(['Hello', ' there']).slice(0, 3);
    provider.script(json(200, { url: `${provider.url}/streams/1` }), stream(parts));
    const response = await talk('/v1/chat/completions', { stream: true });
    expect(await response.text()).toContain('closed the stream before it was complete');
  });
});

const draw = (prompt: string, headers: Record<string, string> = {}) =>
  plane.call('/v1/images/generations', { model: 'm', prompt }, { 'x-gw-provider': '@m', ...headers });

describe('an operation of several calls', () => {
  test('asks, waits and asks again until the provider is done', async () => {
    const running = { id: 'j1', status: 'running' };
    provider.script(json(200, running), json(200, running), json(200, { ...running, status: 'done', url: 'x.png' }));
    const response = await draw('a cat');
    expect([response.status, await response.json()]).toEqual([200, { created: 1, data: [{ url: 'x.png' }] }]);
    expect(response.headers.get('content-type')).toBe('application/json');
    expect(provider.calls.map(({ method, path }) => `${method} ${path}`)).toEqual([
      'POST /v1/jobs',
      'GET /v1/jobs/j1',
      'GET /v1/jobs/j1',
    ]);
    expect(provider.calls[0]?.json).toEqual({ prompt: 'a cat' });
    expect(provider.calls.every(({ headers }) => headers.authorization === 'Key sk-m-secret')).toBe(true);
    expect(plane.waits).toEqual([500, 500]);
  });

  test('ends with the answer that it did not expect, in the words of the provider', async () => {
    provider.script(json(422, { detail: [{ loc: ['prompt'], msg: 'too rude', type: 'x' }] }));
    const response = await draw('a cat');
    expect(response.status).toBe(422);
    expect(await response.json()).toMatchObject({
      error: { message: 'made-up error: prompt: too rude' },
      provider: 'made-up',
    });
  });

  test('may read a status of its own', async () => {
    provider.script(json(200, { id: 'j1', status: 'running' }), json(404, {}));
    const response = await draw('a cat');
    expect([response.status, await response.text()]).toEqual([502, expect.stringContaining('the job is gone')]);
  });

  test('refuses what it cannot do before anything is asked', async () => {
    const response = await draw('');
    expect([response.status, await response.json()]).toMatchObject([400, { error: { field: 'prompt' } }]);
    expect(provider.calls).toHaveLength(0);
  });

  test('is tried again as a whole when the config says so', async () => {
    const config = plane.saveConfig({ provider: '@m', retry: { attempts: 1, on_status_codes: [503] } });
    provider.script(json(503, { error: 'busy' }), json(200, { status: 'done', url: 'y.png' }));
    const response = await draw('a cat', { 'x-gw-config': config });
    expect([response.status, response.headers.get('x-gw-retry-attempt-count')]).toEqual([200, '1']);
  });

  test('makes its calls a few at a time and keeps their order', async () => {
    let running = 0;
    let most = 0;
    provider.script(async (call, response) => {
      most = Math.max(most, ++running);
      await new Promise((resolve) => setImmediate(resolve));
      running--;
      response.writeHead(200, { 'content-type': 'application/json' });
      response.end(JSON.stringify({ vector: Number(call.json.text) }));
    });
    const input = Array.from({ length: 9 }, (_, index) => String(index));
    const response = await plane.call('/v1/embeddings', { model: 'm', input }, { 'x-gw-provider': '@m' });
    const { data } = (await response.json()) as { data: { embedding: number[] }[] };
    expect(data.map(({ embedding }) => embedding[0])).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8]);
    expect(most).toBeLessThanOrEqual(2);
  });
});
