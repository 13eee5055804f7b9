/** What queries of logs do to calls: the same calls with and without heavy graphs beside them, in one program. */
import runtimeSettings from '../scripts/runtime-settings.json';
import { type Aim, builtProgram, type Child, startChild } from './child.ts';

import { ask } from './load.ts';
import { differingTraffic } from './traffic.ts';

const day = 86_400_000;
const rounds = 6;
const callsPerRound = 400;
const warmUp = 1_500;
const graphs = ['latency', 'users', 'cost'];

/** A program on a data folder that stays, and the keys that its first start printed. */
export interface BenchProgram {
  child: Child;
  adminKey: string;
  workspaceKey: string;
}

const start = (folder: string): Promise<Child> =>
  startChild([builtProgram(), 'serve'], {
    PORT: '0',
    GW_DATA_DIR: folder,
    TRUSTED_CUSTOM_HOSTS: '127.0.0.1',
    NODE_ENV: 'production',
    ...runtimeSettings,
  });

/** Starts the program for the first time, and answers its keys and its organisation. */
export async function firstStart(folder: string) {
  const child = await start(folder);
  const key = (name: string) => new RegExp(`${name} key\\s+(\\S+)`).exec(child.greeting)?.[1] ?? '';
  const keys = { adminKey: key('admin'), workspaceKey: key('workspace') };
  const { id } = await administer<{ id: string }>({ child, ...keys }, 'GET', '/admin/organisation');
  await child.stop();
  return { ...keys, organisationId: id };
}

async function administer<T>(
  { child, adminKey }: BenchProgram,
  method: string,
  path: string,
  body?: object,
): Promise<T> {
  const response = await fetch(`http://127.0.0.1:${child.port}/v1${path}`, {
    method,
    headers: { 'x-gw-api-key': adminKey, 'content-type': 'application/json' },
    ...(body && { body: JSON.stringify(body) }),
  });
  if (response.status !== 200) throw new Error(`${method} ${path}: ${response.status} ${await response.text()}`);
  return (await response.json()) as T;
}

/** The 99th percentile of calls in ms, one at a time: alone, and while one graph after the other is asked for. */
export async function callsBesideQueries(
  folder: string,
  keys: { adminKey: string; workspaceKey: string },
  now: number,
) {
  const upstream = await startChild(['bench/upstream.ts']);
  const program: BenchProgram = { child: await start(folder), ...keys };
  try {
    const { data } = await administer<{ data: { id: string }[] }>(program, 'GET', '/workspaces');
    await administer(program, 'POST', '/integrations', {
      name: 'first',
      slug: 'first',
      ai_provider_id: 'openai',
      key: 'sk-bench',
      workspace_id: data[0]?.id,
      default_provider_slug: 'first',
      configurations: { custom_host: `http://127.0.0.1:${upstream.port}/v1` },
    });
    const aim: Aim = {
      child: program.child,
      headers: { 'x-gw-api-key': keys.workspaceKey, 'x-gw-provider': '@first' },
    };
    await timesOf(aim, warmUp);
    const alone: number[] = [];
    const beside: number[] = [];
    const asked = { count: 0 };
    for (let round = 0; round < rounds; round++) {
      alone.push(...(await timesOf(aim, callsPerRound)));
      const queries = askGraphs(program, now, asked);
      beside.push(...(await timesOf(aim, callsPerRound)));
      await queries.stop();
    }
    const [p99Alone, p99Beside] = [p99(alone), p99(beside)];
    const moved = Math.round((p99Beside - p99Alone) * 100) / 100;
    return { graphs: asked.count, 'p99 alone': p99Alone, 'p99 beside graphs': p99Beside, moved };
  } finally {
    await Promise.all([program.child.stop(), upstream.stop()]);
  }
}

/** Asks for graphs of 30 days, one after the other, until it is stopped. */
function askGraphs(program: BenchProgram, now: number, asked: { count: number }) {
  let stopped = false;
  const iso = (ms: number) => encodeURIComponent(new Date(ms).toISOString());
  const range = `time_of_generation_min=${iso(now - 30 * day)}&time_of_generation_max=${iso(now)}`;
  const loop = async () => {
    while (!stopped) {
      await administer(program, 'GET', `/analytics/graphs/${graphs[asked.count % graphs.length]}?${range}`);
      asked.count += 1;
    }
  };
  const running = loop();
  return {
    stop(): Promise<void> {
      stopped = true;
      return running;
    },
  };
}

async function timesOf(aim: Aim, count: number): Promise<number[]> {
  const times: number[] = [];
  for (let call = 0; call < count; call++) {
    const begun = performance.now();
    const response = await ask(aim, differingTraffic.body(aim, {}), differingTraffic.headers());
    await response.arrayBuffer();
    if (response.status !== 200) throw new Error(`A call was answered with ${response.status}`);
    times.push(performance.now() - begun);
  }
  return times;
}

const p99 = (times: number[]): number =>
  Math.round((times.toSorted((a, b) => a - b)[Math.floor(times.length * 0.99)] ?? 0) * 100) / 100;
