/** Thirty days of believable calls: days and nights, errors, retries, fallbacks, cache hits, and what was said. */
import { join } from 'node:path';
import { exactCents } from '../../src/logs/cents.ts';
import { EmbeddedWriter } from '../../src/logs/embedded/writer.ts';
import type { LogMessage, LogMetrics, LogRecord } from '../../src/logs/record.ts';
import { Frames, framesIn } from '../../src/logs/segment.ts';
import { createPricer } from '../../src/pricing/pricer.ts';
import { noUsage } from '../../src/providers/usage.ts';
import { SeededRandom } from './random.ts';
import type { DemoPlace } from './start.ts';

const day = 86_400_000;
const days = 30;
const perFrame = 16;
const framesAtOnce = 256;

const models = [
  {
    org: 'openai',
    model: 'gpt-4o',
    provider: 'openai-prod',
    weight: 4,
    latency: 1_400,
    url: 'https://api.openai.com/v1/chat/completions',
  },
  {
    org: 'openai',
    model: 'gpt-4o-mini',
    provider: 'openai-prod',
    weight: 6,
    latency: 700,
    url: 'https://api.openai.com/v1/chat/completions',
  },
  {
    org: 'anthropic',
    model: 'claude-sonnet-4-5',
    provider: 'anthropic-prod',
    weight: 4,
    latency: 1_900,
    url: 'https://api.anthropic.com/v1/messages',
  },
  {
    org: 'google',
    model: 'gemini-2.5-flash',
    provider: 'gemini-prod',
    weight: 2,
    latency: 600,
    url: 'https://generativelanguage.googleapis.com/v1beta/models',
  },
];
const failures = [
  { status: 429, weight: 6, message: 'Rate limit reached for requests' },
  { status: 500, weight: 2, message: 'The server had an error while processing your request' },
  { status: 503, weight: 2, message: 'The engine is currently overloaded' },
  { status: 400, weight: 1, message: 'messages: must not be empty' },
];
const questions = [
  'Where is my parcel?',
  'Summarise this ticket',
  'Translate to German: good morning',
  'What changed in this release?',
  'Write a polite refusal',
  'Which plan fits five people?',
];
const answers = [
  'It left the depot this morning.',
  'The customer cannot sign in since Monday.',
  'Guten Morgen!',
  'Mostly fixes, and faster start.',
  'Thank you for asking; we cannot do this.',
  'The team plan, which has ten seats.',
];
const environments = [
  { name: 'production', weight: 8 },
  { name: 'staging', weight: 2 },
];

interface TrafficOptions {
  rows: number;
  seed: number;
  now: number;
}

export async function writeTraffic(
  dataDir: string,
  places: readonly DemoPlace[],
  { rows, seed, now }: TrafficOptions,
  onProgress: (written: number) => void,
): Promise<void> {
  const random = new SeededRandom(seed);
  const pricer = createPricer();
  const writer = new EmbeddedWriter(join(dataDir, 'logs'), 5_000);
  const times = arrivals(random, rows, now);
  try {
    let frames = new Frames();
    let batch: LogRecord[] = [];
    let framed = 0;
    const flush = () => {
      if (batch.length > 0) frames.add(batch);
      batch = [];
      writer.write(framesIn(frames.bytes));
      frames = new Frames();
      framed = 0;
    };
    for (const [at, time] of times.entries()) {
      batch.push(call(random, random.weighted(places), time, pricer));
      if (batch.length === perFrame) {
        frames.add(batch);
        batch = [];
        framed += 1;
      }
      if (framed === framesAtOnce) {
        flush();
        onProgress(at + 1);
      }
    }
    flush();
    onProgress(rows);
  } finally {
    writer.close();
  }
}

/** Less at night and at weekends, a little more every week; in the order of time. */
function arrivals(random: SeededRandom, rows: number, now: number): Float64Array {
  const times = new Float64Array(rows);
  for (let at = 0; at < rows; at++) {
    let time: number;
    do {
      time = now - random.next() * days * day;
    } while (random.next() > busy(time, now));
    times[at] = time;
  }
  return times.sort();
}

function busy(time: number, now: number): number {
  const date = new Date(time);
  const hour = date.getUTCHours() + date.getUTCMinutes() / 60;
  const byDay = 0.25 + 0.75 * Math.max(0, Math.sin(((hour - 5) / 16) * Math.PI));
  const weekend = date.getUTCDay() % 6 === 0 ? 0.4 : 1;
  return byDay * weekend * (0.7 + 0.3 * (1 - (now - time) / (days * day)));
}

