/** The fields that an export can hold, and a record as a line of its file. */
import { contentOf } from '../content.ts';
import type { KeptBodies, KeptMessage, LogMetrics } from '../record.ts';

type FieldOf = (metrics: LogMetrics, bodies: KeptBodies) => unknown;

export const exportFields = {
  id: (metrics) => metrics.id,
  trace_id: (metrics) => metrics.trace_id,
  created_at: (metrics) => new Date(metrics.created_at).toISOString(),
  request: (_, bodies) => shownBody(bodies.request),
  response: (_, bodies) => shownBody(bodies.response),
  is_success: (metrics) => metrics.is_success,
  ai_org: (metrics) => metrics.ai_org,
  ai_model: (metrics) => metrics.ai_model,
  req_units: (metrics) => metrics.req_units,
  res_units: (metrics) => metrics.res_units,
  total_units: (metrics) => metrics.total_units,
  request_url: (metrics) => metrics.request_url,
  cost: (metrics) => (metrics.cost_known ? metrics.cost : null),
  cost_currency: () => 'USD',
  response_time: (metrics) => Math.round(metrics.response_time),
  response_status_code: (metrics) => metrics.response_status_code,
  mode: (metrics) => metrics.mode,
  config: (metrics) => metrics.config,
  prompt_slug: (metrics) => metrics.prompt_slug,
  metadata: (metrics) => metrics.metadata,
  mcp_server: (metrics) => metrics.mcp_server ?? '',
  mcp_method: (metrics) => metrics.mcp_method ?? '',
  mcp_tool: (metrics) => metrics.mcp_tool ?? '',
} as const satisfies Record<string, FieldOf>;

export type ExportField = keyof typeof exportFields;
export const exportFieldNames = Object.keys(exportFields) as [ExportField, ...ExportField[]];

/** What settings can keep out of exports: everything but two fields that tell nothing of a call's content or cost. */
export const deniableFields: readonly string[] = exportFieldNames.filter(
  (field) => field !== 'is_success' && field !== 'mode',
);
export const isDeniable = (field: string): boolean => deniableFields.includes(field);

/** Other spellings of the product's examples. */
export const fieldAliases: Readonly<Record<string, ExportField>> = {
  ai_provider: 'ai_org',
  request_tokens: 'req_units',
  response_tokens: 'res_units',
  total_tokens: 'total_units',
  status_code: 'response_status_code',
};

export const needsBodies = (fields: readonly string[]): boolean =>
  fields.includes('request') || fields.includes('response');

export const exportLine = (metrics: LogMetrics, bodies: KeptBodies, fields: readonly ExportField[]): string =>
  `${JSON.stringify(Object.fromEntries(fields.map((field) => [field, (exportFields[field] as FieldOf)(metrics, bodies)])))}\n`;

function shownBody(message: KeptMessage | undefined): unknown {
  const content = message ? contentOf(message) : null;
  if (content?.form === 'json') return content.value;
  return content?.form === 'text' ? content.text : null;
}
