/** Loaded before the program: notes for how long its thread worked without a look at connections and timers, by the processor's time. */
import { appendFileSync } from 'node:fs';
import { isMainThread } from 'node:worker_threads';
import { threadMilliseconds } from './child.ts';

const everyMs = 2;
/** Shorter ones are not worth a line. */
const shortestMs = 5;

const file = process.env.GW_BENCH_STRETCHES;
if (isMainThread && file) {
  let before = threadMilliseconds(process.pid);
  setInterval(() => {
    const stretch = threadMilliseconds(process.pid) - before;
    if (stretch >= shortestMs) appendFileSync(file, `${stretch}\n`);
    before = threadMilliseconds(process.pid);
  }, everyMs).unref();
}
