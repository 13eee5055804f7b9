/** A forwarder that does only what no gateway with logs can leave out: it reads, parses, marks and logs what it forwards, and decides nothing. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { silentLog } from '../src/log.ts';
import { openLogs } from '../src/logs/logs.ts';
import type { LogMetrics } from '../src/logs/record.ts';

const [, , upstreamPort, mode] = process.argv;

const folder = mode === 'logging' ? mkdtempSync(join(tmpdir(), 'gw-bench-')) : null;
const logs =
  folder === null ? null : openLogs(folder, { failureThreshold: 5, backoffMs: 1_000, timeoutMs: 5_000 }, silentLog);
const decoder = new TextDecoder('utf-8', { fatal: true });
const ofOneConnection = new Set(['connection', 'content-length', 'transfer-encoding']);

/** What every record of the benchmark has in common. */
const alike: LogMetrics = {
  id: '',
  organisation_id: 'organisation',
  workspace_id: 'workspace',
  workspace_slug: 'workspace',
  api_key_id: 'key',
  user_id: null,
  created_at: 0,
  is_success: true,
  endpoint_type: 'chatComplete',
  ai_org: 'openai',
  ai_model: '',
  req_units: 0,
  res_units: 0,
  total_units: 0,
  cached_units: 0,
  reasoning_units: 0,
  usage_estimated: false,
  cost_known: true,
  cost: 0,
  request_url: `http://127.0.0.1:${upstreamPort}`,
  request_method: 'POST',
  response_status_code: 200,
  response_time: 0,
  upstream_response_time: 0,
  gateway_processing_time: 0,
  first_token_time: null,
  is_proxy_call: false,
  cache_status: 'DISABLED',
  cache_type: null,
  stream_mode: 0,
  retry_success_count: 0,
  trace_id: '',
  span_id: '',
  span_name: 'bench',
  parent_span_id: '',
  internal_trace_id: '',
  mode: 'single',
  virtual_key: '',
  integration_id: null,
  config: '',
  config_id: null,
  config_version_id: null,
  last_used_option_index: 0,
  last_used_option_path: 'config',
  source: 'gateway',
  runtime: '',
  runtime_version: '',
  sdk_version: '',
  error_message: null,
  ignored_config_keys: [],
  metadata: {},
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
};

const server = Bun.serve({
  hostname: '127.0.0.1',
  port: 0,
  idleTimeout: 0,
  async fetch(request) {
    const startedAt = performance.now();
    const id = Bun.randomUUIDv7();
    const { pathname } = new URL(request.url);
    const asked: Record<string, string> = request.headers.toJSON();
    const body = new Uint8Array(await request.arrayBuffer());
    const { model } = JSON.parse(decoder.decode(body)) as { model: string };
    const leaving = new AbortController();
    const response = await fetch(`http://127.0.0.1:${upstreamPort}${pathname}`, {
      method: request.method,
      headers: { 'content-type': asked['content-type'] ?? '', authorization: 'Bearer sk-bench' },
      body,
      signal: leaving.signal,
    });
    const headers: Record<string, string> = { 'x-request-id': id, 'x-model': model };
    const answered: Record<string, string> = response.headers.toJSON();
    for (const name in answered) if (!ofOneConnection.has(name)) headers[name] = answered[name] ?? '';
    const bytes = new Uint8Array(await response.arrayBuffer());
    const { usage } = JSON.parse(decoder.decode(bytes)) as { usage: { total_tokens: number } };
    headers['x-tokens'] = String(usage.total_tokens);
    const total_units = usage.total_tokens;
    const response_time = performance.now() - startedAt;
    logs?.append({
      metrics: { ...alike, id, created_at: Date.now(), ai_model: model, total_units, response_time, trace_id: id },
      bodies: {
        request: { headers: asked, body, contentType: asked['content-type'] ?? '' },
        response: { headers, body: bytes, contentType: headers['content-type'] ?? '' },
      },
    });
    return new Response(bytes, { status: response.status, headers });
  },
});

process.on('SIGTERM', async () => {
  await logs?.close();
  if (folder) rmSync(folder, { recursive: true, force: true });
  process.exit(0);
});
process.stdout.write(`listening at ${server.port}\n`);
