/** The cache: what a hit costs; how long a search among many questions takes, and how long it holds up the thread of requests. */
import { ThreadedIndex } from '../src/cache/semantic/threaded-index.ts';
import { type Aim, startChild } from './child.ts';
import { compare, startProgram } from './gateway.ts';
import { openBench } from './limits.ts';
import { printTable } from './table.ts';
import { sameTraffic } from './traffic.ts';

const entries = 100_000;
const dimensions = 1_536;
const searches = 300;

const random = (): Float32Array => Float32Array.from({ length: dimensions }, () => Math.random() - 0.5);

export async function benchCache(): Promise<object> {
  return { hits: await benchHits(), index: await benchIndex() };
}

/** An answer from the cache against the same call forwarded; at most half is wanted. */
async function benchHits(): Promise<object> {
  const upstream = await startChild(['bench/upstream.ts']);
  const forwarder = await startChild(['bench/forwarder.ts', String(upstream.port)]);
  const [forwarding, caching] = [await startProgram(), await startProgram()];
  try {
    const { aim } = await openBench(caching, upstream);
    const cached: Aim = { ...aim, headers: { ...aim.headers, 'x-gw-cache': 'simple' } };
    const rows = await compare(
      [
        ['bare forwarder', { child: forwarder, headers: {} }],
        ['gw, forwarded', (await openBench(forwarding, upstream)).aim],
        ['gw, from the cache', cached],
      ],
      {},
      { count: 12_000, together: 16, warmUp: 1, traffic: sameTraffic },
    );
    printTable('One prompt again and again, forwarded and from the cache', rows);
    return rows;
  } finally {
    await Promise.all([forwarding, caching, forwarder, upstream].map((child) => child.stop()));
  }
}

async function benchIndex(): Promise<object> {
  const index = new ThreadedIndex({ mostPerWorkspace: entries, timeoutMs: 60_000, warn: console.error });
  for (let at = 0; at < entries; at++) {
    index.add('p', random(), { workspaceId: 'w', namespace: '', key: String(at) }, 3_600);
    // The thread keeps up: otherwise all of them would wait in memory twice.
    if (at % 1_000 === 999) await index.nearest('w', 'p', random());
  }
  const times: number[] = [];
  let longestHold = 0;
  let last = performance.now();
  const pulse = setInterval(() => {
    longestHold = Math.max(longestHold, performance.now() - last - 1);
    last = performance.now();
  }, 1);
  for (let search = 0; search < searches; search++) {
    const asked = random();
    const begun = performance.now();
    await index.nearest('w', 'p', asked);
    times.push(performance.now() - begun);
  }
  clearInterval(pulse);
  await index.close();
  times.sort((a, b) => a - b);
  const result = {
    'search p50 (ms)': times[Math.floor(searches * 0.5)] ?? 0,
    'search p99 (ms)': times[Math.floor(searches * 0.99)] ?? 0,
    'longest hold of the thread that asks (ms)': longestHold,
  };
  printTable(`The nearest of ${entries.toLocaleString('en')} questions of ${dimensions} dimensions`, [result]);
  return result;
}
