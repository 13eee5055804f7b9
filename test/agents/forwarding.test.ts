/** What of a call reaches an agent, and how limits, guardrails and logs treat it. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import type { TestGateway } from '../harness.ts';
import type { Home } from '../people.ts';
import { type ProxyWorld, said, startProxyWorld } from './proxy-world.ts';
import { saveAgent, type UpstreamServer } from './upstream.ts';

let world: ProxyWorld;
let gateway: TestGateway;
let agent: UpstreamServer;
let place: Home;
let call: ProxyWorld['call'];
let rpc: ProxyWorld['rpc'];
let newTask: ProxyWorld['newTask'];
let seen: ProxyWorld['seen'];
let otherKey: ProxyWorld['otherKey'];

beforeAll(async () => {
  world = await startProxyWorld();
  ({ gateway, agent, place, call, rpc, newTask, seen, otherKey } = world);
});
afterAll(() => world.stop());

describe('what the agent is told', () => {
  test('our key and our headers stay here; the integration’s credentials and the protocol’s headers go on', async () => {
    await saveAgent(gateway, {
      slug: 'told',
      url: agent.url,
      auth_type: 'headers',
      configurations: {
        headers: { authorization: 'Bearer agent-credential' },
        forward_headers: [{ from: 'x-team', to: 'x-tenant' }, 'cookie'],
        user_identity_forwarding: { method: 'claims_header' },
      },
    });
    await rpc('message/send', said('x'), {
      slug: 'told',
      headers: {
        'x-team': 'red',
        cookie: 'a=b',
        'x-user-claims': 'forged',
        'x-gw-metadata': '{"a":"b"}',
        'a2a-extensions': 'https://example.com/ext',
        traceparent: '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01',
      },
    });
    const { headers } = await seen();
    expect(headers).toMatchObject({
      authorization: 'Bearer agent-credential',
      'x-tenant': 'red',
      'a2a-extensions': 'https://example.com/ext',
      path: '/a2a/jsonrpc',
    });
    expect(headers.traceparent).toStartWith('00-0af7651916cd43dd8448eb211c80319c');
    expect(JSON.parse(headers['x-user-claims'] ?? '')).toMatchObject({ workspace_id: place.workspaceId });
    expect(headers.cookie).toBeUndefined();
    expect(JSON.stringify(headers)).not.toContain(gateway.workspaceKey);
    expect(Object.keys(headers).filter((name) => name.startsWith('x-gw-api') || name === 'x-gw-metadata')).toEqual([]);
  });

  test('forwarding all headers forwards no credential and no identity', async () => {
    await saveAgent(gateway, {
      slug: 'all',
      url: agent.url,
      configurations: { forward_headers: { mode: 'all-except', headers: ['x-private'] } },
    });
    await rpc('message/send', said('x'), {
      slug: 'all',
      headers: {
        'x-team': 'red',
        'x-private': 'canary',
        authorization: 'Bearer canary',
        cookie: 'a=canary',
        'x-api-key': 'canary',
        'x-auth-token': 'canary',
        'x-user-claims': 'canary',
        'x-user-jwt': 'canary',
        'x-forwarded-for': 'canary',
      },
    });
    const { headers } = await seen();
    expect(headers['x-team']).toBe('red');
    expect(JSON.stringify(headers)).not.toContain('canary');
    expect(JSON.stringify(headers)).not.toContain(gateway.workspaceKey);
  });

  test('a path of the agent’s own is passed on, and its answer comes without headers that name its host', async () => {
    const response = await call('/custom/report?page=2', { method: 'PUT', body: '{"a":1}' });
    expect(await response.json()).toEqual({ method: 'PUT', path: '/custom/report?page=2' });
    expect(response.headers.get('link')).toBeNull();
    expect(response.headers.get('x-gw-trace-id')).not.toBeNull();
  });

  test('a client that leaves ends the stream at the agent', async () => {
    const before = (await seen()).left;
    const abort = new AbortController();
    const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'message/stream', params: said('wait') });
    const response = await call('', { method: 'POST', body, signal: abort.signal });
    const reader = response.body?.getReader();
    await reader?.read();
    abort.abort();
    let { left } = await seen();
    while (left === before) {
      await Bun.sleep(10);
      ({ left } = await seen());
    }
    expect(left).toBe(before + 1);
  });
});

describe('limits, guardrails and logs', () => {
  test('a policy on the endpoint type agent counts calls, and the refusal is JSON-RPC', async () => {
    const key = await otherKey();
    const policy = await gateway.post('/v1/policies/rate-limits', {
      name: 'agents',
      workspace_id: place.workspaceId,
      conditions: [{ key: 'endpoint_type', value: 'agent' }],
      group_by: [{ key: 'api_key' }],
      type: 'requests',
      unit: 'rpd',
      value: 2,
    });
    expect(policy.status).toBe(200);
    const asked = () => rpc('message/send', said('x'), { key });
    expect([(await asked()).status, (await asked()).status]).toEqual([200, 200]);
    expect(await asked()).toMatchObject({
      status: 429,
      body: { jsonrpc: '2.0', id: 7, error: { code: -32000, data: { code: 'rate_limited' } } },
    });
    const id = policy.body.id ?? policy.body.data?.id;
    expect((await gateway.delete(`/v1/policies/rate-limits/${id}`)).status).toBe(200);
  });

  test('guardrails see messages and answers: they deny, and they replace', async () => {
    const saved = async (name: string, check: object, actions: object) => {
      const { body, status } = await gateway.post('/v1/guardrails', {
        name,
        workspace_id: place.workspaceId,
        checks: [check],
        actions,
      });
      expect({ status, body }).toMatchObject({ status: 200 });
      return body.slug as string;
    };
    const redact = await saved(
      'redact',
      { id: 'default.regexReplace', parameters: { rule: 'secret', redactText: '[gone]' } },
      { deny: false },
    );
    const forbid = await saved(
      'forbid',
      { id: 'default.contains', parameters: { words: ['forbidden'], operator: 'none' } },
      { deny: true },
    );
    await saveAgent(gateway, {
      slug: 'watched',
      url: agent.url,
      configurations: { input_guardrails: [redact, forbid], output_guardrails: [redact] },
    });
    const asked = (text: string) => rpc('message/send', said(text), { slug: 'watched' });
    const { body } = await asked('my secret');
    expect(JSON.stringify(body.result)).toContain('echo: my [gone]');
    expect(await asked('a forbidden word')).toMatchObject({
      status: 446,
      body: { error: { code: -32000, data: { code: 'guardrail_denied' } } },
    });
    const response = await call('', {
      slug: 'watched',
      method: 'POST',
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'message/stream', params: said('task secret') }),
    });
    const events = await response.text();
    expect(events).toContain('done: task [gone]');
    expect(events).not.toContain('secret');
  });

  test('every call has a log row with the agent, the method, the task and its state, and no secret', async () => {
    const { id, contextId } = await newTask({ headers: { authorization: 'Bearer canary-of-the-client' } });
    await rpc('tasks/get', { id: 'canary-unknown' });
    const rows = gateway.records;
    const made = rows.find(({ metrics }) => metrics.metadata['agent.task_id'] === id);
    expect(made?.metrics).toMatchObject({
      endpoint_type: 'agent',
      ai_org: 'agent',
      ai_model: 'message/send',
      virtual_key: 'sample',
      is_success: true,
      metadata: { 'agent.server': 'sample', 'agent.context_id': contextId, 'agent.state': 'completed' },
    });
    expect(made?.metrics.req_units).toBeGreaterThan(0);
    expect(made?.metrics.res_units).toBeGreaterThan(0);
    const refused = rows.find(({ metrics }) => metrics.metadata['agent.task_id'] === 'canary-unknown');
    expect(refused?.metrics).toMatchObject({ is_success: false, error_message: 'Task not found' });
    expect(JSON.stringify(made?.bodies.request?.headers ?? {})).not.toContain('canary-of-the-client');
  });
});
