/** Work that goes on at a provider by itself is ended there when the client that asked for it leaves, and only then. */
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'bun:test';
import { predictionEvents } from '../providers/replicate.ts';
import {
  type Behaviour,
  json,
  type ReceivedCall,
  type SimulatedProvider,
  startProvider,
} from '../providers/simulated.ts';
import { openCall } from '../raw-client.ts';
import { startWorld, type World } from '../world.ts';

let provider: SimulatedProvider;
let world: World;

beforeAll(async () => {
  provider = await startProvider(json(200, {}));
  world = await startWorld({ replicate: { provider: 'replicate', simulated: provider } });
});
afterAll(async () => {
  await world.stop();
  await provider.stop();
});
afterEach(() => {
  expect(world.gateway.faults).toEqual([]);
});

let cancelled: PromiseWithResolvers<ReceivedCall>;
let polled: PromiseWithResolvers<void>;
/** What comes of a prediction when it is asked for, and when it is looked at again. */
let created: Behaviour;
let found: Behaviour;

const [output, done] = [predictionEvents(['Hello']).slice(0, -1).join(''), predictionEvents(['Hello']).at(-1) ?? ''];
const urls = () => ({ stream: `${provider.url}/streams/p-1` });
const processing: Behaviour = (call, response) =>
  json(201, { id: 'p-1', status: 'processing', urls: call.json?.stream ? urls() : {} })(call, response);
const succeeded = json(200, { id: 'p-1', status: 'succeeded', output: 'Hello' });

let streaming: Behaviour;
const speaks =
  (ending: string | null): Behaviour =>
  (_, response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    response.write(output);
    if (ending !== null) response.end(ending);
  };

beforeEach(() => {
  provider.calls.length = 0;
  cancelled = Promise.withResolvers();
  polled = Promise.withResolvers();
  created = processing;
  found = processing;
  streaming = speaks(null);
  provider.script((call, response) => {
    if (call.path.endsWith('/cancel')) {
      cancelled.resolve(call);
      return json(200, { id: 'p-1', status: 'canceled' })(call, response);
    }
    if (call.path.includes('/streams/')) return streaming(call, response);
    if (call.method === 'POST') return created(call, response);
    polled.resolve();
    return found(call, response);
  });
});

const headers = () => ({
  'x-gw-api-key': world.gateway.workspaceKey,
  'x-gw-provider': '@replicate',
  'content-type': 'application/json',
});
const question = { model: 'owner/name', messages: [{ role: 'user', content: 'Hi' }] };

function asked(more: object = {}, path = '/v1/chat/completions', body: object = question) {
  const call = openCall(world.gateway.url + path, headers());
  const answered = new Promise<void>((resolve) => {
    call.on('response', (response) => response.once('data', () => resolve()));
  });
  call.end(JSON.stringify({ ...body, ...more }));
  return { call, answered };
}

const expectCancelled = async () => {
  const { method, path, headers: sent } = await cancelled.promise;
  expect({ method, path, key: sent.authorization }).toEqual({
    method: 'POST',
    path: '/v1/predictions/p-1/cancel',
    key: 'Bearer sk-replicate-secret',
  });
};

test('a prediction that is waited for', async () => {
  const { call } = asked();
  await polled.promise;
  call.destroy();
  await expectCancelled();
});

test('a picture that is waited for', async () => {
  const { call } = asked({}, '/v1/images/generations', { model: 'owner/name', prompt: 'A cat' });
  await polled.promise;
  call.destroy();
  await expectCancelled();
});

test('a prediction whose stream is read', async () => {
  const { call, answered } = asked({ stream: true });
  await answered;
  call.destroy();
  await expectCancelled();
});

test('a prediction that was not yet named, once it is', async () => {
  const reached = Promise.withResolvers<void>();
  const named = Promise.withResolvers<void>();
  created = async (received, response) => {
    reached.resolve();
    await named.promise;
    await processing(received, response);
  };
  const traceId = Bun.randomUUIDv7();
  const call = openCall(`${world.gateway.url}/v1/chat/completions`, { ...headers(), 'x-gw-trace-id': traceId });
  call.end(JSON.stringify(question));
  await reached.promise;
  call.destroy();
  const [record] = await world.records(traceId, 1);
  expect(record?.response_status_code).toBe(499);
  named.resolve();
  await expectCancelled();
});

test('a prediction that the provider never began is nothing to end', async () => {
  const reached = Promise.withResolvers<ReceivedCall>();
  const refused = Promise.withResolvers<void>();
  created = async (received, response) => {
    reached.resolve(received);
    await refused.promise;
    await json(429, { detail: 'slow down' })(received, response);
  };
  const { call } = asked();
  await reached.promise;
  call.destroy();
  refused.resolve();
  created = succeeded;
  await world.call('/v1/chat/completions', question, { 'x-gw-provider': '@replicate' });
  expect(provider.calls.map(({ path }) => path)).toEqual(
    Array.from({ length: 2 }, () => '/v1/models/owner/name/predictions'),
  );
});

test('nothing is ended that came to its own end', async () => {
  found = succeeded;
  streaming = speaks(done);
  for (const stream of [false, true]) {
    const answer = await world.call('/v1/chat/completions', { ...question, stream }, { 'x-gw-provider': '@replicate' });
    expect([answer.status, await answer.text()]).toEqual([200, expect.stringContaining('Hello')]);
  }
  created = succeeded;
  await world.call('/v1/chat/completions', question, { 'x-gw-provider': '@replicate' });
  expect(provider.calls.map(({ method, path }) => `${method} ${path}`)).toEqual([
    'POST /v1/models/owner/name/predictions',
    'GET /v1/predictions/p-1',
    'POST /v1/models/owner/name/predictions',
    'GET /v1/streams/p-1',
    'POST /v1/models/owner/name/predictions',
  ]);
});
