/** Streamed calls of agents: guardrails, limits, logs and analytics see them as they see any other call. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { randomUUID } from 'node:crypto';
import type { LogMetrics } from '../../src/logs/record.ts';
import { type Json, startGateway, type TestGateway } from '../harness.ts';
import { addKey, home } from '../people.ts';
import { saveAgent, startAgent, trustLoopback, type UpstreamServer } from './upstream.ts';

let gateway: TestGateway;
let agent: UpstreamServer;
let workspaceId: string;
let organisationId: string;

beforeAll(async () => {
  agent = await startAgent('sdk-agent.ts');
  gateway = await startGateway(trustLoopback);
  ({ workspaceId, organisationId } = await home(gateway));
});
afterAll(async () => {
  await gateway.stopWithoutFaults();
  agent.stop();
});

const newAgent = (slug: string, configurations: Record<string, unknown> = {}) =>
  saveAgent(gateway, { slug, url: agent.url, configurations });

const open = (slug: string, text: string, more: { key?: string; signal?: AbortSignal } = {}) =>
  fetch(`${gateway.url}/v1/agent/${slug}`, {
    method: 'POST',
    headers: { 'x-gw-api-key': more.key ?? gateway.workspaceKey, 'content-type': 'application/json' },
    body: JSON.stringify({
      jsonrpc: '2.0',
      id: 3,
      method: 'message/stream',
      params: { message: { kind: 'message', messageId: randomUUID(), role: 'user', parts: [{ kind: 'text', text }] } },
    }),
    ...(more.signal && { signal: more.signal }),
  });

const eventsIn = (text: string): Json[] =>
  text.split('\n\n').flatMap((event) => (event.startsWith('data: ') ? [JSON.parse(event.slice(6))] : []));

const stream = async (slug: string, text: string, key?: string): Promise<Json[]> =>
  eventsIn(await (await open(slug, text, key === undefined ? {} : { key })).text());

/** The record of the last call of this agent, once it is there. */
async function recordOf(slug: string): Promise<(typeof gateway.records)[number]> {
  for (;;) {
    const found = gateway.records.findLast(({ metrics }) => metrics.virtual_key === slug);
    if (found) return found;
    await Bun.sleep(5);
  }
}
const rowOf = async (slug: string): Promise<LogMetrics> => (await recordOf(slug)).metrics;

const newGuardrail = async (name: string, deny: boolean): Promise<string> => {
  const { status, body } = await gateway.post('/v1/guardrails', {
    name,
    workspace_id: workspaceId,
    checks: [{ id: 'default.contains', parameters: { words: ['done'], operator: 'none' } }],
    actions: { deny },
  });
  expect({ status, body }).toMatchObject({ status: 200 });
  return body.slug;
};

describe('a guardrail', () => {
  test('that denies an event ends the stream with an error; what passed before it has been sent', async () => {
    await newAgent('denied', { output_guardrails: [await newGuardrail('no done', true)] });
    const events = await stream('denied', 'task one');
    expect(events[0].result.status.state).toBe('submitted');
    expect(events.at(-1)).toMatchObject({ id: 3, error: { code: -32000, data: { code: 'guardrail_denied' } } });
    expect(JSON.stringify(events)).not.toContain('done: task one');
    expect(await rowOf('denied')).toMatchObject({ is_success: false });
  });

  test('that only reports lets the stream pass, and the log keeps its verdict although later events pass', async () => {
    await newAgent('reported', { output_guardrails: [await newGuardrail('report done', false)] });
    const events = await stream('reported', 'task one');
    expect(JSON.stringify(events)).toContain('done: task one');
    const { metrics } = await recordOf('reported');
    expect(JSON.stringify(metrics)).toContain('"verdict":false');
  });

  test('on messages denies before anything is streamed', async () => {
    await newAgent('unasked', { input_guardrails: [await newGuardrail('no done asked', true)] });
    const response = await open('unasked', 'be done');
    expect([response.status, response.headers.get('content-type')]).toEqual([446, 'application/json']);
    expect((await response.json()) as Json).toMatchObject({ id: 3, error: { data: { code: 'guardrail_denied' } } });
  });
});

