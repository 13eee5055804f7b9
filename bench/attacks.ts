/** How long the health of the program takes to tell, without any attack and while it is attacked by clients and by providers. It is to stay under 100 ms. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import runtimeSettings from '../scripts/runtime-settings.json';
import { builtProgram, type Child, residentMegabytes, startChild } from './child.ts';
import { printTable } from './table.ts';

interface Health {
  asked: number;
  median: number;
  worst: number;
  /** The most that the program's thread worked while health was waited for. */
  worstWork: number;
}

type Row = Record<string, string | number>;

const attackMs = 3_000;
const atOnce = 4;

export async function benchAttacks(): Promise<object> {
  const folder = mkdtempSync(join(tmpdir(), 'gw-bench-'));
  const upstream = await startChild(['bench/attack-upstream.ts']);
  const program = await startChild([builtProgram(), 'serve'], {
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
  const attacks: [string, () => Promise<unknown>][] = [
    ['none', () => Bun.sleep(20)],
    ['answers of 10 MB of [, gzipped', () => post(question('brackets'))],
    ['answers of 200 MB, brotli', () => post(question('bomb'))],
    ['streams of 200 MB, gzipped', () => post(question('events', ',"stream":true'))],
    ['requests of 38 MB of small keys', () => post(keys)],
    ['requests of 30 MB of [', () => post(deep)],
    ['providers that flood with tiny frames', () => session(url, headers, 'tiny')],
    ['providers that flood with response.done', () => session(url, headers, 'done')],
    ['clients that flood with tiny frames', () => session(url, headers, 'quiet', true)],
  ];
  try {
    const rows: Row[] = [];
    for (const [name, attack] of attacks) {
      const health = await healthDuring(program, attack);
      rows.push({ attack: name, ...health, 'MB resident': residentMegabytes(program.pid) });
    }
    const shown = rows.map(({ attack = '', asked = 0, median = 0, worst = 0, worstWork = 0, ...rest }) => ({
      attack,
      'health asked': asked,
      'median ms': median,
      'worst ms': worst,
      'of the thread': worstWork,
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

async function healthDuring({ pid, port }: Child, attack: () => Promise<unknown>): Promise<Health> {
  const probe = new Worker(new URL('./health-probe.ts', import.meta.url));
  const told = new Promise<Health>((resolve) => {
    probe.onmessage = ({ data }) => resolve(data);
  });
  probe.postMessage({ pid, port });
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
