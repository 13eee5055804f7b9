/** Figures of the process itself, under the names of the reference product. */
import { readdirSync, readFileSync } from 'node:fs';
import type { Sample } from './exposition.ts';
import type { Gauges } from './metrics.ts';

const seconds = (microseconds: number): number => microseconds / 1e6;

export const processCounters: Gauges = {
  node_process_cpu_user_seconds_total: {
    help: 'CPU time that the process has used in its own code',
    read: () => seconds(process.cpuUsage().user),
  },
  node_process_cpu_system_seconds_total: {
    help: 'CPU time that the system has used for the process',
    read: () => seconds(process.cpuUsage().system),
  },
  node_process_cpu_seconds_total: {
    help: 'CPU time that the process has used',
    read: () => {
      const { user, system } = process.cpuUsage();
      return seconds(user + system);
    },
  },
};

/** How long work waits for its turn, measured when somebody asks: no timer runs for it. */
export class EventLoopLag {
  lastMs = 0;

  async measure(): Promise<void> {
    const asked = performance.now();
    await new Promise((resolve) => setImmediate(resolve));
    this.lastMs = performance.now() - asked;
  }
}

/** `lagMs`: how late timers ran last. */
export const processGauges = (lagMs: () => number): Gauges => ({
  node_process_resident_memory_bytes: { help: 'Memory of the process', read: () => process.memoryUsage.rss() },
  node_process_start_time_seconds: {
    help: 'When the process began, in seconds since the epoch',
    read: () => Math.round(Date.now() / 1_000 - process.uptime()),
  },
  node_process_open_fds: { help: 'Files and connections that are open', read: openFiles },
  node_process_max_fds: { help: 'Files and connections that may be open', read: mostFiles },
  node_nodejs_heap_size_total_bytes: { help: 'Memory of the heap', read: () => process.memoryUsage().heapTotal },
  node_nodejs_heap_size_used_bytes: {
    help: 'Memory of the heap that is in use',
    read: () => process.memoryUsage().heapUsed,
  },
  node_nodejs_external_memory_bytes: {
    help: 'Memory outside of the heap that objects in it hold',
    read: () => process.memoryUsage().external,
  },
  node_nodejs_eventloop_lag_seconds: {
    help: 'How long work waited for its turn when metrics were read',
    read: () => lagMs() / 1_000,
  },
  node_nodejs_version_info: {
    help: 'The runtime and its version',
    read: () => [{ labels: { version: `bun-${Bun.version}` }, value: 1 }],
  },
});

/** None where the system does not tell. */
function openFiles(): number | Sample[] {
  try {
    return readdirSync('/proc/self/fd').length;
  } catch {
    // Only Linux has it; the metric is then without a sample.
    return [];
  }
}

function mostFiles(): number | Sample[] {
  try {
    const limit = /^Max open files\s+(\d+)/m.exec(readFileSync('/proc/self/limits', 'utf8'))?.[1];
    return limit === undefined ? [] : Number(limit);
  } catch {
    // As above.
    return [];
  }
}