describe('limits', () => {
  /** A key of its own, and a policy on its calls of agents. */
  const limited = async (name: string, limit: object): Promise<string> => {
    const scopes = ['agents.invoke'] as const;
    const made = { organisationId, workspaceId, userId: null, type: 'workspace-service', scopes } as const;
    const { id, secret } = await addKey(gateway, made);
    const { status, body } = await gateway.post('/v1/policies/rate-limits', {
      name,
      workspace_id: workspaceId,
      conditions: [
        { key: 'endpoint_type', value: 'agent' },
        { key: 'api_key', value: id },
      ],
      group_by: [{ key: 'api_key' }],
      unit: 'rpd',
      ...limit,
    });
    expect({ status, body }).toMatchObject({ status: 200 });
    return secret;
  };

  test('of requests count a stream once, however many events it has', async () => {
    await newAgent('counted');
    const key = await limited('counted', { type: 'requests', value: 2 });
    expect((await stream('counted', 'task one', key)).length).toBeGreaterThan(2);
    expect((await open('counted', 'task two', { key })).status).toBe(200);
    expect((await open('counted', 'task three', { key })).status).toBe(429);
  });

  test('of tokens count what was asked and what was streamed', async () => {
    await newAgent('metered');
    const text = `task ${'word '.repeat(60)}`;
    await stream('metered', text);
    const { req_units, res_units } = await rowOf('metered');
    // Two of them do not fit.
    const key = await limited('metered', { type: 'tokens', value: req_units + res_units + Math.floor(req_units / 2) });
    await stream('metered', text, key);
    expect((await open('metered', text, { key })).status).toBe(429);
  });
});

test('a budget of the key that model calls have used up is a 412, in the words of the protocol', async () => {
  await newAgent('spent');
  const made = await gateway.post('/v1/api-keys/workspace/service', {
    name: 'spent',
    workspace_id: workspaceId,
    scopes: ['agents.invoke', 'completions.write'],
    usage_limits: { type: 'tokens', credit_limit: 10_000 },
  });
  expect({ status: made.status, body: made.body }).toMatchObject({ status: 200 });
  const { id, key } = made.body;
  expect((await open('spent', 'hello', { key })).status).toBe(200);
  const question = { model: 'sandbox', messages: [{ role: 'user', content: 'x' }], max_tokens: 20 };
  const asked = await gateway.post('/v1/chat/completions', question, { key, headers: { 'x-gw-provider': '@sandbox' } });
  expect(asked.body.usage.total_tokens).toBeGreaterThan(1);
  await gateway.put(`/v1/api-keys/${id}`, { usage_limits: { type: 'tokens', credit_limit: 1 } });
  for (const [path, body] of [
    ['', { jsonrpc: '2.0', id: 3, error: { code: -32000, data: { code: 'usage_limit_exceeded' } } }],
    ['/message:send', { error: { code: 'usage_limit_exceeded' } }],
  ] as const) {
    const message = { kind: 'message', messageId: randomUUID(), role: 'user', parts: [{ kind: 'text', text: 'x' }] };
    const params = { message };
    const sent = path === '' ? { jsonrpc: '2.0', id: 3, method: 'message/stream', params } : params;
    expect(await gateway.post(`/v1/agent/spent${path}`, sent, { key })).toMatchObject({ status: 412, body });
  }
  expect(await rowOf('spent')).toMatchObject({ response_status_code: 412, is_success: false });
});

describe('the log', () => {
  test('has the task, its last state, the tokens of both sides and the time of the first event', async () => {
    await newAgent('logged');
    const events = await stream('logged', 'task one');
    const row = await rowOf('logged');
    expect(row).toMatchObject({
      endpoint_type: 'agent',
      ai_model: 'message/stream',
      is_success: true,
      metadata: {
        'agent.server': 'logged',
        'agent.task_id': events[0].result.id,
        'agent.context_id': events[0].result.contextId,
        'agent.state': 'completed',
      },
    });
    expect(row.req_units).toBeGreaterThan(0);
    expect(row.res_units).toBeGreaterThan(row.req_units);
  });

  test('has a client that left as 499', async () => {
    await newAgent('left');
    const abort = new AbortController();
    const response = await open('left', 'wait', { signal: abort.signal });
    await response.body?.getReader().read();
    abort.abort();
    expect(await rowOf('left')).toMatchObject({ response_status_code: 499, metadata: { 'agent.server': 'left' } });
  });

  test('keeps no bodies where the integration says so', async () => {
    await newAgent('silent', { log_payloads: false });
    await stream('silent', 'task canary-of-a-body');
    const { bodies } = await recordOf('silent');
    const kept = Object.values(bodies).map((one) => one?.body && Buffer.from(one.body).toString());
    expect(kept.join()).not.toContain('canary-of-a-body');
  });

  test('is grouped by agent and by method', async () => {
    await newAgent('grouped');
    await stream('grouped', 'hello');
    await stream('grouped', 'hello again');
    const groups = async (by: string): Promise<Json[]> =>
      (await gateway.get(`/v1/analytics/groups/${by}?columns=avg_tokens`)).body.data;
    let rows = await groups('agent_server');
    while (rows.find(({ agent_server }) => agent_server === 'grouped')?.requests !== 2) {
      await Bun.sleep(20);
      rows = await groups('agent_server');
    }
    expect(rows.every(({ agent_server }) => typeof agent_server === 'string' && agent_server !== '')).toBe(true);
    expect((await groups('agent_method')).map(({ agent_method }) => agent_method)).toContain('message/stream');
  });
});
