/** The log of a call as GET /v1/logs/{id} shows it: bodies, masked headers, metadata, usage and cost, and how little is kept when little is wanted. */
import { beforeAll, beforeEach, describe, expect, test } from 'bun:test';
import type { Json } from '../harness.ts';
import { sharedByTests } from '../journey.ts';
import * as openai from '../providers/openai.ts';
import { json, type SimulatedProvider, startProvider } from '../providers/simulated.ts';
import { startWorld, type World } from '../world.ts';

let a: SimulatedProvider;
let world: World;
let workspaceId: string;

beforeAll(async () => {
  a = await startProvider(openai.says('Hello'));
  world = await startWorld(
    { a: { provider: 'openai', simulated: a } },
    { HEADERS_TO_METADATA: 'X-Department, x-team', ORGANISATION_HEADERS_TO_MASK: 'X-Employee' },
  );
  workspaceId = (await world.gateway.get('/v1/workspaces')).body.data[0].id;
});
sharedByTests(
  () => world.gateway,
  () => [a],
);
beforeEach(() => {
  a.script(openai.says('Hello', ' there'));
});

type Fields = Record<string, string>;

const question = { model: '@a/gpt-4o-mini', messages: [{ role: 'user', content: 'Say hello.' }] };

/** Makes a call and reads the log of its last target. */
const logged = async (body: object = question, headers: Fields = {}, path = '/v1/chat/completions'): Promise<Json> => {
  const response = await world.call(path, body, headers);
  await response.arrayBuffer();
  const [record] = await world.records(response.headers.get('x-gw-trace-id') ?? '', 1);
  const log = await world.gateway.get(`/v1/logs/${record?.id}`, { key: world.gateway.workspaceKey });
  expect(log.status).toBe(200);
  return log.body;
};

const metadataOf = ({ metrics }: Json): Fields =>
  Object.fromEntries(
    metrics['metadata.key'].map((name: string, index: number) => [name, metrics['metadata.value'][index]]),
  );

