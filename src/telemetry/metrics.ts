/** Metrics of calls for Prometheus. A call adds to a few arrays; the text is written when somebody scrapes. */
import type { LogMetrics, LogRecord, TelemetryFacts } from '../logs/record.ts';
import { Exposition, type Labels, type Sample } from './exposition.ts';
import { GuardrailMetrics } from './guardrail-metrics.ts';
import { McpMetrics } from './mcp-metrics.ts';
import { Histogram, Series } from './series.ts';
import type { MetricSettings } from './variables.ts';

const usualBuckets = [
  1, 2, 5, 10, 25, 50, 100, 250, 500, 1_000, 2_500, 5_000, 10_000, 30_000, 60_000, 120_000, 300_000,
];
const mostSeries = 2_000;

type Measure = (metrics: LogMetrics, facts: TelemetryFacts | undefined) => number | null;

/** Histograms, each read from a record; null where a call has none. */
const durations = {
  http_request_duration_seconds: {
    help: 'Time from a request to the end of its answer, in seconds',
    of: (m) => m.response_time / 1_000,
  },
  gw_request_duration_milliseconds: {
    help: 'Time from a request to the end of its answer',
    of: (m) => m.response_time,
  },
  llm_request_duration_milliseconds: {
    help: 'Time spent waiting for the provider',
    of: (m) => m.upstream_response_time,
  },
  llm_last_byte_diff_duration_milliseconds: {
    help: 'Time from the first token of a stream to its end',
    of: (m) => (m.first_token_time === null ? null : m.response_time - m.first_token_time),
  },
  gw_processing_time_excluding_last_byte_ms: {
    help: 'Time that the gateway itself took',
    of: (m) => m.gateway_processing_time,
  },
  authentication_duration_milliseconds: {
    help: 'Time until the caller was known',
    of: (_, facts) => facts?.authenticationMs ?? null,
  },
  api_key_rate_limit_check_duration_milliseconds: {
    help: 'Time spent asking rate limits and budgets',
    of: (_, facts) => facts?.limitCheckMs ?? null,
  },
  pre_request_processing_duration_milliseconds: {
    help: 'Time from the chosen config to the request to the provider, without the cache',
    of: (m) => m.timings?.pre_processing ?? null,
  },
  post_request_processing_duration_milliseconds: {
    help: 'Time that the gateway took with the answer of the provider',
    of: (_, facts) => facts?.postProcessingMs ?? null,
  },
  llm_cache_processing_duration_milliseconds: {
    help: 'Time spent asking the cache',
    of: (m) => m.timings?.cache_processing ?? null,
  },
  grpc_req_conversion_duration_milliseconds: {
    help: 'Time spent converting gRPC requests; no series, since there is no gRPC listener',
    of: () => null,
  },
} as const satisfies Record<string, { help: string; of: Measure }>;

type Duration = keyof typeof durations;
const durationNames = Object.keys(durations) as Duration[];
/** Targets that were tried before the one that answered are no requests of their own. */
const ofEachTarget: Duration = 'llm_request_duration_milliseconds';

interface CallSums {
  requests: number;
  cost: number;
  tokens: number;
  durations: Record<Duration, Histogram>;
}

export type Gauges = Readonly<Record<string, { help: string; read(): number | Iterable<Sample> }>>;

export class CallMetrics {
  readonly #settings: MetricSettings;
  readonly #calls: Series<CallSums>;
  readonly #exposition: Exposition;
  readonly #guardrails: GuardrailMetrics;
  readonly #mcp: McpMetrics;

