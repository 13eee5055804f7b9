/** Traffic of every kind through the running program, as metrics and as spans. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { join } from 'node:path';
import { saveAgent, startAgent } from '../agents/upstream.ts';
import { startGateway, type TestGateway } from '../harness.ts';
import { sessionClient } from '../mcp/clients.ts';
import { saveIntegration, startUpstream, trustLoopback, type UpstreamServer } from '../mcp/upstream.ts';
import { home } from '../people.ts';
import { type Collector, officialSpans, otlpReaderInstalled, startCollector } from '../servers/otlp-collector.ts';
import { promtoolFindings, promtoolInstalled } from '../servers/promtool.ts';

let collector: Collector;
let gateway: TestGateway;
let mcp: UpstreamServer;
let agent: UpstreamServer;

const trace = (at: number) => `${at}`.padStart(32, 'a');
const parent = 'cd'.repeat(8);

const post = (path: string, body: object, headers: Record<string, string> = {}) =>
  fetch(gateway.url + path, {
    method: 'POST',
    headers: { 'x-gw-api-key': gateway.workspaceKey, 'content-type': 'application/json', ...headers },
    body: JSON.stringify(body),
  }).then(async (answer) => ({ status: answer.status, text: await answer.text() }));

const chat = (model = 'echo', more: object = {}) => ({
  model: `@sandbox/${model}`,
  messages: [{ role: 'user', content: 'Hello' }],
  ...more,
});

/** For a config that names the provider itself. */
const plain = (content = 'Hello') => ({ model: 'echo', messages: [{ role: 'user', content }] });

const config = async (more: object) => {
  const { workspaceId } = await home(gateway);
  const saved = await gateway.post('/v1/configs', { name: 'Test', config: more, workspace_id: workspaceId });
  return { 'x-gw-config': saved.body.slug as string };
};
const sandbox = { provider: '@sandbox', override_params: { model: 'echo' } };
const guarded = {
  provider: '@sandbox',
  input_guardrails: [
    { id: 'short', deny: true, 'default.wordCount': { maxWords: 3 }, 'default.contains': { words: ['Hello'] } },
  ],
  output_guardrails: [{ id: 'polite', 'default.contains': { words: ['please'] } }],
};

beforeAll(async () => {
  collector = startCollector();
  [mcp, agent] = await Promise.all([startUpstream('session-server.ts'), startAgent('sdk-agent.ts')]);
  gateway = await startGateway({
    ...trustLoopback,
    PROMETHEUS_INCLUDE_MODEL_LABEL: 'true',
    PROMETHEUS_INCLUDE_API_KEY_NAME_LABEL: 'true',
    PROMETHEUS_INCLUDE_CONFIG_NAME_LABEL: 'true',
    PROMETHEUS_LABELS_METADATA_ALLOWED_KEYS: 'team-name',
    PROMETHEUS_EXTRA_LABELS: 'region=eu',
    OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
    OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT: 'true',
  });
  await saveIntegration(gateway, { slug: 'tools', url: mcp.url });
  await saveAgent(gateway, { slug: 'helper', url: agent.url });
  await makeTraffic();
});
afterAll(async () => {
  await gateway.stopWithoutFaults();
  await collector.stop();
  mcp.stop();
  agent.stop();
});

const statuses: number[] = [];