describe('a call', () => {
  test('is kept with what was asked, what was sent on and what was answered', async () => {
    const log = await logged({ ...question, user: 'anna' });
    expect(log.request).toMatchObject({
      method: 'POST',
      url: `${a.url}/chat/completions`,
      body: { ...question, user: 'anna' },
    });
    expect(log.transformedRequest.body).toEqual({ ...question, user: 'anna', model: 'gpt-4o-mini' });
    expect(log.response).toMatchObject({ status: 200, lastUsedOptionJsonPath: 'config' });
    expect(log.response.body).toEqual(openai.completion('Hello there'));
    expect(log.metrics).toMatchObject({
      ai_org: 'openai',
      ai_model: 'gpt-4o-mini',
      virtual_key: 'a',
      endpoint_type: 'chatComplete',
      is_success: true,
      stream_mode: 0,
      usage_estimated: false,
    });
  });

  test('costs what its model costs, in cents', async () => {
    const { metrics } = await logged();
    // gpt-4o-mini: 20 tokens in at $0.15 and 10 out at $0.60 for a million.
    expect(metrics.cost).toBeCloseTo((20 * 0.15 + 10 * 0.6) / 10_000, 12);
    expect([metrics.req_units, metrics.res_units, metrics.total_units, metrics.cost_currency]).toEqual([
      20,
      10,
      30,
      'USD',
    ]);
  });

  test('that streamed is kept as its events, with the usage of its end', async () => {
    const log = await logged({ ...question, stream: true });
    expect(log.response.body).toBe(openai.wholeStream(['Hello', ' there']).join('').replace(openai.usage, ''));
    expect(log.metrics).toMatchObject({ stream_mode: 1, req_units: 20, res_units: 10, usage_estimated: false });
    expect(log.metrics.first_token_time).toBeNumber();
  });

  test('hides credentials always, and other headers when told to', async () => {
    a.script(json(200, openai.completion('Hello'), { 'x-session': 'answer-value' }));
    const { request, response } = await logged(question, {
      authorization: 'Bearer sk-mine',
      cookie: 'gw_session=abc',
      'x-session': 'asked-value',
      'x-employee': 'E-77',
      'x-harmless': 'shown',
      'x-gw-sensitive-headers': 'X-Session, x-other',
    });
    for (const name of ['authorization', 'cookie', 'x-gw-api-key', 'x-session', 'x-employee']) {
      expect([name, request.headers[name]]).toEqual([name, expect.stringMatching(/^masked:[0-9a-f]{16}$/)]);
    }
    expect(request.headers['x-harmless']).toBe('shown');
    expect(response.headers['x-session']).toStartWith('masked:');
    const again = await logged(question, { 'x-session': 'asked-value', 'x-gw-sensitive-headers': 'x-session' });
    expect(again.request.headers['x-session']).toBe(request.headers['x-session']);
  });

  test('carries its metadata, the lower beneath the higher', async () => {
    const saved = await world.saveConfig({ provider: '@a', metadata: { env: 'config', config: 'yes' } });
    const key = await world.gateway.post('/v1/api-keys/workspace/service', {
      name: 'Tagged',
      scopes: ['completions.write'],
      workspace_id: workspaceId,
      defaults: { metadata: { env: 'key' } },
    });
    const log = await logged(
      { ...question, user: 'body-user' },
      {
        'x-gw-api-key': key.body.key,
        'x-gw-config': saved,
        'x-gw-metadata': JSON.stringify({ env: 'header', count: 3, list: [1], long: 'x'.repeat(200) }),
        'x-department': 'sales',
        baggage: 'env=bag,from=b%C3%A4g;prop=1',
      },
    );
    expect(metadataOf(log)).toEqual({
      env: 'key',
      config: 'yes',
      from: 'bäg',
      count: '3',
      list: '[1]',
      long: 'x'.repeat(128),
      'x-department': 'sales',
      _user: 'body-user',
    });
  });

  test('with metadata that cannot be read goes on without it', async () => {
    expect(metadataOf(await logged(question, { 'x-gw-metadata': "{'env': 'dev'}" }))).toEqual({});
  });

  test('stands in its trace: given ids, or those of the W3C header', async () => {
    const given = {
      'x-gw-trace-id': 'trace-9',
      'x-gw-span-id': 's-1',
      'x-gw-parent-span-id': 's-0',
      'x-gw-span-name': 'step',
    };
    expect((await logged(question, given)).metrics).toMatchObject({
      trace_id: 'trace-9',
      span_id: 's-1',
      parent_span_id: 's-0',
      span_name: 'step',
    });
    const w3c = { traceparent: '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01' };
    expect((await logged(question, w3c)).metrics).toMatchObject({
      trace_id: '0af7651916cd43dd8448eb211c80319c',
      parent_span_id: 'b7ad6b7169203331',
      span_name: 'POST /v1/chat/completions',
    });
  });

  test('that failed says why', async () => {
    a.script(openai.contextOverflow);
    const { metrics, response } = await logged();
    expect(metrics).toMatchObject({ is_success: false, response_status_code: 400, cost: 0, total_units: 0 });
    expect(metrics.error_message).toContain('maximum context length');
    expect(response.body.error.code).toBe('context_length_exceeded');
  });

  test('that was refused before any target was tried is kept too, with the reason', async () => {
    const log = await logged(question, { 'x-gw-config': 'pc-nothing', 'x-gw-metadata': '{"team":"x"}' });
    expect(log.metrics).toMatchObject({
      is_success: false,
      response_status_code: 400,
      cost: 0,
      request_method: 'POST',
    });
    expect(log.metrics.error_message).toContain('no config "pc-nothing" in this workspace');
    expect(log.response.body.error.code).toBe('config_not_found');
    expect(log.request.headers['x-gw-config']).toBe('pc-nothing');
    expect(metadataOf(log)).toEqual({ team: 'x' });
    expect(a.calls).toEqual([]);
  });

  test('of passthrough is marked as such', async () => {
    const { metrics } = await logged(
      { ...question, model: 'gpt-4o-mini' },
      { 'x-gw-provider': '@a' },
      '/v1/proxy/chat/completions',
    );
    expect(metrics).toMatchObject({ is_proxy_call: true, endpoint_type: 'proxy', source: 'proxy', total_units: 30 });
  });
});

describe('where little is to be kept', () => {
  const metricsAlone = (log: Json) => {
    expect(log.request).toEqual({ url: `${a.url}/chat/completions`, method: 'POST', gwHeaders: {} });
    expect(log.response).not.toHaveProperty('body');
    expect(log.response).not.toHaveProperty('headers');
    expect(log).not.toHaveProperty('transformedRequest');
    expect(log.metrics).toMatchObject({ total_units: 30, is_success: true });
  };
  const settings = (fields: object) => world.gateway.put('/v1/admin/organisation/settings', fields);

  test('x-gw-debug: false keeps the metrics alone, streams included', async () => {
    metricsAlone(await logged(question, { 'x-gw-debug': 'False' }));
    metricsAlone(await logged({ ...question, stream: true }, { 'x-gw-debug': 'false' }));
  });

  test('a failure keeps its answer even then', async () => {
    a.script(openai.contextOverflow);
    const log = await logged(question, { 'x-gw-debug': 'false' });
    expect(log.request).not.toHaveProperty('body');
    expect(log.response.body.error.code).toBe('context_length_exceeded');
  });

  test('an organisation may keep the metrics alone, and no header brings more', async () => {
    await settings({ request_logging: 'metrics_only' });
    try {
      metricsAlone(await logged(question, { 'x-gw-debug': 'true' }));
    } finally {
      await settings({ request_logging: 'full' });
    }
  });

  test('an organisation may insist on full logs, whatever the header says', async () => {
    await settings({ enforce_debug_log_setting: true });
    try {
      expect((await logged(question, { 'x-gw-debug': 'false' })).request.body).toEqual(question);
    } finally {
      await settings({ enforce_debug_log_setting: false });
    }
  });
});
