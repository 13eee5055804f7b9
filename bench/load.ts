/** Makes load and takes its measure. */
import { type Aim, cpuMicroseconds, idleMicroseconds } from './child.ts';
import { sameTraffic, type Traffic } from './traffic.ts';

export interface Measured {
  cpuPerRequest: number;
  perSecond: number;
}

export const ask = (aim: Aim, body: string, headers: Record<string, string> = {}): Promise<Response> =>
  fetch(`http://127.0.0.1:${aim.child.port}/v1/chat/completions`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...aim.headers, ...headers },
    body,
  });

/** `count` requests, `together` at a time. */
async function run(aim: Aim, more: object, traffic: Traffic, count: number, together: number): Promise<void> {
  let left = count;
  const worker = async () => {
    while (left-- > 0) {
      const response = await ask(aim, traffic.body(aim, more), traffic.headers());
      if (response.status !== 200) throw new Error(`${response.status}: ${await response.text()}`);
      await response.arrayBuffer();
    }
  };
  await Promise.all(Array.from({ length: together }, worker));
}

export interface Load {
  /** How many calls are measured. */
  count: number;
  /** How many of them are under way at any moment. */
  together: number;
  /** How many go before, as a multiple of those. */
  warmUp: number;
  traffic: Traffic;
}

const rounds = 24;
/** Times the measured calls: before that the compilers are still at work, which a service in use has long behind it. */
export const fromCold = 4;

/** What `count` requests to each aim cost, in turns, so that noise hits all alike; a fault where an aim fails its calls. */
export async function measureAll(
  aims: readonly Aim[],
  more: object,
  { count, together, warmUp, traffic }: Load,
): Promise<(Measured | Error)[]> {
  const results: (Measured | Error)[] = [];
  for (const aim of aims) {
    const warm = run(aim, more, traffic, count * warmUp, together);
    results.push(await warm.then(() => ({ cpuPerRequest: 0, perSecond: 0 })).catch((fault: Error) => fault));
  }
  await Bun.sleep(settleMs);
  // The clocks of a program tick also while it is another's turn: that is no request's work.
  const idle = await Promise.all(aims.map(({ child }) => idleMicroseconds(child.pid, idleMs)));
  const startedAt = performance.now();
  const before = aims.map(({ child }) => cpuMicroseconds(child.pid));
  const seconds = aims.map(() => 0);
  for (let round = 0; round < rounds; round++) {
    for (const [index, aim] of aims.entries()) {
      if (results[index] instanceof Error) continue;
      const start = performance.now();
      await run(aim, more, traffic, count / rounds, together);
      seconds[index] = (seconds[index] ?? 0) + (performance.now() - start) / 1000;
    }
  }
  // Work that a request leaves behind (its log record) belongs to it.
  await Bun.sleep(settleMs);
  const span = (performance.now() - startedAt) / 1_000;
  return results.map((result, index) => {
    const child = aims[index]?.child;
    if (result instanceof Error || !child) return result;
    const resting = (idle[index] ?? 0) * (span - (seconds[index] ?? 0));
    const cpu = cpuMicroseconds(child.pid) - (before[index] ?? 0) - resting;
    return { cpuPerRequest: cpu / count, perSecond: count / (seconds[index] ?? 1) };
  });
}

const settleMs = 1_500;
const idleMs = 3_000;

interface Latency {
  p50: number;
  p99: number;
}

const quantiles = (times: number[]): Latency => {
  const sorted = times.toSorted((a, b) => a - b);
  const at = (share: number) => sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0;
  return { p50: at(0.5), p99: at(0.99) };
};

/** One request after the other, alternating between the aims so that noise hits both alike. */
export async function compareLatency(
  aims: Aim[],
  more: object,
  count: number,
  untilFirstByte: boolean,
): Promise<Latency[]> {
  const times: number[][] = aims.map(() => []);
  for (let round = 0; round < count; round++) {
    for (const [index, aim] of aims.entries()) {
      const start = performance.now();
      const response = await ask(aim, sameTraffic.body(aim, more));
      if (untilFirstByte) {
        const reader = response.body?.getReader();
        await reader?.read();
        times[index]?.push(performance.now() - start);
        while (!(await reader?.read())?.done);
      } else {
        await response.arrayBuffer();
        times[index]?.push(performance.now() - start);
      }
    }
  }
  return times.map(quantiles);
}

/** How long a call that does nothing waits while the program is under load: the delay of its event loop, as a client feels it. */
export async function delayUnderLoad(aim: Aim, traffic: Traffic, count: number): Promise<Latency> {
  const times: number[] = [];
  let over = false;
  const probe = async () => {
    while (!over) {
      const start = performance.now();
      await (await fetch(`http://127.0.0.1:${aim.child.port}/v1/health`)).arrayBuffer();
      times.push(performance.now() - start);
      await Bun.sleep(5);
    }
  };
  const probing = probe();
  await run(aim, {}, traffic, count, 16);
  over = true;
  await probing;
  return quantiles(times);
}

/** What a burst of calls costs after the program has rested for some seconds. */
export async function afterRest(aims: readonly Aim[], traffic: Traffic, count: number, restMs: number) {
  const spent = aims.map(() => 0);
  for (let round = 0; round < restRounds; round++) {
    await Bun.sleep(restMs);
    for (const [index, aim] of aims.entries()) {
      const before = cpuMicroseconds(aim.child.pid);
      await run(aim, {}, traffic, count, 16);
      spent[index] = (spent[index] ?? 0) + cpuMicroseconds(aim.child.pid) - before;
    }
  }
  return spent.map((cpu) => cpu / (restRounds * count));
}

const restRounds = 5;
