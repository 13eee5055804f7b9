import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'bun:test';
import { type Plane, savedProvider, startPlane } from '../../test/gateway-parts.ts';
import { json, type SimulatedProvider, startProvider } from '../../test/providers/simulated.ts';
import { ProviderFault, RequestFault } from '../providers/faults.ts';
import { objectOf, parsed } from '../providers/json.ts';
import type { CallFacts, Provider, RawAnswer, Step, StepAnswers, Steps } from '../providers/provider.ts';

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

const madeUp = (endpoints: { imageGenerate?: Steps; embed?: Steps }): Provider => ({
  id: 'made-up',
  name: 'Made up',
  address: null,
  needsCredential: true,
  headers: ({ credential }) => ({ authorization: `Key ${credential}` }),
  endpoints: Object.fromEntries(Object.entries(endpoints).map(([kind, steps]) => [kind, { steps }])),
});

let plane: Plane;
let provider: SimulatedProvider;

beforeAll(async () => {
  provider = await startProvider(json(200, {}));
  plane = startPlane();
  plane.parts.providers = new Map([
    ...plane.parts.providers,
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
