import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { responseDone, type SimulatedRealtime, startRealtime } from '../../../test/providers/realtime.ts';
import { RealtimeClient } from '../../../test/realtime-client.ts';
import { type RealtimeWorld, startRealtimeWorld, workspaceKey } from '../../../test/realtime-world.ts';
import type { LogRecord } from '../../logs/record.ts';

let a: SimulatedRealtime;
let world: RealtimeWorld;

beforeAll(() => {
  a = startRealtime();
  world = startRealtimeWorld({ a: { url: a.url } });
});

afterAll(async () => {
  await world.stop();
  await a.stop();
  expect(world.faults).toEqual([]);
});

const recordsOf = (traceId: string) => world.records.filter(({ metrics }) => metrics.trace_id === traceId);
const bodyOf = (message: { body: Uint8Array | null } | undefined) =>
  JSON.parse(Buffer.from(message?.body ?? []).toString());

async function open(traceId: string, headers: Record<string, string> = {}) {
  const opening = a.session();
  const client = await RealtimeClient.open(`${world.socketUrl}?model=@a/gpt-realtime`, {
    'x-gw-api-key': workspaceKey,
    'x-gw-trace-id': traceId,
    'x-gw-metadata': '{"team":"voice"}',
    ...headers,
  });
  return { client, session: await opening };
}

async function close(client: RealtimeClient) {
  client.socket.close(1000, 'done');
  await client.closed;
  await world.idle();
}

describe('a session with a response', () => {
  let response: LogRecord | undefined;
  let session: LogRecord | undefined;

  beforeAll(async () => {
    const { client } = await open('talk', { 'x-gw-span-id': 'root' });
    client.say({ type: 'session.update', session: { instructions: 'Be brief.' } });
    client.say({ type: 'conversation.item.create', item: { type: 'message', role: 'user' } });
    client.say({ type: 'nonsense' });
    client.say({ type: 'response.create' });
    await client.event('response.done');
    await close(client);
    [response, session] = recordsOf('talk');
  });

  test('leaves one record for the response and one for the session, in one trace', () => {
    expect(recordsOf('talk')).toHaveLength(2);
    expect(response?.metrics).toMatchObject({ span_name: 'response.done', parent_span_id: 'root' });
    expect(session?.metrics).toMatchObject({ span_name: 'GET /v1/realtime', span_id: 'root', parent_span_id: '' });
    expect(response?.metrics.span_id).not.toBe('root');
  });

  test("charges the response with the provider's usage, speech and cache apart", () => {
    expect(response?.metrics).toMatchObject({
      response_status_code: 200,
      is_success: true,
      endpoint_type: 'realtime',
      ai_org: 'openai',
      ai_model: 'gpt-realtime',
      virtual_key: 'a',
      req_units: 132,
      res_units: 121,
      total_units: 253,
      cached_units: 64,
      usage_estimated: false,
      metadata: { team: 'voice' },
    });
    // Text 55 at $4, cached 64 at $0.40, speech 13 at $32; answer 30 at $16, speech 91 at $64, each for a million.
    const dollars = (55 * 4 + 64 * 0.4 + 13 * 32 + 30 * 16 + 91 * 64) / 1_000_000;
    expect(response?.metrics.cost).toBeCloseTo(dollars * 100, 10);
  });

  test('charges the session itself with nothing', () => {
    expect(session?.metrics).toMatchObject({
      response_status_code: 101,
      is_success: true,
      error_message: null,
      cost: 0,
      total_units: 0,
      request_url: `${a.url}/realtime?model=gpt-realtime`,
    });
  });

  test('keeps the conversation before the response, and the response', () => {
    expect(bodyOf(response?.bodies.request).items).toMatchObject([{ id: 'item_1', role: 'user' }]);
    expect(bodyOf(response?.bodies.response)).toEqual(responseDone());
  });

  test("keeps the session's own events and how it ended", () => {
    const kept = bodyOf(session?.bodies.response);
    expect(kept.events.map(({ type }: { type: string }) => type)).toEqual([
      'session.created',
      'session.updated',
      'error',
    ]);
    expect(kept).toMatchObject({ closed: { by: 'client', code: 1000, reason: 'done' }, responses: 1 });
  });

  test('keeps no key', () => {
    const text = JSON.stringify(world.records, (_, value) =>
      value instanceof Uint8Array ? Buffer.from(value).toString() : value,
    );
    expect(text).not.toContain(workspaceKey);
    expect(text).not.toContain('sk-a-secret');
  });
});

test('a key in a subprotocol is masked in the log', async () => {
  const protocols = ['realtime', `openai-insecure-api-key.${workspaceKey}`];
  const client = await RealtimeClient.open(`${world.socketUrl}?model=@a/gpt-realtime`, {}, protocols);
  await a.session();
  await close(client);
  expect(world.records.at(-1)?.bodies.request?.headers['sec-websocket-protocol']).toStartWith('masked:');
});

test('a response that the provider failed to give is logged as failed and costs nothing', async () => {
  const { client, session } = await open('failed');
  session.socket.send(JSON.stringify(responseDone('failed')));
  await client.event('response.done');
  await close(client);
  expect(recordsOf('failed')[0]?.metrics).toMatchObject({ response_status_code: 500, is_success: false, cost: 0 });
});

test('a response that was cancelled is charged for what was produced', async () => {
  const { client, session } = await open('cancelled');
  session.socket.send(JSON.stringify(responseDone('cancelled')));
  await client.event('response.done');
  await close(client);
  expect(recordsOf('cancelled')[0]?.metrics).toMatchObject({ response_status_code: 200, total_units: 253 });
});

test('without debug logging the figures are kept and the words are not', async () => {
  const { client } = await open('quiet', { 'x-gw-debug': 'false' });
  client.say({ type: 'response.create' });
  await client.event('response.done');
  await close(client);
  expect(recordsOf('quiet').map(({ bodies }) => bodies)).toEqual([{}, {}]);
  expect(recordsOf('quiet')[0]?.metrics.total_units).toBe(253);
});

test('what is kept of a long session stays small', async () => {
  const { client, session } = await open('long');
  const padding = 'x'.repeat(50_000);
  for (let index = 0; index < 20; index++) {
    session.socket.send(JSON.stringify({ type: 'error', error: { message: padding } }));
    const item = { id: `item_${index}`, type: 'message', content: [{ type: 'input_text', text: padding }] };
    session.socket.send(JSON.stringify({ type: 'conversation.item.created', item }));
  }
  session.socket.send(JSON.stringify(responseDone()));
  await client.event('response.done');
  await close(client);
  const [response, whole] = recordsOf('long');
  const conversation = bodyOf(response?.bodies.request);
  expect(conversation.items_left_out).toBe(15);
  expect(conversation.items.map(({ id }: { id: string }) => id)).toEqual([
    'item_15',
    'item_16',
    'item_17',
    'item_18',
    'item_19',
  ]);
  expect(bodyOf(whole?.bodies.response).events_left_out).toBe(19);
});

test('frames that only look like events are relayed and leave nothing', async () => {
  const { client, session } = await open('lookalikes');
  await client.event('session.created');
  const frames = ['{"type":"response.done"', '["type", "error"]', 'null', '{"a":{"type":"response.done"}}'];
  for (const frame of frames) session.socket.send(frame);
  for (const frame of frames) expect(await client.next()).toBe(frame);
  await close(client);
  expect(recordsOf('lookalikes')).toHaveLength(1);
});
