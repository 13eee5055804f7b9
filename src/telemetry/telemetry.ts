/** Metrics and traces of calls, from the records that go into the log. What is switched off costs nothing. */

import type { WebHandler } from '../http/web.ts';
import { faultFields, type Log, throttled } from '../log.ts';
import type { LogRecord } from '../logs/record.ts';
import { CallMetrics, type Gauges } from './metrics.ts';
import { EventLoopLag, processCounters, processGauges } from './process-metrics.ts';
import { metricsEndpoint } from './scrape.ts';
import { CallSpans } from './spans.ts';
import type { TelemetrySettings } from './variables.ts';

export interface Telemetry {
  /** Sees every record as it is written; null where nobody wants to. */
  observe: ((record: LogRecord) => void) | null;
  /** `/metrics`. */
  handler: WebHandler;
  /** Figures of other parts, read when somebody scrapes. */
  watch(gauges: Gauges): void;
  close(): Promise<void>;
}

export function openTelemetry({ metrics, traces }: TelemetrySettings, log: Log, gauges: Gauges = {}): Telemetry {
  const lag = new EventLoopLag();
  const counted = metrics ? new CallMetrics(metrics) : null;
  counted?.watch(processCounters, 'counter');
  counted?.watch({ ...processGauges(() => lag.lastMs), ...gauges });
  const spans = traces ? new CallSpans(traces) : null;
  const report = throttled((message, fields) => log.warn(message, fields));
  const warn = (error: unknown) => report('Telemetry of calls failed; calls go on.', faultFields(error));
  const observe = (record: LogRecord) => {
    try {
      counted?.observe(record);
      spans?.observe(record);
    } catch (error) {
      // A record that cannot be told must not keep the others from being written.
      warn(error);
    }
  };
  return {
    observe: counted || spans ? observe : null,
    handler: counted
      ? metricsEndpoint(metrics?.token ?? null, async () => {
          await lag.measure();
          return new Response(await counted.text(), { headers: { 'content-type': counted.contentType } });
        })
      : () => null,
    watch: (more) => counted?.watch(more),
    async close() {
      await spans?.close().catch(warn);
    },
  };
}
