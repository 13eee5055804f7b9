/** The text that Prometheus reads. The library writes the format; the values are ours, since its own objects cost a call many times more. */
import { Registry } from 'prom-client';

export type Labels = Readonly<Record<string, string>>;

export interface Sample {
  labels: Readonly<Record<string, string | number>>;
  value: number;
  /** Where it is not the metric's own: `name_bucket`. */
  metricName?: string;
}

export class Exposition {
  readonly #registry = new Registry();

  /** `common`: labels of every sample. */
  constructor(common: Labels) {
    this.#registry.setDefaultLabels(common);
  }

  /** `read` is asked when somebody scrapes. */
  add(name: string, type: 'counter' | 'gauge' | 'histogram', help: string, read: () => Iterable<Sample>): void {
    const metric = {
      name,
      help,
      type,
      aggregator: 'sum',
      get: async () => ({ name, help, type, aggregator: 'sum', values: [...read()] }),
    };
    // The library's type names its own classes; it reads nothing else of a metric than these fields.
    this.#registry.registerMetric(metric as unknown as Parameters<Registry['registerMetric']>[0]);
  }

  text(): Promise<string> {
    return this.#registry.metrics();
  }

  get contentType(): string {
    return this.#registry.contentType;
  }
}
