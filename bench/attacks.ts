/** How long the health of the program takes to tell, without any attack and while it is attacked by clients and by providers. It is to stay under 100 ms. On a busy machine, the longest stretch of work without a look at connections tells more than the clock. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import runtimeSettings from '../scripts/runtime-settings.json';
import { builtProgram, residentMegabytes, startChild } from './child.ts';
import { printTable } from './table.ts';

interface Health {
  asked: number;
  median: number;
  worst: number;
}

type Row = Record<string, string | number>;

const attackMs = 3_000;
const atOnce = 4;

export async function benchAttacks(): Promise<object> {
  const folder = mkdtempSync(join(tmpdir(), 'gw-bench-'));
  const upstream = await startChild(['bench/attack-upstream.ts']);
  const stretches = join(folder, 'stretches');
  writeFileSync(stretches, '');
  const program = await startChild(['--preload', './bench/loop-watch.ts', builtProgram(), 'serve'], {
    GW_BENCH_STRETCHES: stretches,
    PORT: '0',
    GW_DATA_DIR: folder,
    TRUSTED_CUSTOM_HOSTS: '127.0.0.1',
    NODE_ENV: 'production',
    ...runtimeSettings,
  });
  const url = `http://127.0.0.1:${program.port}/v1`;
  const key = (name: string) => new RegExp(`${name} key\\s+(\\S+)`).exec(program.greeting)?.[1] ?? '';
  const saved = await fetch(`${url}/integrations`, {
    method: 'POST',
    headers: { 'x-gw-api-key': key('admin'), 'content-type': 'application/json' },
    body: JSON.stringify({
      name: 'attacker',
      slug: 'attacker',
      ai_provider_id: 'openai',
      key: 'sk-bench',
      workspace_id: await firstWorkspace(url, key('admin')),
      default_provider_slug: 'attacker',
      configurations: { custom_host: `http://127.0.0.1:${upstream.port}/v1` },
    }),
  });
  if (!saved.ok) throw new Error(`The integration was refused: ${await saved.text()}`);
  const headers = { 'x-gw-api-key': key('workspace'), 'x-gw-provider': '@attacker' };
  const post = async (body: string) => {
    const sent = { method: 'POST', headers: { ...headers, 'content-type': 'application/json' }, body };
    const response = await fetch(`${url}/chat/completions`, sent);
    await response.arrayBuffer();
    return response.status;
  };
  const question = (model: string, more = '') => `{"model":"${model}","messages":[]${more}}`;
  // 38 MB of keys that all differ, as the first attack had them.
  const keys = question('m', `,"x":{${Array.from({ length: 2_900_000 }, (_, index) => `"k${index}":1`).join()}}`);
  const deep = question('m', `,"x":${'['.repeat(30_000_000)}`);
  const escapes = question('m', `,"x":"${'\\n'.repeat(15_000_000)}"`);
  const text = question('m', `,"x":"${'x'.repeat(30_000_000)}"`);
  // The first calls of a process load what they need, attacked or not.
  for (let count = 0; count < 50; count++) await post(question('m'));
  const attacks: [string, () => Promise<unknown>][] = [
    ['none', () => Bun.sleep(20)],
    ['none, small calls', () => post(question('m'))],
    ['none, calls of 30 MB', () => post(text)],
    ['answers of 10 MB of [, gzipped', () => post(question('brackets'))],
    ['answers of 200 MB, brotli', () => post(question('bomb'))],
    ['streams of 200 MB, gzipped', () => post(question('events', ',"stream":true'))],
    ['requests of 38 MB of small keys', () => post(keys)],
    ['requests of 30 MB of [', () => post(deep)],
    ['requests of 30 MB of escapes', () => post(escapes)],
    ['providers that flood with tiny frames', () => session(url, headers, 'tiny')],
    ['providers that flood with response.done', () => session(url, headers, 'done')],
    ['clients that flood with tiny frames', () => session(url, headers, 'quiet', true)],
  ];
  try {
    const rows: Row[] = [];
    for (const [name, attack] of attacks) {
      writeFileSync(stretches, '');
      const health = await healthDuring(program.port, attack);
      const stretch = Math.max(0, ...readFileSync(stretches, 'utf8').split('\n').map(Number));
      rows.push({ attack: name, ...health, stretch, 'MB resident': residentMegabytes(program.pid) });
    }
    const shown = rows.map(({ attack = '', asked = 0, median = 0, worst = 0, stretch = 0, ...rest }) => ({
      attack,
      'health asked': asked,
      'median ms': median,
      'worst ms': worst,
      'longest stretch, CPU ms': stretch,
      ...rest,
    }));
    printTable('Health under attack, four at a time', shown);
    return { attacks: rows };
  } finally {
    await program.stop();
    await upstream.stop();
    rmSync(folder, { recursive: true, force: true });
  }
}

async function firstWorkspace(url: string, adminKey: string): Promise<string> {
  const reply = await fetch(`${url}/workspaces`, { headers: { 'x-gw-api-key': adminKey } });
  const { data } = (await reply.json()) as { data: { id: string }[] };
  return data[0]?.id ?? '';
}

async function healthDuring(port: number, attack: () => Promise<unknown>): Promise<Health> {
  const probe = new Worker(new URL('./health-probe.ts', import.meta.url));
  const told = new Promise<Health>((resolve) => {
    probe.onmessage = ({ data }) => resolve(data);
  });
  probe.postMessage({ port });
  const until = performance.now() + attackMs;
  const attacker = async () => {
    while (performance.now() < until) await attack();
  };
  await Promise.all(Array.from({ length: atOnce }, attacker));
  probe.postMessage('stop');
  const health = await told;
  probe.terminate();
  return health;
}

/** A session for a second, or until it is cut off. */
async function session(url: string, headers: Record<string, string>, model: string, floods = false): Promise<void> {
  const address = `${url.replace('http', 'ws')}/realtime?model=@attacker/${model}`;
  // The runtime's client sends headers; its type gives way to the browser's, which does not.
  const Client = WebSocket as unknown as new (url: string, options: { headers: object }) => WebSocket;
  const socket = new Client(address, { headers });
  const closed = new Promise<void>((resolve) => {
    socket.onclose = () => resolve();
    socket.onerror = () => resolve();
  });
  let over = false;
  if (floods) {
    socket.onopen = async () => {
      while (!over && socket.readyState === WebSocket.OPEN) {
        for (let count = 0; count < 20_000; count++) socket.send('');
        await Bun.sleep(1);
      }
    };
  }
  await Promise.race([closed, Bun.sleep(1_000)]);
  over = true;
  socket.close();
}
