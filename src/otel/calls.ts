/** Spans and log records of OpenTelemetry as calls of the log store, by the conventions for generative AI. */

import type { z } from 'zod';
import { readJson } from '../bounded-json.ts';
import type { ForeignCall } from '../logs/foreign.ts';
import type { LogMessage } from '../logs/record.ts';
import type { Usage } from '../providers/provider.ts';
import { noUsage } from '../providers/usage.ts';
import { type Attributes, attributesOf, type logsForm, millis, plainValue, type tracesForm } from './otlp.ts';

type Traces = z.output<ReturnType<typeof tracesForm>>;
type Logs = z.output<ReturnType<typeof logsForm>>;
type Span = NonNullable<
  NonNullable<NonNullable<Traces['resourceSpans']>[number]['scopeSpans']>[number]['spans']
>[number];
type Record = NonNullable<
  NonNullable<NonNullable<Logs['resourceLogs']>[number]['scopeLogs']>[number]['logRecords']
>[number];

/** Attributes that have a field of their own, or are too large for metadata. */
const known =
  /^gen_ai\.(usage\.|input\.messages|output\.messages|prompt|completion|system_instructions|tool\.definitions)/;
const inputs = ['gen_ai.input.messages', 'gen_ai.prompt', 'input.value', 'traceloop.entity.input'];
const outputs = ['gen_ai.output.messages', 'gen_ai.completion', 'output.value', 'traceloop.entity.output'];

const text = (attributes: Attributes, ...names: string[]): string => {
  for (const name of names) {
    const value = attributes.get(name);
    if (typeof value === 'string' && value !== '') return value;
  }
  return '';
};

const count = (attributes: Attributes, ...names: string[]): number => {
  for (const name of names) {
    const value = Number(attributes.get(name));
    if (Number.isFinite(value) && value > 0) return value;
  }
  return 0;
};

export const callsOfTraces = ({ resourceSpans = [] }: Traces, now: number): ForeignCall[] =>
  resourceSpans.flatMap(({ resource, scopeSpans = [] }) =>
    scopeSpans.flatMap(({ spans = [] }) =>
      spans.map((span) => callOfSpan(span, attributesOf(resource?.attributes, span.attributes), now)),
    ),
  );

export const callsOfLogs = ({ resourceLogs = [] }: Logs, now: number): ForeignCall[] =>
  resourceLogs.flatMap(({ resource, scopeLogs = [] }) =>
    scopeLogs.flatMap(({ logRecords = [] }) =>
      logRecords.map((record) => callOfRecord(record, attributesOf(resource?.attributes, record.attributes), now)),
    ),
  );

/** The attributes of each resource, which say who sent it. */
export const resourcesOf = (parts: Traces['resourceSpans'] | Logs['resourceLogs']): Attributes[] =>
  (parts ?? []).map(({ resource }) => attributesOf(resource?.attributes));

function callOfSpan(span: Span, attributes: Attributes, now: number): ForeignCall {
  const begun = millis(span.startTimeUnixNano) ?? now;
  const ended = millis(span.endTimeUnixNano) ?? begun;
  const failed = span.status?.code === 2 || span.status?.code === 'STATUS_CODE_ERROR';
  return {
    ...common(attributes, failed),
    createdAt: Math.floor(begun),
    responseTime: Math.max(0, ended - begun),
    traceId: span.traceId || null,
    spanId: span.spanId || null,
    spanName: span.name ?? '',
    parentSpanId: span.parentSpanId ?? '',
    errorMessage: failed
      ? span.status?.message || text(attributes, 'error.type') || 'The span ended with an error'
      : null,
    bodies: {
      ...messageFrom('request', attributes, inputs),
      ...messageFrom('response', attributes, outputs),
    },
  };
}

const errorSeverity = 17;

function callOfRecord(record: Record, attributes: Attributes, now: number): ForeignCall {
  const failed = Number(record.severityNumber ?? 0) >= errorSeverity;
  const body = plainValue(record.body);
  return {
    ...common(attributes, failed),
    createdAt: Math.floor(millis(record.timeUnixNano) ?? millis(record.observedTimeUnixNano) ?? now),
    responseTime: 0,
    traceId: record.traceId || null,
    spanId: null,
    spanName: record.eventName ?? text(attributes, 'event.name'),
    // A record belongs to the span in which it was written.
    parentSpanId: record.spanId ?? '',
    errorMessage: failed ? (typeof body === 'string' ? body : JSON.stringify(body)) : null,
    bodies: body === null ? {} : { response: jsonMessage(body) },
  };
}

function common(attributes: Attributes, failed: boolean) {
  const status = count(attributes, 'http.response.status_code', 'http.status_code');
  const url = text(attributes, 'url.full', 'http.url') || text(attributes, 'server.address');
  return {
    source: 'otel' as const,
    provider: text(attributes, 'gen_ai.provider.name', 'gen_ai.system'),
    model: text(attributes, 'gen_ai.response.model', 'gen_ai.request.model'),
    usage: usageOf(attributes),
    url: url.split('?')[0] ?? '',
    method: text(attributes, 'http.request.method') || 'POST',
    status: status >= 100 && status <= 599 ? status : failed ? 500 : 200,
    streamed: attributes.get('gen_ai.request.stream') === true,
    virtualKey: '',
    endpointType: kindOf(text(attributes, 'gen_ai.operation.name')),
    metadata: metadataOf(attributes),
  };
}

const kindOf = (operation: string): ForeignCall['endpointType'] =>
  operation === 'embeddings' ? 'embed' : operation === 'text_completion' ? 'complete' : 'chatComplete';

function usageOf(attributes: Attributes): Usage | null {
  const inputTokens = count(attributes, 'gen_ai.usage.input_tokens', 'gen_ai.usage.prompt_tokens');
  const outputTokens = count(attributes, 'gen_ai.usage.output_tokens', 'gen_ai.usage.completion_tokens');
  if (inputTokens + outputTokens === 0) return null;
  const cacheReadTokens = count(
    attributes,
    'gen_ai.usage.cache_read.input_tokens',
    'gen_ai.usage.cache_read_input_tokens',
  );
  return { ...noUsage, inputTokens, outputTokens, cacheReadTokens };
}

/** Every other attribute as a text; lists are joined. */
function metadataOf(attributes: Attributes): Readonly<{ [name: string]: string }> {
  const pairs: [string, string][] = [];
  for (const [name, value] of attributes) {
    if (known.test(name) || inputs.includes(name) || outputs.includes(name) || value === null) continue;
    pairs.push([name, typeof value === 'object' ? flattened(value) : String(value)]);
  }
  const user = text(attributes, 'user.id', 'enduser.id', 'gen_ai.user');
  return { ...(user && { _user: user }), ...Object.fromEntries(pairs) };
}

const flattened = (value: object): string =>
  Array.isArray(value) && value.every((item) => typeof item !== 'object') ? value.join(',') : JSON.stringify(value);

function messageFrom(slot: 'request' | 'response', attributes: Attributes, names: readonly string[]) {
  for (const name of names) {
    const value = attributes.get(name);
    if (value === undefined || value === null) continue;
    return { [slot]: jsonMessage(parsed(value)) };
  }
  return {};
}

/** Some senders write the messages as a JSON text. */
function parsed(value: unknown): unknown {
  if (typeof value !== 'string') return { messages: value };
  try {
    return { messages: readJson(value) };
  } catch {
    return { messages: [{ role: 'user', content: value }] };
  }
}

const jsonMessage = (body: unknown): LogMessage => ({
  headers: {},
  contentType: 'application/json',
  body: Buffer.from(JSON.stringify(body)),
});
