/** The words that OpenTelemetry's conventions for generative AI have for what we know of a call. */
import type { Attributes } from '@opentelemetry/api';
import type { LogMetrics } from '../logs/record.ts';

/** The version of the conventions that the names below are of. */
export const conventions = '1.41.1';

/** The names that the conventions have for our kinds of endpoint. */
const operations: Readonly<Record<string, string>> = {
  chatComplete: 'chat',
  messages: 'chat',
  createModelResponse: 'chat',
  complete: 'text_completion',
  embed: 'embeddings',
  imageGenerate: 'generate_content',
  imageEdit: 'generate_content',
  imageVariation: 'generate_content',
  createSpeech: 'generate_content',
  agent: 'invoke_agent',
};

/** Well-known names of providers that have another id here. */
const providerNames: Readonly<Record<string, string>> = {
  'azure-openai': 'azure.ai.openai',
  'azure-ai': 'azure.ai.inference',
  bedrock: 'aws.bedrock',
  google: 'gcp.gemini',
  'mistral-ai': 'mistral_ai',
  moonshot: 'moonshot_ai',
  'perplexity-ai': 'perplexity',
  'vertex-ai': 'gcp.vertex_ai',
  watsonx: 'ibm.watsonx.ai',
  'x-ai': 'x_ai',
};

const isMcp = ({ mcp_method }: LogMetrics): boolean => mcp_method !== '';

export function operationOf(metrics: LogMetrics): string {
  if (isMcp(metrics)) return metrics.mcp_tool === '' ? metrics.mcp_method : 'execute_tool';
  return operations[metrics.endpoint_type] ?? metrics.endpoint_type;
}

/** `chat gpt-4o`, `tools/call search`, `invoke_agent travel`. */
export function nameOf(metrics: LogMetrics): string {
  if (isMcp(metrics)) return `${metrics.mcp_method} ${metrics.mcp_tool}`.trim();
  const target = metrics.endpoint_type === 'agent' ? metrics.virtual_key : metrics.ai_model;
  return `${operationOf(metrics)} ${target}`.trim();
}

/** Whose call it was: on every span. */
export const tenantAttributes = (metrics: LogMetrics): Attributes => ({
  'gw.organisation.id': metrics.organisation_id,
  'gw.workspace.id': metrics.workspace_id,
  'gw.workspace.slug': metrics.workspace_slug,
  ...(metrics.metadata._environment && { 'deployment.environment.name': metrics.metadata._environment }),
});

export function attemptAttributes(metrics: LogMetrics): Attributes {
  const host = URL.parse(metrics.request_url);
  return {
    'gen_ai.operation.name': operationOf(metrics),
    'gen_ai.provider.name': providerNames[metrics.ai_org] ?? metrics.ai_org,
    'gen_ai.system': metrics.ai_org,
    ...(isMcp(metrics) ? toolAttributes(metrics) : modelAttributes(metrics)),
    'http.response.status_code': metrics.response_status_code,
    ...tenantAttributes(metrics),
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

const modelAttributes = (metrics: LogMetrics): Attributes => ({
  ...(metrics.ai_model !== '' && {
    'gen_ai.request.model': metrics.ai_model,
    'gen_ai.response.model': metrics.ai_model,
  }),
  ...(metrics.endpoint_type === 'agent' && { 'gen_ai.agent.name': metrics.virtual_key }),
  // The conventions have it for streams alone.
  ...(metrics.stream_mode === 1 && { 'gen_ai.request.stream': true }),
  ...(metrics.first_token_time !== null && {
    'gen_ai.response.time_to_first_chunk': metrics.first_token_time / 1_000,
  }),
});

const toolAttributes = (metrics: LogMetrics): Attributes => ({
  'mcp.method.name': metrics.mcp_method,
  ...(metrics.mcp_tool !== '' && { 'gen_ai.tool.name': metrics.mcp_tool }),
  ...(metrics.mcp?.session_id && { 'mcp.session.id': metrics.mcp.session_id }),
});

export const callAttributes = (metrics: LogMetrics): Attributes => ({
  ...attemptAttributes(metrics),
  'gen_ai.usage.input_tokens': metrics.req_units,
  'gen_ai.usage.output_tokens': metrics.res_units,
  'gen_ai.usage.cache_read.input_tokens': metrics.cached_units,
  ...(metrics.reasoning_units > 0 && { 'gen_ai.usage.reasoning.output_tokens': metrics.reasoning_units }),
  'gw.cost.cents': metrics.cost,
  'gw.cache.status': metrics.cache_status ?? '',
  'gw.api_key.id': metrics.api_key_id,
  'gw.config': metrics.config,
  ...(metrics.metadata._user && { 'user.id': metrics.metadata._user }),
});

/** The words of the conventions for why a model stopped. */
const finishReasons: Readonly<Record<string, string>> = {
  tool_calls: 'tool_call',
  function_call: 'tool_call',
  tool_use: 'tool_call',
  end_turn: 'stop',
  stop_sequence: 'stop',
  completed: 'stop',
  max_tokens: 'length',
  max_output_tokens: 'length',
  refusal: 'content_filter',
  failed: 'error',
};

export const finishReason = (told: string): string => finishReasons[told] ?? told;
