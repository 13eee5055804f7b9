/** Messages to MCP servers: how many, how they ended, and how long they took. */
import type { LogMetrics } from '../logs/record.ts';
import type { Exposition } from './exposition.ts';
import { Histogram, Series } from './series.ts';

const mostSeries = 1_000;
const durationName = 'mcp_request_duration_ms';

export class McpMetrics {
  readonly #counts = new Series(mostSeries, () => ({ requests: 0 }));
  readonly #durations: Series<Histogram>;

  constructor(exposition: Exposition, buckets: readonly number[]) {
    this.#durations = new Series(mostSeries, () => new Histogram(buckets));
    exposition.add('mcp_requests_total', 'counter', 'Messages to MCP servers', () =>
      [...this.#counts.all()].map(({ labels, values }) => ({ labels, value: values.requests })),
    );
    exposition.add(durationName, 'histogram', 'Time from a message to an MCP server to the end of its answer', () =>
      [...this.#durations.all()].flatMap(({ labels, values }) => values.samples(durationName, labels)),
    );
  }

  observe({ mcp_server, mcp_method, mcp_tool, response_status_code, is_success, response_time }: LogMetrics): void {
    const called = { server: mcp_server, method: mcp_method, tool: mcp_tool };
    // A tool that fails answers with 200.
    const status = is_success || response_status_code >= 400 ? String(response_status_code) : 'error';
    this.#counts.of({ ...called, status }).requests += 1;
    this.#durations.of(called).add(response_time);
  }
}