  constructor(settings: MetricSettings) {
    this.#settings = settings;
    const ms = rising(settings.buckets, usualBuckets);
    const seconds = rising(
      settings.httpBuckets,
      ms.map((bound) => bound / 1_000),
    );
    this.#calls = new Series(mostSeries, () => ({
      requests: 0,
      cost: 0,
      tokens: 0,
      durations: histograms((name) => new Histogram(name === 'http_request_duration_seconds' ? seconds : ms)),
    }));
    this.#exposition = new Exposition(settings.commonLabels);
    this.#register();
    this.#guardrails = new GuardrailMetrics(this.#exposition, ms);
    this.#mcp = new McpMetrics(this.#exposition, ms);
  }

  observe({ metrics, facts }: LogRecord): void {
    const sums = this.#calls.of(this.#labelsOf(metrics, facts));
    sums.cost += metrics.cost;
    sums.tokens += metrics.total_units;
    sums.durations[ofEachTarget].add(metrics.upstream_response_time);
    if (facts?.hooks) this.#guardrails.observe(facts.hooks);
    if (metrics.id !== metrics.internal_trace_id) return;
    sums.requests += 1;
    for (const name of durationNames) {
      const measured = name === ofEachTarget ? null : durations[name].of(metrics, facts);
      if (measured !== null) sums.durations[name].add(measured);
    }
    if (metrics.mcp_method !== '') this.#mcp.observe(metrics);
  }

  /** Figures of other parts, read when somebody scrapes. */
  watch(gauges: Gauges, type: 'gauge' | 'counter' = 'gauge'): void {
    for (const [name, { help, read }] of Object.entries(gauges)) {
      this.#exposition.add(name, type, help, () => {
        const value = read();
        return typeof value === 'number' ? [{ labels: {}, value }] : value;
      });
    }
  }

  /** The exposition format. */
  text(): Promise<string> {
    return this.#exposition.text();
  }

  get contentType(): string {
    return this.#exposition.contentType;
  }

  #labelsOf(metrics: LogMetrics, facts: TelemetryFacts | undefined): Labels {
    const { modelLabel, configLabel, keyLabel, metadataKeys } = this.#settings;
    const labels: Record<string, string> = {
      method: knownMethods.has(metrics.request_method) ? metrics.request_method : 'other',
      endpoint: metrics.endpoint_type,
      code: String(metrics.response_status_code),
      provider: metrics.ai_org,
      source: metrics.source,
      stream: metrics.stream_mode === 1 ? 'true' : 'false',
      cacheStatus: metrics.cache_status ?? '',
    };
    if (modelLabel) labels.model = metrics.ai_model;
    if (configLabel) labels.config_name = metrics.config === 'inline' || metrics.config === '' ? 'N/A' : metrics.config;
    if (keyLabel) labels.api_key_name = facts?.keyName ?? '';
    for (const key of metadataKeys) labels[metadataLabel(key)] = metrics.metadata[key] ?? '';
    return labels;
  }

  #register(): void {
    const sums = (of: (sums: CallSums) => number) => () =>
      [...this.#calls.all()].map(({ labels, values }) => ({ labels, value: of(values) }));
    const { add } = { add: this.#exposition.add.bind(this.#exposition) };
    add(
      'request_count',
      'counter',
      'Requests that the gateway has answered',
      sums(({ requests }) => requests),
    );
    add(
      'llm_cost_sum',
      'gauge',
      'What calls have cost since the start, in US cents',
      sums(({ cost }) => cost),
    );
    add(
      'llm_token_sum',
      'gauge',
      'Tokens that calls have used since the start',
      sums(({ tokens }) => tokens),
    );
    for (const name of durationNames) {
      add(name, 'histogram', durations[name].help, () =>
        [...this.#calls.all()].flatMap(({ labels, values }) => values.durations[name].samples(name, labels)),
      );
    }
  }
}

const knownMethods = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']);

/** Names of labels are letters, digits and underscores. */
const metadataLabel = (key: string): string => `metadata_${key.replace(/\W/g, '_')}`;

const rising = (chosen: readonly number[], usual: readonly number[]): readonly number[] =>
  chosen.length > 0 ? [...new Set(chosen)].toSorted((a, b) => a - b) : usual;

const histograms = (make: (name: Duration) => Histogram): Record<Duration, Histogram> =>
  Object.fromEntries(durationNames.map((name) => [name, make(name)])) as Record<Duration, Histogram>;
