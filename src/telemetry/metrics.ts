/** Metrics of calls for Prometheus. A call adds to a few arrays; the text is written when somebody scrapes. */
import { Registry } from 'prom-client';
import type { LogMetrics } from '../logs/record.ts';
import type { MetricSettings } from './variables.ts';

const usualBuckets = [
  1, 2, 5, 10, 25, 50, 100, 250, 500, 1_000, 2_500, 5_000, 10_000, 30_000, 60_000, 120_000, 300_000,
];
/** Further combinations of labels are counted together, so that no client can make the program's memory grow. */
const mostSeries = 5_000;
const rest = 'other';

/** Histograms of milliseconds, each read from a record; null where a call has none. */
const durations = {
  http_request_duration_seconds: {
    help: 'Time from a request to the end of its answer, in seconds',
    of: (m) => m.response_time,
    scale: 1_000,
  },
  gw_request_duration_milliseconds: {
    help: 'Time from a request to the end of its answer',
    of: (m) => m.response_time,
    scale: 1,
  },
  llm_request_duration_milliseconds: {
    help: 'Time spent waiting for the provider',
    of: (m) => m.upstream_response_time,
    scale: 1,
  },
  llm_last_byte_diff_duration_milliseconds: {
    help: 'Time from the first token of a stream to its end',
    of: (m) => (m.first_token_time === null ? null : m.response_time - m.first_token_time),
    scale: 1,
  },
  gw_processing_time_excluding_last_byte_ms: {
    help: 'Time that the gateway itself took',
    of: (m) => m.gateway_processing_time,
    scale: 1,
  },
} as const satisfies Record<string, { help: string; of: (metrics: LogMetrics) => number | null; scale: number }>;

type Duration = keyof typeof durations;
const durationNames = Object.keys(durations) as Duration[];

interface Series {
  labels: Record<string, string>;
  requests: number;
  cost: number;
  tokens: number;
  /** For each histogram: how many fell into each bucket, and behind them the sum. */
  buckets: Record<Duration, Float64Array>;
}

interface Value {
  labels: Record<string, string | number>;
  value: number;
  metricName?: string;
}

export type Gauges = Readonly<Record<string, { help: string; read(): number }>>;

export class CallMetrics {
  readonly #settings: MetricSettings;
  readonly #bounds: readonly number[];
  readonly #series = new Map<string, Series>();
  readonly #registry = new Registry();

  constructor(settings: MetricSettings, gauges: Gauges = {}) {
    this.#settings = settings;
    this.#bounds = settings.buckets.length > 0 ? settings.buckets.toSorted((a, b) => a - b) : usualBuckets;
    this.#register('request_count', 'counter', 'Requests that the gateway has answered', (series) => series.requests);
    this.#register(
      'llm_cost_sum',
      'gauge',
      'What calls have cost since the start, in US cents',
      (series) => series.cost,
    );
    this.#register('llm_token_sum', 'gauge', 'Tokens that calls have used since the start', (series) => series.tokens);
    for (const name of durationNames) this.#registerHistogram(name);
    for (const [name, { help, read }] of Object.entries(gauges)) {
      this.#add(name, 'gauge', help, () => [{ labels: {}, value: read() }]);
    }
  }

  observe(metrics: LogMetrics): void {
    const series = this.#seriesOf(metrics);
    series.cost += metrics.cost;
    series.tokens += metrics.total_units;
    this.#measure(series, 'llm_request_duration_milliseconds', metrics);
    // Targets that were tried before the one that answered are no requests of their own.
    if (metrics.id !== metrics.internal_trace_id) return;
    series.requests += 1;
    for (const name of durationNames) {
      if (name !== 'llm_request_duration_milliseconds') this.#measure(series, name, metrics);
    }
  }

  /** The exposition format. */
  text(): Promise<string> {
    return this.#registry.metrics();
  }

  get contentType(): string {
    return this.#registry.contentType;
  }

  #measure(series: Series, name: Duration, metrics: LogMetrics): void {
    const ms = durations[name].of(metrics);
    if (ms === null) return;
    const counts = series.buckets[name];
    let at = 0;
    while (at < this.#bounds.length && ms > (this.#bounds[at] ?? 0)) at++;
    counts[at] = (counts[at] ?? 0) + 1;
    const sum = this.#bounds.length + 1;
    counts[sum] = (counts[sum] ?? 0) + ms;
  }

  #seriesOf(metrics: LogMetrics): Series {
    const { modelLabel, configLabel, metadataKeys } = this.#settings;
    const labels: Record<string, string> = {
      method: metrics.request_method,
      endpoint: metrics.endpoint_type,
      code: String(metrics.response_status_code),
      provider: metrics.ai_org,
      source: metrics.source,
      stream: metrics.stream_mode === 1 ? 'true' : 'false',
      cacheStatus: metrics.cache_status ?? '',
      ...(modelLabel && { model: metrics.ai_model }),
      ...(configLabel && {
        config_name: metrics.config === 'inline' || metrics.config === '' ? 'N/A' : metrics.config,
      }),
    };
    for (const key of metadataKeys) labels[`metadata_${key.replace(/\W/g, '_')}`] = metrics.metadata[key] ?? '';
    return (
      this.#known(labels) ??
      this.#known(Object.fromEntries(Object.keys(labels).map((name) => [name, rest])), true) ??
      this.#make(labels)
    );
  }

  #known(labels: Record<string, string>, always = false): Series | null {
    const key = Object.values(labels).join('\u0000');
    const known = this.#series.get(key);
    if (known) return known;
    if (this.#series.size >= mostSeries && !always) return null;
    const made = this.#make(labels);
    this.#series.set(key, made);
    return made;
  }

  #make(labels: Record<string, string>): Series {
    const room = () => new Float64Array(this.#bounds.length + 2);
    const buckets = Object.fromEntries(durationNames.map((name) => [name, room()])) as Record<Duration, Float64Array>;
    return { labels, requests: 0, cost: 0, tokens: 0, buckets };
  }

  #register(name: string, type: 'counter' | 'gauge', help: string, read: (series: Series) => number): void {
    this.#add(name, type, help, () =>
      [...this.#series.values()].map((series) => ({ labels: series.labels, value: read(series) })),
    );
  }

  #registerHistogram(name: Duration): void {
    this.#add(name, 'histogram', durations[name].help, () =>
      [...this.#series.values()].flatMap((series) => this.#bucketsOf(name, series)),
    );
  }

  #bucketsOf(name: Duration, { labels, buckets }: Series): Value[] {
    const counts = buckets[name];
    const { scale } = durations[name];
    const values: Value[] = [];
    let total = 0;
    for (const [at, bound] of this.#bounds.entries()) {
      total += counts[at] ?? 0;
      values.push({ metricName: `${name}_bucket`, labels: { ...labels, le: bound / scale }, value: total });
    }
    total += counts[this.#bounds.length] ?? 0;
    if (total === 0) return [];
    values.push({ metricName: `${name}_bucket`, labels: { ...labels, le: '+Inf' }, value: total });
    values.push({ metricName: `${name}_sum`, labels, value: (counts[this.#bounds.length + 1] ?? 0) / scale });
    values.push({ metricName: `${name}_count`, labels, value: total });
    return values;
  }

  /** The library writes the format; the values are ours, since its own objects cost a call many times more. */
  #add(name: string, type: string, help: string, read: () => Value[]): void {
    const metric = {
      name,
      help,
      type,
      aggregator: 'sum',
      get: async () => ({ name, help, type, aggregator: 'sum', values: read() }),
    };
    this.#registry.registerMetric(metric as unknown as Parameters<Registry['registerMetric']>[0]);
  }
}