async function makeTraffic(): Promise<void> {
  const { workspaceId } = await home(gateway);
  const limited = await gateway.post('/v1/policies/rate-limits', {
    workspace_id: workspaceId,
    conditions: [{ key: 'metadata._user', value: '*' }],
    group_by: [{ key: 'metadata._user' }],
    type: 'requests',
    unit: 'rpm',
    value: 1_000,
  });
  statuses.push(limited.status);
  const tell = async (at: number, path: string, body: object, headers: Record<string, string> = {}) => {
    const { status } = await post(path, body, { traceparent: `00-${trace(at)}-${parent}-01`, ...headers });
    statuses.push(status);
  };
  await tell(1, '/v1/chat/completions', chat('echo', { temperature: 0.5, max_completion_tokens: 64, stop: 'END' }), {
    'x-gw-metadata': '{"team-name": "red", "_user": "anna", "_environment": "prod"}',
  });
  await tell(2, '/v1/chat/completions', chat('echo', { stream: true }));
  await tell(3, '/v1/messages', { ...chat(), max_tokens: 16 });
  await tell(4, '/v1/responses', { model: '@sandbox/echo', input: 'Hello', stream: true });
  await tell(5, '/v1/embeddings', { model: '@sandbox/embedding', input: 'Hello' });
  await tell(6, '/v1/chat/completions', chat('echo+status=503'));
  await tell(
    7,
    '/v1/chat/completions',
    plain(),
    await config({
      strategy: { mode: 'fallback' },
      targets: [{ provider: '@sandbox', override_params: { model: 'echo+status=503' } }, sandbox],
    }),
  );
  const cached = await config({ ...sandbox, cache: { mode: 'simple' } });
  const judged = await config(guarded);
  for (const at of [8, 9]) {
    await tell(at, '/v1/chat/completions', plain(), cached);
  }
  await tell(10, '/v1/chat/completions', plain(), judged);
  await tell(11, '/v1/chat/completions', plain('far more words than three of them'), judged);
  await tell(12, '/v1/chat/completions', { messages: [] });
  await tell(13, '/v1/some/other/path', {}, { 'x-gw-provider': '@sandbox' });
  const client = await sessionClient(`${gateway.url}/tools/mcp`, {
    'x-gw-api-key': gateway.workspaceKey,
    traceparent: `00-${trace(14)}-${parent}-01`,
  });
  await client.callTool({ name: 'echo', arguments: { text: 'hi' } });
  await client.close();
  const said = { kind: 'message', messageId: 'm-1', role: 'user', parts: [{ kind: 'text', text: 'hi' }] };
  await tell(15, '/v1/agent/helper', { jsonrpc: '2.0', id: 1, method: 'message/send', params: { message: said } });
  // The parent is not sampled, and so its children are not either.
  await tell(16, '/v1/chat/completions', chat(), { traceparent: `00-${trace(16)}-${parent}-00` });
  await gateway.app.services.logs.settled();
}

const scrape = async () => (await fetch(`${gateway.url}/metrics`)).text();

/** The names that the reference product gave its metrics do not all follow Prometheus' advice; nobody else's may do the same. */
const named =
  /^(request_count|llm_cost_sum|llm_token_sum|(llm|gw|authentication|api_key|pre_request|post_request|grpc)_\w+_(milliseconds|ms)|guardrail_check_duration_ms|mcp_request_duration_ms) /;

/** So is the label `cacheStatus` of the metrics of calls. */
const camelCase = /^(http|llm|gw|request)_\w+ label names should be written in 'snake_case' not 'camelCase'$/;

describe('metrics', () => {
  test('of all names are there, with their labels', async () => {
    const text = await scrape();
    const common =
      'method="POST",endpoint="chatComplete",code="200",provider="sandbox",source="gateway",stream="false",cacheStatus="[^"]*",model="echo",config_name="N/A",api_key_name="[^"]+",metadata_team_name="red",app="gw",env="[^"]*",region="eu"';
    expect(text).toMatch(new RegExp(`^request_count\\{${common}\\} 1$`, 'm'));
    for (const name of [
      'http_request_duration_seconds',
      'llm_request_duration_milliseconds',
      'llm_last_byte_diff_duration_milliseconds',
      'gw_request_duration_milliseconds',
      'gw_processing_time_excluding_last_byte_ms',
      'authentication_duration_milliseconds',
      'api_key_rate_limit_check_duration_milliseconds',
      'pre_request_processing_duration_milliseconds',
      'post_request_processing_duration_milliseconds',
      'llm_cache_processing_duration_milliseconds',
      'guardrail_check_duration_ms',
      'mcp_request_duration_ms',
    ]) {
      expect(text).toMatch(new RegExp(`^${name}_count\\{.*\\} [1-9]`, 'm'));
    }
    expect(text).toContain('# TYPE grpc_req_conversion_duration_milliseconds histogram');
    expect(text).toMatch(/^llm_token_sum\{.*\} [1-9]\d*$/m);
    expect(text).toMatch(/^node_process_cpu_seconds_total\{.*\} \d/m);
    expect(text).toMatch(/^node_nodejs_eventloop_lag_seconds\{.*\} \d/m);
    expect(text).toMatch(/^mcp_active_sessions\{.*\} \d/m);
  });

  test('count guardrail checks by their verdict, and messages to MCP servers', async () => {
    const text = await scrape();
    const checks = (check: string, verdict: string, phase: string) =>
      Number(
        new RegExp(
          `^guardrail_checks_total\\{.*check="${check}",verdict="${verdict}",phase="${phase}",.*\\} (\\d+)$`,
          'm',
        ).exec(text)?.[1] ?? 0,
      );
    expect([
      checks('default.wordCount', 'pass', 'input'),
      checks('default.wordCount', 'fail', 'input'),
      checks('default.contains', 'fail', 'output'),
    ]).toEqual([1, 1, 1]);
    expect(text).toMatch(
      /^mcp_requests_total\{.*server="tools",method="tools\/call",tool="echo",status="200",.*\} 1$/m,
    );
  });

  test.skipIf(!promtoolInstalled)('have no fault that promtool finds, but for the names of the reference', async () => {
    const findings = promtoolFindings(await scrape());
    expect(findings.filter((line) => !named.test(line) && !camelCase.test(line))).toEqual([]);
  });
});

