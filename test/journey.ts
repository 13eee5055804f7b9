/** What stands around the tests of a journey: they share what was started before them, each one begins with providers that were not called yet and ends without a fault in the log. */
import { afterAll, afterEach, beforeEach, expect } from 'bun:test';
import type { SimulatedProvider } from './providers/simulated.ts';

interface Running {
  faults: readonly unknown[];
  stop(): Promise<unknown>;
}

/** Both are asked for when they are needed: by then they were started. */
export function sharedByTests(
  running: () => Running,
  providers: () => Iterable<Pick<SimulatedProvider, 'calls' | 'stop'>>,
): void {
  beforeEach(() => {
    for (const { calls } of providers()) calls.length = 0;
  });
  afterEach(() => {
    expect(running().faults).toEqual([]);
  });
  afterAll(async () => {
    await running().stop();
    for (const provider of providers()) await provider.stop();
  });
}
