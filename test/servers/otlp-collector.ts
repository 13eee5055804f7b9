/** A place that takes traces over OTLP, and OpenTelemetry's own classes to read what came. */
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { z } from 'zod';
import { decodeProtobuf } from '../../src/otel/otlp.ts';

/** `.ci/run` installs the classes into a virtual environment there. */
const python = [process.env.GW_TEST_OTEL_PYTHON ?? '', join(homedir(), '.cache/gw-otel/bin/python')].find(
  (path) => path !== '' && existsSync(path),
);

/** False where they are not installed; tests that need them are then skipped by name. */
export const otlpReaderInstalled =
  python !== undefined &&
  spawnSync(python, ['-c', 'import opentelemetry.proto.collector.trace.v1.trace_service_pb2']).status === 0;

export interface ReceivedSpan {
  traceId: string;
  spanId: string;
  parentSpanId: string;
  name: string;
  attributes: Map<string, unknown>;
}

export interface Collector {
  url: string;
  /** Every message as it came. */
  messages: Uint8Array[];
  spans: ReceivedSpan[];
  /** Waits until there is such a span. */
  until(is: (span: ReceivedSpan) => boolean): Promise<ReceivedSpan>;
  stop(): Promise<void>;
}

interface WireSpan {
  traceId: Uint8Array;
  spanId: Uint8Array;
  parentSpanId?: Uint8Array;
  name: string;
  attributes: { key: string; value: Record<string, unknown> }[];
}

const hex = (bytes: Uint8Array | undefined) => Buffer.from(bytes ?? []).toString('hex');

export function startCollector(): Collector {
  const messages: Uint8Array[] = [];
  const spans: ReceivedSpan[] = [];
  const server = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    async fetch(request) {
      const bytes = await request.bytes();
      messages.push(bytes);
      spans.push(...spansIn(bytes));
      return new Response(new Uint8Array(), { headers: { 'content-type': 'application/x-protobuf' } });
    },
  });
  return {
    url: `http://127.0.0.1:${server.port}`,
    messages,
    spans,
    async until(is) {
      for (;;) {
        const found = spans.find(is);
        if (found) return found;
        await Bun.sleep(10);
      }
    },
    stop: () => server.stop(true),
  };
}

function spansIn(bytes: Uint8Array): ReceivedSpan[] {
  const { resourceSpans } = decodeProtobuf('Traces', bytes) as {
    resourceSpans: { scopeSpans: { spans: WireSpan[] }[] }[];
  };
  return resourceSpans
    .flatMap(({ scopeSpans }) => scopeSpans)
    .flatMap(({ spans }) => spans)
    .map((span) => ({
      traceId: hex(span.traceId),
      spanId: hex(span.spanId),
      parentSpanId: hex(span.parentSpanId),
      name: span.name,
      attributes: new Map(span.attributes.map(({ key, value }) => [key, Object.values(value)[0]])),
    }));
}

const officialSpan = z.object({
  traceId: z.string(),
  spanId: z.string(),
  parentSpanId: z.string().optional(),
  name: z.string(),
  kind: z.string(),
  startTimeUnixNano: z.string(),
  endTimeUnixNano: z.string(),
  attributes: z.array(z.object({ key: z.string(), value: z.record(z.string(), z.unknown()) })),
  status: z.object({ code: z.string().optional(), message: z.string().optional() }).optional(),
});
const officialMessages = z.array(
  z.object({ resourceSpans: z.array(z.object({ scopeSpans: z.array(z.object({ spans: z.array(officialSpan) })) })) }),
);

/** The spans of these messages, read by the classes that OpenTelemetry publishes. */
export function officialSpans(messages: readonly Uint8Array[]): z.output<typeof officialSpan>[] {
  if (!python) throw new Error('opentelemetry-proto is not installed');
  const input = messages.map((bytes) => Buffer.from(bytes).toString('base64')).join('\n');
  const { status, stdout, stderr } = spawnSync(python, [join(import.meta.dir, 'otlp-reader.py')], {
    input,
    encoding: 'utf8',
    maxBuffer: 64 * 1024 * 1024,
  });
  if (status !== 0) throw new Error(`The messages cannot be read: ${stderr}`);
  return officialMessages
    .parse(JSON.parse(stdout))
    .flatMap(({ resourceSpans }) => resourceSpans)
    .flatMap(({ scopeSpans }) => scopeSpans)
    .flatMap(({ spans }) => spans);
}
