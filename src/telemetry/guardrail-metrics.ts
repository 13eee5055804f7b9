/** How often guardrail checks pass, fail and break, and how long they take. */
import type { CheckRow, HookResult, HookResults } from '../guardrails/results.ts';
import type { Exposition } from './exposition.ts';
import { Histogram, Series } from './series.ts';

const mostSeries = 1_000;
const durationName = 'guardrail_check_duration_ms';

export class GuardrailMetrics {
  readonly #counts = new Series(mostSeries, () => ({ checks: 0 }));
  readonly #durations: Series<Histogram>;

  constructor(exposition: Exposition, buckets: readonly number[]) {
    this.#durations = new Series(mostSeries, () => new Histogram(buckets));
    exposition.add('guardrail_checks_total', 'counter', 'Guardrail checks that have run, by their verdict', () =>
      [...this.#counts.all()].map(({ labels, values }) => ({ labels, value: values.checks })),
    );
    exposition.add(durationName, 'histogram', 'Time that a guardrail check took', () =>
      [...this.#durations.all()].flatMap(({ labels, values }) => values.samples(durationName, labels)),
    );
  }

  observe({ before_request_hooks, after_request_hooks }: HookResults): void {
    this.#observe(before_request_hooks, 'input');
    this.#observe(after_request_hooks, 'output');
  }

  #observe(hooks: readonly HookResult[], phase: string): void {
    for (const { checks } of hooks) {
      for (const check of checks) {
        this.#counts.of({ check: check.id, verdict: verdictOf(check), phase }).checks += 1;
        this.#durations.of({ check: check.id, phase }).add(check.execution_time);
      }
    }
  }
}

const verdictOf = ({ error, verdict }: CheckRow): string => (error ? 'error' : verdict ? 'pass' : 'fail');