test('the dashboard asks for metrics that there are', async () => {
  const text = await scrape();
  const { panels } = await Bun.file(join(import.meta.dir, '../../deploy/grafana-dashboard.json')).json();
  const asked = new Set<string>(
    panels
      .flatMap(({ targets }: { targets: { expr: string }[] }) => targets)
      .flatMap(({ expr }: { expr: string }) => expr.match(/[a-z]+_[a-z_]+(?=[{[)]|$)/g) ?? []),
  );
  const missing = [...asked].filter((name) => !text.includes(`# TYPE ${name.replace(/_bucket$/, '')} `));
  expect([asked.size > 15, missing]).toEqual([true, []]);
});

describe('spans', () => {
  const spansOf = async (at: number, name: string | RegExp) => {
    await collector.until((span) => span.traceId === trace(at) && matches(span.name, name));
    return collector.spans.filter((span) => span.traceId === trace(at));
  };
  const matches = (name: string, wanted: string | RegExp) =>
    typeof wanted === 'string' ? name === wanted : wanted.test(name);
  const one = async (at: number, name: string | RegExp) => {
    const found = (await spansOf(at, name)).find((span) => matches(span.name, name));
    return { ...found, attributes: found?.attributes ?? new Map<string, unknown>() };
  };

  test('of a call stand below the W3C parent, with what was asked for and how it ended', async () => {
    const { attributes, parentSpanId, spanId } = await one(1, 'chat echo');
    expect(parentSpanId).toBe(parent);
    expect((await one(1, 'attempt sandbox')).parentSpanId).toBe(spanId ?? '');
    const told = Object.fromEntries(
      ['operation.name', 'provider.name', 'request.model', 'request.temperature', 'request.max_tokens'].map((name) => [
        name,
        attributes.get(`gen_ai.${name}`),
      ]),
    );
    expect(told).toEqual({
      'operation.name': 'chat',
      'provider.name': 'sandbox',
      'request.model': 'echo',
      'request.temperature': 0.5,
      'request.max_tokens': expect.anything(),
    });
    expect(Number(attributes.get('gen_ai.usage.input_tokens'))).toBeGreaterThan(0);
    expect(attributes.get('deployment.environment.name')).toBe('prod');
    expect(attributes.has('gen_ai.request.stream')).toBe(false);
    expect(JSON.parse(String(attributes.get('gen_ai.input.messages')))).toEqual([
      { role: 'user', parts: [{ type: 'text', content: 'Hello' }] },
    ]);
    expect(JSON.parse(String(attributes.get('gen_ai.output.messages')))).toEqual([
      { role: 'assistant', parts: [{ type: 'text', content: 'You said: Hello' }], finish_reason: 'stop' },
    ]);
  });

  test.each([
    [2, 'chat echo'],
    [4, 'chat echo'],
  ])('of a stream (%i) tell the whole answer and its first chunk', async (at, name) => {
    const { attributes } = await one(at, name);
    expect(attributes.get('gen_ai.request.stream')).toBe(true);
    expect(Number(attributes.get('gen_ai.response.time_to_first_chunk'))).toBeGreaterThan(0);
    expect(JSON.parse(String(attributes.get('gen_ai.output.messages')))).toEqual([
      { role: 'assistant', parts: [{ type: 'text', content: 'You said: Hello' }], finish_reason: 'stop' },
    ]);
  });

  test('of a rescued call are one for each target', async () => {
    const spans = await spansOf(7, 'chat echo');
    const [request] = spans.filter(({ name }) => name === 'chat echo');
    const attempts = spans.filter(({ name }) => name === 'attempt sandbox');
    expect(attempts.map(({ parentSpanId }) => parentSpanId)).toEqual([request?.spanId ?? '', request?.spanId ?? '']);
    expect(attempts.map(({ attributes }) => attributes.get('error.type')).toSorted()).toEqual(['503', undefined]);
  });

  test('of guardrail checks stand below the attempt, and quote nothing', async () => {
    const spans = await spansOf(10, 'chat echo');
    const attempt = spans.find(({ name }) => name === 'attempt sandbox');
    const checks = spans.filter(({ name }) => name.startsWith('gw.guardrail '));
    expect(checks.map(({ parentSpanId }) => parentSpanId)).toEqual(checks.map(() => attempt?.spanId ?? ''));
    const told = checks.map(({ name, attributes }) => [
      name,
      ...['id', 'phase', 'verdict', 'action', 'deny', 'async', 'check.verdict'].map((key) =>
        attributes.get(`gw.guardrail.${key}`),
      ),
    ]);
    expect(told).toEqual([
      ['gw.guardrail default.wordCount', 'short', 'input', true, 'allow', false, false, true],
      ['gw.guardrail default.contains', 'short', 'input', true, 'allow', false, false, true],
      ['gw.guardrail default.contains', 'polite', 'output', false, 'report', false, false, false],
    ]);
    expect(checks[0]?.attributes.get('gw.workspace.slug')).toBeString();
    const denied = await one(11, 'gw.guardrail default.wordCount');
    expect([denied.attributes.get('gw.guardrail.action'), denied.attributes.get('gw.guardrail.deny')]).toEqual([
      'deny',
      true,
    ]);
    expect(JSON.stringify([...denied.attributes])).not.toContain('words than');
  });

  test('of tools and agents have the names of their conventions', async () => {
    const tool = await one(14, 'tools/call echo');
    expect(
      ['gen_ai.operation.name', 'gen_ai.tool.name', 'mcp.method.name'].map((key) => tool.attributes.get(key)),
    ).toEqual(['execute_tool', 'echo', 'tools/call']);
    expect((await one(15, 'invoke_agent helper')).attributes.get('gen_ai.agent.name')).toBe('helper');
  });

  test('of a parent that is not sampled are not made', async () => {
    await spansOf(15, 'invoke_agent helper');
    expect(collector.spans.filter(({ traceId }) => traceId === trace(16))).toEqual([]);
  });

  test.skipIf(!otlpReaderInstalled)('are read whole by the classes that OpenTelemetry publishes', async () => {
    await spansOf(15, 'invoke_agent helper');
    const spans = officialSpans(collector.messages);
    expect(spans.length).toBe(collector.spans.length);
    for (const span of spans) {
      expect(BigInt(span.endTimeUnixNano)).toBeGreaterThanOrEqual(BigInt(span.startTimeUnixNano));
      expect([16, 32].includes(Buffer.from(span.traceId, 'base64').length)).toBe(true);
      expect(span.kind).toBe(span.name.startsWith('gw.guardrail') ? 'SPAN_KIND_INTERNAL' : 'SPAN_KIND_CLIENT');
    }
  });
});

test('the traffic was what it was meant to be', () => {
  expect(statuses).toEqual([200, 200, 200, 200, 200, 200, 503, 200, 200, 200, 246, 446, 400, 200, 200, 200]);
});
