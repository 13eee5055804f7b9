/** A log as the service shows it. */
import { z } from 'zod';
import { lazy } from '../../lazy.ts';
import { pathFormats } from '../../logs/objects/path.ts';

const text = lazy(() => z.string());
const time = lazy(() => z.int().nullable().describe('In milliseconds; null where it was not measured'));
const part = lazy(() => z.number().nullable());

export const metricsSchema = lazy(() =>
  z.object({
    id: text(),
    organisation_id: text(),
    organisation_name: text(),
    workspace_slug: text().nullable(),
    api_key_id: text(),
    user_id: text().nullable(),
    created_at: text(),
    is_success: z.boolean(),
    endpoint_type: text(),
    ai_org: text(),
    ai_model: text(),
    req_units: z.number(),
    res_units: z.number(),
    total_units: z.number(),
    cached_units: z.number(),
    reasoning_units: z.number(),
    usage_estimated: z.boolean().describe('True where the provider reported no usage and the figures are ours'),
    cost: z.number().describe('In US cents; 0 where it is not known'),
    cost_known: z.boolean().describe('False where something was used that has no known price'),
    saved_cost: z.number().describe('What an answer from the cache would have cost, in US cents'),
    cost_currency: z.literal('USD'),
    request_url: text(),
    request_method: text(),
    response_status_code: z.int(),
    response_time: z.int(),
    first_token_time: time(),
    request_parsing_time: part().describe('Until the caller was known, the config chosen and the body read'),
    pre_processing_time: part().describe('From there until the request to the provider was ready'),
    cache_processing_time: part().describe('Asking the cache'),
    response_parsing_time: part().describe('Translating a whole answer'),
    gateway_processing_time: time(),
    upstream_response_time: time(),
    is_proxy_call: z.boolean(),
    cache_status: text().nullable(),
    cache_type: text().nullable(),
    stream_mode: z.int(),
    retry_success_count: z.int(),
    trace_id: text(),
    span_id: text(),
    span_name: text(),
    parent_span_id: text(),
    internal_trace_id: text(),
    mode: text(),
    virtual_key: text(),
    integration_id: text().nullable(),
    config: text(),
    config_id: text().nullable(),
    config_version_id: text().nullable(),
    last_used_option_index: z.int(),
    guardrail_verdict: z.boolean().nullable().describe('False where a guardrail failed; null where none ran'),
    guardrail_denied: z.boolean(),
    guardrail_soft_denied: z.boolean().describe('The refusal was answered with 200'),
    prompt_id: text().nullable(),
    prompt_version_id: text().nullable(),
    prompt_slug: text().nullable(),
    mcp_server: text().nullable().describe('The MCP server that was called'),
    mcp_method: text().nullable().describe('The JSON-RPC method of an MCP message'),
    mcp_tool: text().nullable(),
    mcp: z
      .object({
        server_id: text(),
        auth_type: text(),
        scope: text(),
        principal: text(),
        session_id: text().nullable(),
        client_name: text(),
        client_version: text(),
        upstream_token_refreshed: z.boolean(),
      })
      .nullable()
      .describe('What else is known of an MCP message; null for all other calls'),
    source: text(),
    runtime: text(),
    runtime_version: text(),
    sdk_version: text(),
    log_store_file_path_format: z.enum(pathFormats).describe('The form of the path of its bodies in an object store'),
    error_message: text().nullable(),
    ignored_config_keys: z.array(text()),
    attempt: z
      .object({
        rule: text().describe('The rule that chose this target'),
        after: z
          .array(z.object({ path: text(), provider: text(), status: z.int(), reason: text() }))
          .describe('The targets that were tried before it, and why each did not do'),
        retries: z
          .array(z.object({ status: z.int(), wait_ms: z.number() }))
          .describe('Its answers that were retried, and how long each retry waited'),
        waited_ms: z.number(),
      })
      .nullable()
      .describe('Why this target was tried; null for logs that no router made'),
    'metadata.key': z.array(text()),
    'metadata.value': z.array(text()),
  }),
);

const headers = lazy(() => z.record(z.string(), z.string()));
const body = lazy(() =>
  z
    .unknown()
    .describe('JSON as it is, other text as a string; what is neither, or too large to keep, as its type and size'),
);
const message = lazy(() => z.object({ headers: headers().optional(), body: body().optional() }));

export const feedbackSchema = lazy(() =>
  z.object({
    id: text(),
    value: z.number(),
    weight: z.number(),
    metadata: z.record(z.string(), z.string()),
    created_at: text(),
  }),
);

const hookResult = lazy(() =>
  z
    .looseObject({ id: text(), verdict: z.boolean(), deny: z.boolean() })
    .describe('One guardrail: its verdict, its checks, its feedback'),
);

export const hookResultsSchema = lazy(() =>
  z.object({
    before_request_hooks: z.array(hookResult()).default([]),
    after_request_hooks: z.array(hookResult()).default([]),
  }),
);

export const logSchema = lazy(() =>
  z.object({
    _id: text(),
    organisation_id: text(),
    created_at: text(),
    request: message().extend({ url: text(), method: text(), gwHeaders: headers() }).optional(),
    response: message().extend({ status: z.int(), responseTime: z.int(), lastUsedOptionJsonPath: text() }).optional(),
    finalUntransformedRequest: message().extend({ url: text(), method: text() }).optional(),
    transformedRequest: message().extend({ url: text(), method: text() }).optional(),
    originalResponse: message().extend({ url: text(), method: text() }).optional(),
    hook_results: hookResultsSchema().optional().describe('What guardrails said, sync and async ones'),
    feedbacks: z.array(feedbackSchema()).optional().describe('The feedback on the trace of the call'),
    metrics: metricsSchema(),
    log_format: z
      .enum(['json', 'text', 'omitted', 'none'])
      .optional()
      .describe('How the body of the response is shown'),
    bodies_error: text()
      .optional()
      .describe('Why bodies that were kept are not shown: the object store lacks them, or does not answer'),
  }),
);

export type LogReply = z.input<ReturnType<typeof logSchema>>;
