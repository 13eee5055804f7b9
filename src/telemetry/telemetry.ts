/** Metrics and traces of calls, from the records that go into the log. What is switched off costs nothing. */

import type { WebHandler } from '../http/web.ts';
import { faultFields, type Log, throttled } from '../log.ts';
import type { LogRecord } from '../logs/record.ts';
import { CallMetrics, type Gauges } from './metrics.ts';
import { metricsEndpoint } from './scrape.ts';
import { CallSpans } from './spans.ts';
import type { TelemetrySettings } from './variables.ts';

export interface Telemetry {
  /** Sees every record as it is written; null where nobody wants to. */
  observe: ((record: LogRecord) => void) | null;
  /** `/metrics`. */
  handler: WebHandler;
  close(): Promise<void>;
}

/** `gauges` are those of other parts, read when somebody scrapes. */
export function openTelemetry({ metrics, traces }: TelemetrySettings, log: Log, gauges: Gauges = {}): Telemetry {
  const counted = metrics ? new CallMetrics(metrics, { ...processGauges, ...gauges }) : null;
  const spans = traces ? new CallSpans(traces) : null;
  const report = throttled((message, fields) => log.warn(message, fields));
  const warn = (error: unknown) => report('Telemetry of calls failed; calls go on.', faultFields(error));
  const observe = (record: LogRecord) => {
    try {
      counted?.observe(record.metrics);
      spans?.observe(record);
    } catch (error) {
      // A record that cannot be told must not keep the others from being written.
      warn(error);
    }
  };
  return {
    observe: counted || spans ? observe : null,
    handler: counted ? metricsEndpoint(counted, metrics?.token ?? null) : () => null,
    async close() {
      await spans?.close().catch(warn);
    },
  };
}

const processGauges = {
  node_process_resident_memory_bytes: { help: 'Memory of the process', read: () => process.memoryUsage.rss() },
  node_process_heap_bytes: { help: 'Memory of the heap that is in use', read: () => process.memoryUsage().heapUsed },
  node_process_cpu_seconds: {
    help: 'CPU time that the process has used',
    read: () => {
      const { user, system } = process.cpuUsage();
      return (user + system) / 1e6;
    },
  },
  node_process_start_time_seconds: {
    help: 'When the process began, in seconds since the epoch',
    read: () => Math.round(Date.now() / 1_000 - process.uptime()),
  },
};
