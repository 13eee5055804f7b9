/** Asks for the health of a program without pause, in a thread of its own, until it is told to stop; then says how long the answers took, and how long the program's own thread was at work meanwhile. */
import { threadMilliseconds } from './child.ts';

declare const self: Worker;

interface Program {
  pid: number;
  port: number;
}

let over = false;
const took: number[] = [];
let worstWork = 0;

self.onmessage = ({ data }: MessageEvent<Program | 'stop'>) => {
  if (data === 'stop') over = true;
  else void probe(data);
};

async function probe({ pid, port }: Program): Promise<void> {
  while (!over) {
    const worked = threadMilliseconds(pid);
    const from = performance.now();
    await (await fetch(`http://127.0.0.1:${port}/v1/health`)).text();
    took.push(performance.now() - from);
    worstWork = Math.max(worstWork, threadMilliseconds(pid) - worked);
    await Bun.sleep(2);
  }
  took.sort((one, other) => one - other);
  postMessage({ asked: took.length, median: took[took.length >> 1] ?? 0, worst: took.at(-1) ?? 0, worstWork });
}
