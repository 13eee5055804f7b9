/** Calls as spans of OpenTelemetry: one for the request, one for each target that was tried, and one for each guardrail check. */
import { createHash, randomBytes } from 'node:crypto';
import { type Attributes, SpanKind, SpanStatusCode, TraceFlags } from '@opentelemetry/api';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-proto';
import { resourceFromAttributes } from '@opentelemetry/resources';
import { BatchSpanProcessor, type ReadableSpan, type SpanExporter } from '@opentelemetry/sdk-trace';
import type { LogMetrics, LogRecord } from '../logs/record.ts';
import { version } from '../version.ts';
import { attemptAttributes, callAttributes, conventions, nameOf, tenantAttributes } from './conventions.ts';
import { generationAttributes } from './generation.ts';
import { checkSpans } from './guardrail-spans.ts';
import type { TraceSettings } from './variables.ts';

interface SpanValues {
  traceId: string;
  spanId: string;
  parent: string | null;
  name: string;
  kind: SpanKind;
  startedAt: number;
  durationMs: number;
  attributes: Attributes;
  /** Null where nothing went wrong. */
  error: string | null;
}

export class CallSpans {
  readonly #settings: TraceSettings;
  readonly #processor: BatchSpanProcessor;
  readonly #resource: ReadableSpan['resource'];

  constructor(settings: TraceSettings, exporter: SpanExporter = exporterOf(settings)) {
    this.#settings = settings;
    this.#processor = new BatchSpanProcessor({ exporter });
    this.#resource = resourceFromAttributes({
      'service.name': settings.serviceName,
      'service.version': version,
      'otel.semconv.version': conventions,
      ...settings.attributes,
    });
  }

  observe(record: LogRecord): void {
    const { metrics, facts } = record;
    // What came from an exporter is not sent on.
    if (metrics.source === 'otel' || !this.#isSampled(metrics.trace_id, facts?.parentSampled ?? null)) return;
    const traceId = hexId(metrics.trace_id, 16);
    const answered = metrics.id === metrics.internal_trace_id;
    const request = answered ? hexId(metrics.span_id, 8) : hexId(metrics.parent_span_id, 8);
    const attempt = answered ? newSpanId() : hexId(metrics.span_id, 8);
    const began = facts?.beganMs ?? 0;
    const error = metrics.is_success ? null : (metrics.error_message ?? '');
    this.#emit({
      traceId,
      spanId: attempt,
      parent: request,
      name: `attempt ${metrics.ai_org}`,
      kind: SpanKind.CLIENT,
      startedAt: metrics.created_at + began,
      // The time of the target that answered counts from the request's arrival.
      durationMs: answered ? Math.max(0, metrics.response_time - began) : metrics.response_time,
      attributes: attemptAttributes(metrics),
      error,
    });
    this.#emitChecks(record, traceId, attempt);
    if (!answered) return;
    this.#emit({
      traceId,
      spanId: request,
      parent: metrics.parent_span_id === '' ? null : hexId(metrics.parent_span_id, 8),
      name: nameOf(metrics),
      kind: SpanKind.CLIENT,
      startedAt: metrics.created_at,
      durationMs: metrics.response_time,
      attributes: { ...callAttributes(metrics), ...generationAttributes(record, this.#settings.content) },
      error,
    });
  }

  /** Exports what waits. */
  async close(): Promise<void> {
    await this.#processor.shutdown();
  }

  #emitChecks({ metrics, facts }: LogRecord, traceId: string, parent: string): void {
    if (!facts?.hooks) return;
    for (const { attributes, ...check } of checkSpans(facts.hooks, metrics.guardrails?.soft_denied ?? false)) {
      this.#emit({
        ...check,
        traceId,
        spanId: newSpanId(),
        parent,
        kind: SpanKind.INTERNAL,
        attributes: { ...attributes, ...guardrailTenant(metrics) },
      });
    }
  }

  /** All spans of a trace are exported or none, on every node. */
  #isSampled(traceId: string, parentSampled: boolean | null): boolean {
    const { ratio, followsParent } = this.#settings;
    if (followsParent && parentSampled !== null) return parentSampled;
    if (ratio >= 1) return true;
    return Number.parseInt(hexId(traceId, 16).slice(-8), 16) / 2 ** 32 < ratio;
  }

  #emit({ traceId, spanId, parent, name, kind, startedAt, durationMs, attributes, error }: SpanValues): void {
    const context = (id: string) => ({ traceId, spanId: id, traceFlags: TraceFlags.SAMPLED });
    const readable: ReadableSpan = {
      name,
      kind,
      spanContext: () => context(spanId),
      ...(parent && { parentSpanContext: context(parent) }),
      startTime: hrTime(startedAt),
      endTime: hrTime(startedAt + durationMs),
      duration: hrTime(durationMs),
      ended: true,
      status: error === null ? { code: SpanStatusCode.UNSET } : { code: SpanStatusCode.ERROR, message: error },
      attributes,
      links: [],
      events: [],
      resource: this.#resource,
      instrumentationScope: { name: 'gw', version },
      droppedAttributesCount: 0,
      droppedEventsCount: 0,
      droppedLinksCount: 0,
    };
    this.#processor.onEnd(readable as Parameters<BatchSpanProcessor['onEnd']>[0]);
  }
}

const exporterOf = ({ url, headers, timeoutMs }: TraceSettings): SpanExporter =>
  new OTLPTraceExporter({
    url,
    headers: { ...headers },
    timeoutMillis: timeoutMs,
  });

const guardrailTenant = (metrics: LogMetrics): Attributes => ({
  ...tenantAttributes(metrics),
  'gw.request.id': metrics.internal_trace_id,
});

const newSpanId = (): string => randomBytes(8).toString('hex');

/** An id of the right form is kept; any other becomes one, the same each time. */
function hexId(id: string, bytes: number): string {
  const plain = id.toLowerCase();
  if (plain.length === 2 * bytes && /^[0-9a-f]+$/.test(plain) && !/^0+$/.test(plain)) return plain;
  return createHash('sha256')
    .update(id)
    .digest('hex')
    .slice(0, 2 * bytes);
}

const hrTime = (ms: number): [number, number] => {
  const seconds = Math.floor(ms / 1_000);
  return [seconds, Math.round((ms - seconds * 1_000) * 1e6)];
};
