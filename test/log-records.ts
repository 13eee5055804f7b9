/** Records of calls, as the data plane hands them to the log. */
import type { LogMessage, LogMetrics, LogRecord } from '../src/logs/record.ts';
import { Frames } from '../src/logs/segment.ts';

export const jsonMessage = (body: unknown, headers: Record<string, string> = {}): LogMessage => ({
  headers: { 'content-type': 'application/json', ...headers },
  contentType: 'application/json',
  body: Buffer.from(JSON.stringify(body)),
});

export const message = (contentType: string, body: Uint8Array, headers: Record<string, string> = {}): LogMessage => ({
  headers: { 'content-type': contentType, ...headers },
  contentType,
  body,
});

/** A chat call that went well, with its bodies. */
export function logRecord(
  metrics: Partial<LogMetrics> = {},
  bodies: LogRecord['bodies'] = {
    request: jsonMessage(
      { model: 'gpt-4o-mini', messages: [{ role: 'user', content: 'What is the capital of France? 🇫🇷' }] },
      { 'x-gw-api-key': '***1234' },
    ),
    transformedRequest: null,
    finalRequest: null,
    response: jsonMessage({ id: 'chatcmpl-1', choices: [{ message: { role: 'assistant', content: 'Paris.' } }] }),
    originalResponse: null,
  },
): LogRecord {
  return {
    metrics: {
      id: Bun.randomUUIDv7(),
      organisation_id: 'organisation-1',
      workspace_id: 'workspace-1',
      workspace_slug: 'default',
      api_key_id: 'key-1',
      user_id: null,
      created_at: Date.now(),
      is_success: true,
      endpoint_type: 'chatComplete',
      ai_org: 'openai',
      ai_model: 'gpt-4o-mini',
      req_units: 12,
      res_units: 3,
      total_units: 15,
      cached_units: 0,
      reasoning_units: 0,
      usage_estimated: false,
      cost_known: true,
      cost: 0.00036,
      request_url: 'https://api.openai.com/v1/chat/completions',
      request_method: 'POST',
      response_status_code: 200,
      response_time: 812.345,
      upstream_response_time: 811.5,
      gateway_processing_time: 0.845,
      first_token_time: null,
      is_proxy_call: false,
      cache_status: 'MISS',
      cache_type: 'simple',
      stream_mode: 0,
      retry_success_count: 0,
      trace_id: 'trace-1',
      span_id: 'span-1',
      span_name: 'chat',
      parent_span_id: '',
      internal_trace_id: 'internal-1',
      mode: 'single',
      virtual_key: 'openai-main',
      integration_id: null,
      config: 'pc-main',
      config_id: 'config-1',
      config_version_id: 'version-1',
      last_used_option_index: 0,
      last_used_option_path: '$.config.targets[0]',
      source: 'gateway',
      runtime: 'node',
      runtime_version: '24.1.0',
      sdk_version: '1.0.0',
      error_message: null,
      ignored_config_keys: ['retries'],
      metadata: { _user: 'anna', environment: 'prod' },
      prompt_id: null,
      prompt_version_id: null,
      prompt_slug: '',
      saved_cost: 0,
      attempt: null,
      mcp_server: '',
      mcp_method: '',
      mcp_tool: '',
      mcp: null,
      timings: null,
      guardrails: null,
      ...metrics,
    },
    bodies,
  };
}

/** A segment with a frame for each batch. */
export function segmentOf(...batches: LogRecord[][]): Buffer {
  const frames = new Frames();
  for (const batch of batches) frames.add(batch);
  return frames.bytes;
}
