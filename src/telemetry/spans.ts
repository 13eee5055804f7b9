/** Calls as spans of OpenTelemetry, by its conventions for generative AI: one for the request, and one for each target that was tried. */
import { createHash, randomBytes } from 'node:crypto';
import { type Attributes, SpanKind, SpanStatusCode, TraceFlags } from '@opentelemetry/api';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-proto';
import { resourceFromAttributes } from '@opentelemetry/resources';
import { BatchSpanProcessor, type ReadableSpan, type SpanExporter } from '@opentelemetry/sdk-trace';
import { contentOf } from '../logs/content.ts';
import type { LogMessage, LogMetrics, LogRecord } from '../logs/record.ts';
import { version } from '../version.ts';
import type { TraceSettings } from './variables.ts';

/** The names that the conventions have for our kinds of endpoint. */
const operations: Readonly<Record<string, string>> = {
  chatComplete: 'chat',
  messages: 'chat',
  createModelResponse: 'chat',
  complete: 'text_completion',
  embed: 'embeddings',
  imageGenerate: 'generate_content',
};

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
      'otel.semconv.version': '1.40.0',
      ...settings.attributes,
    });
  }

  observe(record: LogRecord): void {
    const { metrics } = record;
    // What came from an exporter is not sent on.
    if (metrics.source === 'otel' || !this.#isSampled(metrics.trace_id)) return;
    const traceId = hexId(metrics.trace_id, 16);
    const answered = metrics.id === metrics.internal_trace_id;
    const request = answered ? hexId(metrics.span_id, 8) : hexId(metrics.parent_span_id, 8);
    const attempt = answered ? randomBytes(8).toString('hex') : hexId(metrics.span_id, 8);
    this.#emit(metrics, {
      traceId,
      spanId: attempt,
      parent: request,
      name: `attempt ${metrics.ai_org}`,
      attributes: attemptAttributes(metrics),
    });
    if (!answered) return;
    const parent = metrics.parent_span_id === '' ? null : hexId(metrics.parent_span_id, 8);
    const name = `${operationOf(metrics)} ${metrics.ai_model}`.trim();
    const attributes = { ...callAttributes(metrics), ...(this.#settings.content && contentAttributes(record)) };
    this.#emit(metrics, { traceId, spanId: request, parent, name, attributes });
  }

  /** Exports what waits. */
  async close(): Promise<void> {
    await this.#processor.shutdown();
  }

  /** All spans of a trace are exported or none, on every node. */
  #isSampled(traceId: string): boolean {
    const { ratio } = this.#settings;
    if (ratio >= 1) return true;
    return Number.parseInt(hexId(traceId, 16).slice(-8), 16) / 2 ** 32 < ratio;
  }

  #emit(
    metrics: LogMetrics,
    span: { traceId: string; spanId: string; parent: string | null; name: string; attributes: Attributes },
  ): void {
    const { traceId, spanId, parent, name, attributes } = span;
    const context = (id: string) => ({ traceId, spanId: id, traceFlags: TraceFlags.SAMPLED });
    const end = metrics.created_at + metrics.response_time;
    const readable: ReadableSpan = {
      name,
      kind: SpanKind.CLIENT,
      spanContext: () => context(spanId),
      ...(parent && { parentSpanContext: context(parent) }),
      startTime: hrTime(metrics.created_at),
      endTime: hrTime(end),
      duration: hrTime(metrics.response_time),
      ended: true,
      status: metrics.is_success
        ? { code: SpanStatusCode.UNSET }
        : { code: SpanStatusCode.ERROR, message: metrics.error_message ?? '' },
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

const exporterOf = ({ url, headers }: TraceSettings): SpanExporter =>
  new OTLPTraceExporter({ url, headers: { ...headers } });

const operationOf = ({ endpoint_type }: LogMetrics): string => operations[endpoint_type] ?? endpoint_type;

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

function callAttributes(metrics: LogMetrics): Attributes {
  return {
    ...attemptAttributes(metrics),
    'gen_ai.usage.input_tokens': metrics.req_units,
    'gen_ai.usage.output_tokens': metrics.res_units,
    'gen_ai.usage.cache_read.input_tokens': metrics.cached_units,
    'gw.cost.cents': metrics.cost,
    'gw.cache.status': metrics.cache_status ?? '',
    'gw.api_key.id': metrics.api_key_id,
    'gw.config': metrics.config,
    ...(metrics.metadata._user && { 'user.id': metrics.metadata._user }),
  };
}

function attemptAttributes(metrics: LogMetrics): Attributes {
  const host = URL.parse(metrics.request_url);
  return {
    'gen_ai.operation.name': operationOf(metrics),
    'gen_ai.provider.name': metrics.ai_org,
    'gen_ai.system': metrics.ai_org,
    'gen_ai.request.model': metrics.ai_model,
    'gen_ai.response.model': metrics.ai_model,
    'gen_ai.request.stream': metrics.stream_mode === 1,
    'http.response.status_code': metrics.response_status_code,
    'gw.organisation.id': metrics.organisation_id,
    'gw.workspace.id': metrics.workspace_id,
    'gw.workspace.slug': metrics.workspace_slug,
    'gw.request.id': metrics.internal_trace_id,
    'gw.target.path': metrics.last_used_option_path,
    'gw.retry.count': metrics.retry_success_count,
    ...(metrics.attempt && {
      'gw.attempt.rule': metrics.attempt.rule,
      'gw.attempt.waited_ms': metrics.attempt.waited_ms,
    }),
    ...(host && {
      'server.address': host.hostname,
      'server.port': Number(host.port) || (host.protocol === 'https:' ? 443 : 80),
    }),
    ...(metrics.response_status_code >= 300 && { 'error.type': String(metrics.response_status_code) }),
  };
}

const longestContent = 32_768;

/** What was asked and answered, as JSON texts. */
const contentAttributes = ({ bodies: { request, response } }: LogRecord): Attributes => ({
  ...(request && { 'gen_ai.input.messages': textOf(request) }),
  ...(response && { 'gen_ai.output.messages': textOf(response) }),
});

function textOf(message: LogMessage): string {
  const content = contentOf({ ...message, size: message.size ?? message.body?.length ?? 0 });
  if (content.form === 'json') return JSON.stringify(content.value).slice(0, longestContent);
  return content.form === 'text' ? content.text.slice(0, longestContent) : '';
}
