import { afterAll, beforeAll, expect, test } from 'bun:test';
import { startGateway, type TestGateway } from '../../../test/harness.ts';
import { addKey, home } from '../../../test/people.ts';

let gateway: TestGateway;
let place: Awaited<ReturnType<typeof home>>;
let key: string;
beforeAll(async () => {
  gateway = await startGateway();
  place = await home(gateway);
  const scopes = ['logs.write', 'completions.write', 'logs.list', 'logs.view'] as const;
  key = (await addKey(gateway, { ...place, type: 'workspace-service', scopes: [...scopes] })).secret;
});
afterAll(() => gateway.stopWithoutFaults());

const log = (more: object = {}) => ({
  request: {
    url: 'https://api.openai.com/v1/chat/completions?api_key=canary-query',
    provider: 'openai',
    headers: { Authorization: 'Bearer canary-header', 'x-request': 'kept' },
    body: { model: 'gpt-4o', messages: [{ role: 'user', content: 'Hello' }] },
  },
  response: {
    body: { choices: [{ message: { content: 'Hi there' } }], usage: { prompt_tokens: 1000, completion_tokens: 500 } },
    response_time: 321,
  },
  metadata: { traceId: 'custom-1', spanName: 'step', user: 'anna', team: 'blue' },
  ...more,
});

test('a log of another client is read like any other, with its cost', async () => {
  const { status, body } = await gateway.post('/v1/logs', log(), { key, headers: { 'x-gw-virtual-key': '@main' } });
  expect([status, body.status, body.object, body.log_ids.length]).toEqual([200, 'success', 'log', 1]);
  const read = await gateway.get(`/v1/logs/${body.log_ids[0]}`, { key });
  expect(read.body.metrics).toMatchObject({
    source: 'custom',
    ai_org: 'openai',
    ai_model: 'gpt-4o',
    req_units: 1000,
    res_units: 500,
    total_units: 1500,
    response_status_code: 200,
    response_time: 321,
    trace_id: 'custom-1',
    span_name: 'step',
    virtual_key: 'main',
  });
  expect(read.body.metrics.cost).toBeGreaterThan(0);
  expect(read.body.metrics['metadata.key']).toEqual(['team', '_user']);
  expect(read.body.request.headers['x-request']).toBe('kept');
  expect(JSON.stringify(read.body)).not.toContain('canary');
});

test('a list is taken whole or not at all', async () => {
  const ids = await gateway.post('/v1/logs', [log(), log({ metadata: { trace_id: 'custom-2' } })], { key });
  expect(ids.body.log_ids).toHaveLength(2);
  const wrong = await gateway.post('/v1/logs', [log({ metadata: { trace_id: 'none' } }), { request: { url: 'x' } }], {
    key,
  });
  expect(wrong.status).toBe(400);
  expect(wrong.body.data.errors).toContainEqual({ location: 'body', path: '1.response', message: 'is required' });
  await gateway.app.services.logs.settled();
  expect((await gateway.get('/v1/logs?trace_id=custom-2', { key })).body.total).toBe(1);
  expect((await gateway.get('/v1/logs?trace_id=none', { key })).body.total).toBe(0);
  expect(
    (
      await gateway.post(
        '/v1/logs',
        Array.from({ length: 101 }, () => log()),
        { key },
      )
    ).status,
  ).toBe(400);
});

test('both scopes are needed, and admin keys may not', async () => {
  for (const scopes of [['logs.write'], ['completions.write']] as const) {
    const half = await addKey(gateway, { ...place, type: 'workspace-service', scopes: [...scopes] });
    expect((await gateway.post('/v1/logs', log(), { key: half.secret })).status).toBe(403);
  }
  expect((await gateway.post('/v1/logs', log())).status).toBe(403);
});
