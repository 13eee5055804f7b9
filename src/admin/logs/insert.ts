/** Logs of calls that went past the gateway, handed in by whoever made them. */
import { z } from 'zod';
import { forbidden, notFound } from '../../http/errors.ts';
import { mayInWorkspace } from '../../identity/caller.ts';
import { lazy } from '../../lazy.ts';
import { foreignRecord } from '../../logs/foreign.ts';
import { maskedHeaders } from '../../logs/mask.ts';
import type { LogMessage } from '../../logs/record.ts';
import { createPricer } from '../../pricing/pricer.ts';
import { readResponseUsage, readUsage } from '../../providers/usage.ts';
import { endpoint } from '../kernel/endpoint.ts';

const mostAtOnce = 100;
const bodyLimit = 16 * 1024 * 1024;

const headers = z.record(z.string().max(200), z.string().max(8_192));
const longestText = 8 * 1024 * 1024;
const content = z.union(
  [z.record(z.string().max(1_000), z.unknown()), z.array(z.unknown()).max(100_000), z.string().max(longestText)],
  { error: 'must be an object, a list or a text' },
);

const customLog = lazy(() =>
  z.object({
    request: z.object({
      url: z.string().min(1).max(4_096),
      provider: z.string().max(255).optional(),
      method: z.string().max(10).optional(),
      headers: headers.optional(),
      body: content,
    }),
    response: z.object({
      status: z.int().min(100).max(599).optional(),
      headers: headers.optional(),
      body: content,
      response_time: z.number().min(0).max(1e9).optional().describe('In milliseconds'),
      time: z.number().min(0).max(1e9).optional().describe('Another spelling of response_time'),
      streamingMode: z.boolean().optional(),
    }),
    metadata: z
      .record(z.string().min(1).max(128), z.union([z.string().max(4_096), z.number(), z.boolean(), z.null()]))
      .optional()
      .describe('trace_id, span_id, span_name, parent_span_id, organization, user, and pairs of the caller'),
  }),
);

type CustomLog = z.output<ReturnType<typeof customLog>>;

export const insertLogs = endpoint({
  method: 'POST',
  path: '/logs',
  tag: 'Logs',
  summary: 'Hand in the logs of calls that were made elsewhere',
  description:
    'One log, or a list of up to 100: all are taken or none. Tokens and cost are read from the bodies. They count in analytics, and in no budget.',
  access: { callers: ['workspace-key', 'user-key'], scope: 'logs.write', level: 'workspace' },
  audit: 'none',
  bodyLimit,
  body: () => z.union([customLog(), z.array(customLog()).min(1).max(mostAtOnce)]),
  reply: () =>
    z.object({
      status: z.literal('success'),
      message: z.string(),
      log_ids: z.array(z.string()),
      object: z.literal('log'),
    }),
  async handle({ caller, body, workspace, now, services, exchange }) {
    if (!workspace || caller.kind === 'session') throw notFound('workspace');
    if (!mayInWorkspace(caller, 'completions.write', workspace.id)) {
      throw forbidden('This call needs the scope completions.write besides logs.write');
    }
    const pricer = createPricer(services.priceTable);
    const virtualKey = (exchange.headers.get('x-gw-virtual-key') ?? '').replace(/^@/, '');
    const records = [body]
      .flat()
      .map((log) => foreignRecord({ caller, workspace }, callOf(log, now.getTime(), virtualKey), pricer));
    for (const record of records) services.logs.append(record);
    return {
      status: 'success' as const,
      message: records.length === 1 ? 'The log was taken' : `${records.length} logs were taken`,
      log_ids: records.map(({ metrics }) => metrics.id),
      object: 'log' as const,
    };
  },
});

function callOf({ request, response, metadata = {} }: CustomLog, now: number, virtualKey: string) {
  const texts = Object.fromEntries(
    Object.entries(metadata).flatMap(([name, value]) => (value === null ? [] : [[name, String(value)]])),
  );
  const { trace_id, traceId, span_id, spanId, span_name, spanName, parent_span_id, parentSpanId, user, ...others } =
    texts;
  const status = response.status ?? 200;
  const model = fieldOf(request.body, 'model') || fieldOf(response.body, 'model');
  return {
    source: 'custom' as const,
    createdAt: now,
    provider: request.provider ?? '',
    model,
    usage: isFields(response.body) ? (readResponseUsage(response.body) ?? readUsage(response.body.usage)) : null,
    url: withoutQuery(request.url),
    method: (request.method ?? 'POST').toUpperCase(),
    status,
    responseTime: response.response_time ?? response.time ?? 0,
    streamed: response.streamingMode ?? false,
    traceId: trace_id ?? traceId ?? null,
    spanId: span_id ?? spanId ?? null,
    spanName: span_name ?? spanName ?? '',
    parentSpanId: parent_span_id ?? parentSpanId ?? '',
    virtualKey,
    endpointType: 'chatComplete' as const,
    errorMessage: status < 400 ? null : fieldOf(response.body, 'message') || JSON.stringify(response.body),
    metadata: { ...others, ...(user !== undefined && !('_user' in others) && { _user: user }) },
    bodies: { request: messageOf(request), response: messageOf(response) },
  };
}

const isFields = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

function fieldOf(body: unknown, name: string): string {
  const value = isFields(body) ? body[name] : undefined;
  return typeof value === 'string' ? value : '';
}

/** A query may hold keys. */
const withoutQuery = (url: string): string => url.split('?')[0] ?? '';

const messageOf = ({
  headers: sent = {},
  body,
}: {
  headers?: Record<string, string> | undefined;
  body: unknown;
}): LogMessage => ({
  headers: maskedHeaders(sent),
  contentType: typeof body === 'string' ? 'text/plain' : 'application/json',
  body: Buffer.from(typeof body === 'string' ? body : JSON.stringify(body)),
});
