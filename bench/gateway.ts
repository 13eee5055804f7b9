/** The data plane against a bare forwarder in the same run: CPU, throughput, added latency, first token, memory. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Child, residentMegabytes, startChild } from './child.ts';
import { type Aim, ask, bodyOf, compareLatency, measureAll } from './load.ts';
import { startPeer } from './peer.ts';
import { printTable } from './table.ts';

interface GatewayOptions {
  peer: boolean;
  /** Minutes of steady load with a look at memory; 0 for none. */
  soakMinutes: number;
}

const unaryRequests = 12_000;
const streamRequests = 2_400;
const openStreams = 4_000;
const slowChunks = 6;

export async function benchGateway(options: GatewayOptions): Promise<object> {
  const upstream = await startChild(['bench/upstream.ts']);
  const forwarder = await startChild(['bench/forwarder.ts', String(upstream.port)]);
  // One for each way to call it, since CPU is measured by the process.
  const byHeaders = await startProgram();
  const program = await startProgram();
  const peer = options.peer ? await startPeer(upstream.port) : null;
  try {
    const { inline } = await prepare(byHeaders, upstream);
    const { saved } = await prepare(program, upstream);
    const bare: Aim = { child: forwarder, headers: {} };
    const aims: [string, Aim][] = [
      ['bare forwarder', bare],
      ['gw, inline headers', inline],
      ['gw, saved provider + config + retry + fallback', saved],
      ...(peer ? [[peerName, peer] as [string, Aim]] : []),
    ];
    const unary = await compare(aims, {}, unaryRequests, 16);
    printTable('Unary calls (logs with bodies on)', unary);
    const streams = await compare(aims, { stream: true }, streamRequests, 8);
    printTable('Streams of 50 chunks', streams);

    const [plain, ours] = await compareLatency([bare, saved], {}, 1_000, false);
    const [plainFirst, oursFirst] = await compareLatency([bare, saved], { stream: true }, 400, true);
    const added = {
      'added p50 (ms)': (ours?.p50 ?? 0) - (plain?.p50 ?? 0),
      'added p99 (ms)': (ours?.p99 ?? 0) - (plain?.p99 ?? 0),
      'added first token p50 (ms)': (oursFirst?.p50 ?? 0) - (plainFirst?.p50 ?? 0),
    };
    printTable('One call at a time', [added]);

    const memory = await slowStreams(program, saved);
    printTable(`${openStreams} slow streams at once`, [memory]);
    const soak = options.soakMinutes > 0 ? await soakTest(program, saved, options.soakMinutes) : null;
    if (soak) printTable(`Soak of ${options.soakMinutes} minutes`, soak);
    return { unary, streams, added, memory, soak };
  } finally {
    await Promise.all([byHeaders, program, forwarder, upstream, peer?.child].map((child) => child?.stop()));
  }
}

async function startProgram(): Promise<Child> {
  const folder = mkdtempSync(join(tmpdir(), 'gw-bench-'));
  const child = await startChild(['src/main.ts', 'serve'], {
    PORT: '0',
    GW_DATA_DIR: folder,
    TRUSTED_CUSTOM_HOSTS: '127.0.0.1',
    NODE_ENV: 'production',
  });
  return {
    ...child,
    async stop() {
      await child.stop();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** Sets the program up through its public API, as an administrator would. */
async function prepare(program: Child, upstream: Child): Promise<{ inline: Aim; saved: Aim }> {
  const key = (name: string) => new RegExp(`${name} key\\s+(\\S+)`).exec(program.greeting)?.[1] ?? '';
  const adminKey = key('admin');
  const workspaceKey = key('workspace');
  const admin = async (method: string, path: string, body?: object) => {
    const response = await fetch(`http://127.0.0.1:${program.port}/v1${path}`, {
      method,
      headers: { 'x-gw-api-key': adminKey, 'content-type': 'application/json' },
      ...(body && { body: JSON.stringify(body) }),
    });
    const reply = (await response.json()) as { slug: string; data: { id: string }[] };
    if (response.status !== 200) throw new Error(`${method} ${path}: ${JSON.stringify(reply)}`);
    return reply;
  };
  const workspace_id = (await admin('GET', '/workspaces')).data[0]?.id;
  const custom_host = `http://127.0.0.1:${upstream.port}/v1`;
  for (const slug of ['first', 'second']) {
    await admin('POST', '/integrations', {
      name: slug,
      slug,
      ai_provider_id: 'openai',
      key: 'sk-bench',
      workspace_id,
      default_provider_slug: slug,
      configurations: { custom_host },
    });
  }
  const config = await admin('POST', '/configs', {
    name: 'bench',
    workspace_id,
    config: {
      strategy: { mode: 'fallback' },
      retry: { attempts: 2 },
      targets: [{ provider: '@first' }, { provider: '@second' }],
    },
  });
  await admin('PUT', '/admin/organisation/settings', { data_plane_security_settings: { block_inline_config: false } });
  return {
    saved: { child: program, headers: { 'x-gw-api-key': workspaceKey, 'x-gw-config': config.slug } },
    inline: {
      child: program,
      headers: {
        'x-gw-api-key': workspaceKey,
        'x-gw-provider': 'openai',
        authorization: 'Bearer sk-bench',
        'x-gw-custom-host': custom_host,
      },
    },
  };
}

const peerName = 'peer';
/** A peer that fails its calls is shown with what it said. */
const noFigures = { 'CPU µs/request': '-', 'ratio to bare': '-', 'requests/s': '-' };

async function compare(aims: [string, Aim][], more: object, count: number, together: number) {
  const programs = aims.map(([, aim]) => aim);
  const measured = await measureAll(programs, more, count, together);
  const [bare] = measured;
  if (!bare || bare instanceof Error) throw bare ?? new Error('nothing was measured');
  return aims.map(([name], index): Record<string, string | number> => {
    const result = measured[index] ?? new Error('not measured');
    if (!(result instanceof Error)) {
      return {
        what: name,
        'CPU µs/request': result.cpuPerRequest,
        'ratio to bare': result.cpuPerRequest / bare.cpuPerRequest,
        'requests/s': result.perSecond,
      };
    }
    if (name !== peerName) throw result;
    return { what: `${name}: ${result.message.slice(0, 60)}`, ...noFigures };
  });
}

async function slowStreams(program: Child, aim: Aim) {
  const before = residentMegabytes(program.pid);
  const body = bodyOf(aim, { stream: true, slow: slowChunks });
  let highest = before;
  const watch = setInterval(() => {
    highest = Math.max(highest, residentMegabytes(program.pid));
  }, 200);
  const texts = await Promise.all(Array.from({ length: openStreams }, async () => (await ask(aim, body)).text()));
  clearInterval(watch);
  const complete = texts.filter((text) => text.endsWith('data: [DONE]\n\n')).length;
  return { 'RSS before (MB)': before, 'RSS highest (MB)': highest, 'complete streams': complete };
}

async function soakTest(program: Child, aim: Aim, minutes: number) {
  const rows: Record<string, string | number>[] = [];
  for (let minute = 1; minute <= minutes; minute++) {
    const until = performance.now() + 60_000;
    while (performance.now() < until) {
      await Promise.all(
        Array.from({ length: 16 }, async (_, index) =>
          (await ask(aim, bodyOf(aim, { stream: index % 4 === 0 }))).arrayBuffer(),
        ),
      );
    }
    rows.push({ minute, 'RSS (MB)': residentMegabytes(program.pid) });
    console.log(`soak: minute ${minute} of ${minutes}, RSS ${residentMegabytes(program.pid).toFixed(0)} MB`);
  }
  return rows;
}
