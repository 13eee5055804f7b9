/** Makes a kept record into the log that the service shows. */
import type { z } from 'zod';
import { contentOf, type LoggedContent } from '../../logs/content.ts';
import { formatOf } from '../../logs/objects/path.ts';
import type { Feedback } from '../../logs/query.ts';
import type { KeptMessage, KeptRecord, LogMetrics } from '../../logs/record.ts';
import { hookResultsSchema, type LogReply, type metricsSchema } from './schema.ts';

export function showLog(
  record: KeptRecord,
  feedback: readonly Feedback[],
  organisationName: string,
  withBodies: boolean,
): LogReply {
  const { metrics, bodies } = record;
  const known = {
    _id: metrics.id,
    organisation_id: metrics.organisation_id,
    created_at: new Date(metrics.created_at).toISOString(),
    metrics: {
      ...showMetrics(metrics, organisationName),
      ...(record.object && { log_store_file_path_format: formatOf(record.object) }),
    },
  };
  if (!withBodies) return known;
  const address = { url: metrics.request_url, method: metrics.request_method };
  const { request, response, transformedRequest, originalResponse, hookResults, finalRequest } = bodies;
  return {
    ...known,
    request: { ...address, gwHeaders: ownHeaders(request), ...showMessage(request) },
    response: {
      status: metrics.response_status_code,
      responseTime: Math.round(metrics.response_time),
      lastUsedOptionJsonPath: metrics.last_used_option_path,
      ...showMessage(response),
    },
    ...(finalRequest && { finalUntransformedRequest: { ...address, ...showMessage(finalRequest) } }),
    ...(transformedRequest && { transformedRequest: { ...address, ...showMessage(transformedRequest) } }),
    ...(originalResponse && { originalResponse: { ...address, ...showMessage(originalResponse) } }),
    ...(hookResults && { hook_results: shownResults(hookResults) }),
    feedbacks: feedback.map(showFeedback),
    log_format: response ? contentOf(response).form : 'none',
    ...(record.bodiesFault && { bodies_error: record.bodiesFault.message }),
  };
}

export const showFeedback = ({ id, value, weight, metadata, created_at }: Feedback) => ({
  id,
  value,
  weight,
  metadata,
  created_at: new Date(created_at).toISOString(),
});

/** JSON of our own. */
function shownResults(message: KeptMessage): LogReply['hook_results'] {
  const content = contentOf(message);
  return hookResultsSchema().parse(content.form === 'json' ? content.value : {});
}

function showMessage(message: KeptMessage | undefined) {
  if (!message) return {};
  const content = contentOf(message);
  return { headers: message.headers, ...(content.form !== 'none' && { body: showContent(content, message) }) };
}

function showContent(content: Exclude<LoggedContent, { form: 'none' }>, { contentType }: KeptMessage): unknown {
  if (content.form === 'json') return content.value;
  if (content.form === 'text') return content.text;
  return { omitted: true, content_type: contentType, size: content.size };
}

const ownHeaders = (request: KeptMessage | undefined): Record<string, string> =>
  Object.fromEntries(Object.entries(request?.headers ?? {}).filter(([name]) => name.startsWith('x-gw-')));

export function showMetrics(metrics: LogMetrics, organisationName: string): z.input<ReturnType<typeof metricsSchema>> {
  const {
    workspace_id: _,
    last_used_option_path: __,
    metadata,
    ignored_config_keys,
    attempt,
    timings,
    mcp,
    guardrails,
    ...same
  } = metrics;
  return {
    ...same,
    organisation_name: organisationName,
    created_at: new Date(metrics.created_at).toISOString(),
    cost_currency: 'USD',
    response_time: Math.round(metrics.response_time),
    first_token_time: rounded(metrics.first_token_time),
    gateway_processing_time: rounded(metrics.gateway_processing_time),
    upstream_response_time: rounded(metrics.upstream_response_time),
    request_parsing_time: timings?.request_parsing ?? null,
    pre_processing_time: timings?.pre_processing ?? null,
    cache_processing_time: timings?.cache_processing ?? null,
    response_parsing_time: timings?.response_parsing ?? null,
    guardrail_verdict: guardrails?.verdict ?? null,
    guardrail_denied: guardrails?.denied ?? false,
    guardrail_soft_denied: guardrails?.soft_denied ?? false,
    prompt_slug: metrics.prompt_slug || null,
    mcp_server: metrics.mcp_server || null,
    mcp_method: metrics.mcp_method || null,
    mcp_tool: metrics.mcp_tool || null,
    mcp: mcp ?? null,
    log_store_file_path_format: 'v1',
    ignored_config_keys: [...ignored_config_keys],
    attempt: attempt && { ...attempt, after: [...attempt.after], retries: [...attempt.retries] },
    'metadata.key': Object.keys(metadata),
    'metadata.value': Object.values(metadata),
  };
}

const rounded = (ms: number | null): number | null => (ms === null ? null : Math.round(ms));
