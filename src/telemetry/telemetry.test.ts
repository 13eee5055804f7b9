/** Calls through the running program as metrics and as spans. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { startGateway, type TestGateway } from '../../test/harness.ts';
import { decodeProtobuf } from '../otel/otlp.ts';

const token = 'a-token-for-scrapers';
const received: {
  traceId: string;
  spanId: string;
  parentSpanId: string;
  name: string;
  attributes: Map<string, unknown>;
}[] = [];

interface WireSpan {
  traceId: Uint8Array;
  spanId: Uint8Array;
  parentSpanId?: Uint8Array;
  name: string;
  attributes: { key: string; value: Record<string, unknown> }[];
}

const hex = (bytes: Uint8Array | undefined) => Buffer.from(bytes ?? []).toString('hex');

/** What a collector does with a message, as far as these tests look at it. */
const collector = Bun.serve({
  port: 0,
  hostname: '127.0.0.1',
  async fetch(request) {
    const message = decodeProtobuf('Traces', await request.bytes()) as {
      resourceSpans: { scopeSpans: { spans: WireSpan[] }[] }[];
    };
    for (const { scopeSpans } of message.resourceSpans) {
      for (const { spans } of scopeSpans) {
        for (const span of spans) {
          received.push({
            traceId: hex(span.traceId),
            spanId: hex(span.spanId),
            parentSpanId: hex(span.parentSpanId),
            name: span.name,
            attributes: new Map(span.attributes.map(({ key, value }) => [key, Object.values(value)[0]])),
          });
        }
      }
    }
    return new Response(new Uint8Array(), { headers: { 'content-type': 'application/x-protobuf' } });
  },
});

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startGateway({
    METRICS_TOKEN: token,
    PROMETHEUS_INCLUDE_MODEL_LABEL: 'true',
    OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${collector.port}`,
    OTEL_EXPORTER_OTLP_HEADERS: 'x-canary=canary-of-the-exporter',
  });
});
afterAll(async () => {
  await gateway.stopWithoutFaults();
  await collector.stop(true);
});

const chat = (headers: Record<string, string> = {}, model = 'sandbox-echo') =>
  gateway.post(
    '/v1/chat/completions',
    { model, messages: [{ role: 'user', content: 'Hello' }] },
    {
      key: gateway.workspaceKey,
      headers: { 'x-gw-provider': '@sandbox', ...headers },
    },
  );

const scrape = async (key = token) =>
  fetch(`${gateway.url}/metrics`, { headers: key ? { authorization: `Bearer ${key}` } : {} });

describe('metrics', () => {
  test('count calls, their time, cost and tokens, with bounded labels', async () => {
    for (let call = 0; call < 3; call++) expect((await chat()).status).toBe(200);
    await gateway.app.services.logs.settled();
    const text = await (await scrape()).text();
    expect(text).toMatch(
      /^request_count\{method="POST",endpoint="chatComplete",code="200",provider="[^"]*",source="gateway",stream="false",cacheStatus="[^"]*",model="sandbox-echo"\} 3$/m,
    );
    expect(text).toMatch(/^gw_request_duration_milliseconds_bucket\{.*le="\+Inf".*\} 3$/m);
    expect(text).toMatch(/^http_request_duration_seconds_count\{.*\} 3$/m);
    expect(text).toMatch(/^llm_token_sum\{.*\} [1-9]\d*$/m);
    expect(text).toMatch(/^node_process_resident_memory_bytes \d+$/m);
  });

  test('are shown to whoever holds the token alone', async () => {
    expect((await scrape('')).status).toBe(401);
    expect((await scrape('wrong-token-of-somebody')).status).toBe(401);
  });
});

test('a call with a W3C parent becomes a span below it, with one for its attempt', async () => {
  const trace = 'ab'.repeat(16);
  const parent = 'cd'.repeat(8);
  await chat({ traceparent: `00-${trace}-${parent}-01` });
  await gateway.app.services.logs.settled();
  while (!received.some(({ traceId }) => traceId === trace)) await Bun.sleep(20);
  const spans = received.filter(({ traceId }) => traceId === trace);
  const request = spans.find(({ name }) => name === 'chat sandbox-echo');
  const attempt = spans.find(({ name }) => name.startsWith('attempt'));
  expect(request?.parentSpanId).toBe(parent);
  expect(attempt?.parentSpanId).toBe(request?.spanId ?? '');
  expect(request?.attributes.get('gen_ai.operation.name')).toBe('chat');
  expect(Number(request?.attributes.get('gen_ai.usage.input_tokens'))).toBeGreaterThan(0);
  expect(JSON.stringify(received.map(({ attributes }) => [...attributes]))).not.toContain('canary');
});
