/** Spans of a real OpenTelemetry SDK, in protobuf and in JSON, become logs. */
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { SpanStatusCode } from '@opentelemetry/api';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-proto';
import { resourceFromAttributes } from '@opentelemetry/resources';
import { SimpleSpanProcessor, TracerProvider } from '@opentelemetry/sdk-trace';
import { startGateway, type TestGateway } from '../../test/harness.ts';
import { addKey, home } from '../../test/people.ts';

let gateway: TestGateway;
let key: string;
beforeAll(async () => {
  gateway = await startGateway();
  const place = await home(gateway);
  const scopes = ['logs.write', 'completions.write', 'logs.list'] as const;
  key = (await addKey(gateway, { ...place, type: 'workspace-service', scopes: [...scopes] })).secret;
});
afterAll(() => gateway.stopWithoutFaults());

const send = (body: unknown, headers: Record<string, string> = {}, kind = 'traces') =>
  gateway.ask('POST', `/v1/otel/v1/${kind}`, { key, body, headers });

test('an SDK exports a trace, which is read as a tree with tokens and cost', async () => {
  const exporter = new OTLPTraceExporter({ url: `${gateway.url}/v1/otel/v1/traces`, headers: { 'x-gw-api-key': key } });
  const provider = new TracerProvider({
    resource: resourceFromAttributes({ 'service.name': 'shop' }),
    spanProcessors: [new SimpleSpanProcessor({ exporter })],
  });
  const tracer = provider.getTracer('test');
  const root = tracer.startSpan('agent');
  const { trace, context } = await import('@opentelemetry/api');
  const within = trace.setSpan(context.active(), root);
  const chat = tracer.startSpan(
    'chat gpt-4o',
    {
      attributes: {
        'gen_ai.operation.name': 'chat',
        'gen_ai.provider.name': 'openai',
        'gen_ai.request.model': 'gpt-4o',
        'gen_ai.usage.input_tokens': 1000,
        'gen_ai.usage.output_tokens': 200,
        'gen_ai.response.finish_reasons': ['stop', 'length'],
        'gen_ai.input.messages': JSON.stringify([{ role: 'user', content: 'Hello otel' }]),
        'user.id': 'anna',
      },
    },
    within,
  );
  chat.end();
  const failed = tracer.startSpan('embeddings x', {}, within);
  failed.setStatus({ code: SpanStatusCode.ERROR, message: 'no such model' });
  failed.end();
  root.end();
  await provider.shutdown();
  await gateway.app.services.logs.settled();
  const { body } = await gateway.get(`/v1/logs/traces/${root.spanContext().traceId}`, { key });
  expect(body.spans).toHaveLength(3);
  expect(body.tree).toMatchObject([{ span_name: 'agent', children: [{}, {}] }]);
  const [row] = body.spans.filter(({ span_name }: { span_name: string }) => span_name === 'chat gpt-4o');
  expect(row).toMatchObject({ source: 'otel', ai_org: 'openai', ai_model: 'gpt-4o', req_units: 1000, res_units: 200 });
  expect(row.cost).toBeGreaterThan(0);
  expect(row['metadata.key']).toContain('_user');
  expect(row['metadata.value']).toContain('stop,length');
  const [error] = body.spans.filter(({ span_name }: { span_name: string }) => span_name === 'embeddings x');
  expect(error).toMatchObject({ response_status_code: 500, error_message: 'no such model' });
});

const span = (more: object = {}) => ({
  resourceSpans: [
    {
      resource: { attributes: [] },
      scopeSpans: [
        {
          spans: [
            {
              traceId: 'ab'.repeat(16),
              spanId: 'cd'.repeat(8),
              name: 'json span',
              startTimeUnixNano: String(BigInt(Date.now()) * 1_000_000n),
              endTimeUnixNano: String(BigInt(Date.now() + 50) * 1_000_000n),
              attributes: [{ key: 'n', value: { intValue: '5' } }],
              ...more,
            },
          ],
        },
      ],
    },
  ],
});

test('JSON is taken too, plain and in gzip', async () => {
  expect(await send(span())).toMatchObject({ status: 200, body: { partialSuccess: {} } });
  const packed = Bun.gzipSync(Buffer.from(JSON.stringify(span())));
  const response = await fetch(`${gateway.url}/otel/v1/traces`, {
    method: 'POST',
    headers: { 'x-gw-api-key': key, 'content-type': 'application/json', 'content-encoding': 'gzip' },
    body: packed,
  });
  expect(response.status).toBe(200);
  await gateway.app.services.logs.settled();
  const { body } = await gateway.get(`/v1/logs?trace_id=${'ab'.repeat(16)}`, { key });
  expect(body.total).toBe(2);
  expect(body.data[0]).toMatchObject({ response_time: 50, span_name: 'json span' });
});

test('log records are taken', async () => {
  const record = {
    timeUnixNano: String(BigInt(Date.now()) * 1_000_000n),
    severityNumber: 17,
    traceId: 'ef'.repeat(16),
    body: { stringValue: 'it broke' },
  };
  const { status } = await send({ resourceLogs: [{ scopeLogs: [{ logRecords: [record] }] }] }, {}, 'logs');
  expect(status).toBe(200);
  await gateway.app.services.logs.settled();
  const { body } = await gateway.get(`/v1/logs?trace_id=${'ef'.repeat(16)}`, { key });
  expect(body.data[0]).toMatchObject({ is_success: false, error_message: 'it broke', source: 'otel' });
});

test('what is too old is told as rejected, what is no message, too large or of another tenant is refused', async () => {
  expect((await send(span({ startTimeUnixNano: '1000000000000000' }))).body.partialSuccess.rejectedSpans).toBe(1);
  expect((await send('{')).status).toBe(400);
  expect(await send({ resourceSpans: 'x' })).toMatchObject({
    status: 400,
    body: { data: { errors: [{ path: 'resourceSpans' }] } },
  });
  expect((await send('not protobuf', { 'content-type': 'application/x-protobuf' })).status).toBe(400);
  const foreign = { attributes: [{ key: 'organisation_id', value: { stringValue: Bun.randomUUIDv7() } }] };
  const named = await send({ resourceSpans: [{ resource: foreign, scopeSpans: [] }] });
  expect([named.status, named.body.data.message]).toEqual([403, expect.stringContaining('organisation_id')]);
  const ofSpan = await send(
    span({ attributes: [{ key: 'gw.workspace.id', value: { stringValue: Bun.randomUUIDv7() } }] }),
  );
  expect([ofSpan.status, ofSpan.body.data.errors[0].path]).toEqual([403, 'attributes.gw.workspace.id']);
  const spans = Array.from({ length: 10_001 }, () => ({}));
  const tooMany = await send({ resourceSpans: [{ scopeSpans: [{ spans }] }] });
  expect([tooMany.status, tooMany.body.data.errors[0].path]).toEqual([400, 'resourceSpans']);
  const large = await fetch(`${gateway.url}/v1/otel/v1/traces`, {
    method: 'POST',
    headers: { 'x-gw-api-key': key, 'content-type': 'application/json' },
    body: new Uint8Array(50 * 1024 * 1024),
  });
  expect(large.status).toBe(413);
  expect((await gateway.ask('POST', '/v1/otel/v1/traces', { key: '', body: span() })).status).toBe(401);
  expect((await gateway.ask('POST', '/v1/otel/v1/traces', { body: span() })).status).toBe(403);
});