function call(
  random: SeededRandom,
  place: DemoPlace,
  time: number,
  pricer: ReturnType<typeof createPricer>,
): LogRecord {
  const chosen = random.weighted(models);
  const key = random.pick(place.keys);
  const config = random.next() < 0.7 ? random.pick(place.configs) : null;
  const fate = random.next();
  const hit = fate < 0.12;
  const failure = fate > 0.97 ? random.weighted(failures) : null;
  const rescuedByRetry = fate > 0.94 && fate <= 0.97;
  const rescuedByFallback = config !== null && fate > 0.925 && fate <= 0.94;
  const streamed = random.next() < 0.5;
  const usage = {
    ...noUsage,
    inputTokens: Math.round(random.skewed(600)),
    outputTokens: failure ? 0 : Math.round(random.skewed(180)),
  };
  const priced = pricer.cost({
    provider: chosen.org,
    model: chosen.model,
    usage,
    prices: null,
    adjustments: null,
    batch: false,
    reportsCost: false,
  });
  const cents = exactCents(priced.known ? priced.cents : 0);
  const latency = hit
    ? random.skewed(12, 0.3)
    : random.skewed(failure ? 300 : chosen.latency) + (rescuedByRetry ? 800 : 0);
  const id = random.uuidAt(time);
  const topic = random.below(questions.length);
  const status = failure?.status ?? 200;
  const metrics: LogMetrics = {
    id,
    organisation_id: place.organisationId,
    workspace_id: place.workspaceId,
    workspace_slug: place.workspaceSlug,
    api_key_id: key.id,
    user_id: null,
    created_at: Math.floor(time),
    is_success: status === 200,
    endpoint_type: 'chatComplete',
    ai_org: chosen.org,
    ai_model: chosen.model,
    req_units: failure ? 0 : usage.inputTokens,
    res_units: usage.outputTokens,
    total_units: failure ? 0 : usage.inputTokens + usage.outputTokens,
    cached_units: 0,
    reasoning_units: 0,
    usage_estimated: false,
    cost: failure || hit ? 0 : cents,
    cost_known: true,
    request_url: chosen.url,
    request_method: 'POST',
    response_status_code: status,
    response_time: latency,
    upstream_response_time: hit ? 0 : latency - 1,
    gateway_processing_time: 1,
    first_token_time: streamed && !failure ? latency * 0.3 : null,
    is_proxy_call: false,
    cache_status: config ? (hit ? (random.next() < 0.3 ? 'SEMANTIC HIT' : 'HIT') : 'MISS') : 'DISABLED',
    cache_type: config ? 'simple' : null,
    stream_mode: streamed ? 1 : 0,
    retry_success_count: rescuedByRetry ? 1 + random.below(2) : 0,
    trace_id: id,
    span_id: id,
    span_name: 'POST /v1/chat/completions',
    parent_span_id: '',
    internal_trace_id: id,
    mode: config ? 'fallback' : 'single',
    virtual_key: chosen.provider,
    integration_id: null,
    config: config?.slug ?? '',
    config_id: config?.id ?? null,
    config_version_id: config?.versionId ?? null,
    last_used_option_index: rescuedByFallback ? 1 : 0,
    last_used_option_path: config ? `$.config.targets[${rescuedByFallback ? 1 : 0}]` : '$.config',
    source: 'gateway',
    runtime: 'node',
    runtime_version: '24.1.0',
    sdk_version: '',
    error_message: failure?.message ?? null,
    ignored_config_keys: [],
    metadata: { _user: `user-${random.below(400)}`, environment: random.weighted(environments).name },
    prompt_id: null,
    prompt_version_id: null,
    prompt_slug: '',
    saved_cost: hit && config ? cents : 0,
    mcp_server: '',
    mcp_method: '',
    mcp_tool: '',
    mcp: null,
    timings: null,
    guardrails: null,
    attempt: {
      rule: config ? `fallback: target ${rescuedByFallback ? 1 : 0}` : 'single',
      after: rescuedByFallback
        ? [
            {
              path: '$.config.targets[0]',
              provider: 'openai',
              status: 503,
              reason: 'The engine is currently overloaded',
            },
          ]
        : [],
      retries: rescuedByRetry ? [{ status: 429, wait_ms: 800 }] : [],
      waited_ms: rescuedByRetry ? 800 : 0,
    },
  };
  const asked = { model: chosen.model, messages: [{ role: 'user', content: questions[topic] }] };
  const answered = failure
    ? { error: { message: failure.message } }
    : {
        choices: [{ message: { role: 'assistant', content: answers[topic] } }],
        usage: { prompt_tokens: usage.inputTokens, completion_tokens: usage.outputTokens },
      };
  return { metrics, bodies: { request: json(asked), response: json(answered) } };
}

const json = (body: unknown): LogMessage => ({
  headers: { 'content-type': 'application/json' },
  contentType: 'application/json',
  body: Buffer.from(JSON.stringify(body)),
});
