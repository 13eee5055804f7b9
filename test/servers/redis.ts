/** A Redis server for the tests, started from the installed program on a free loopback port; one for the whole run, or one of its own. */
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort } from './free-port.ts';

const program = Bun.which('redis-server') ?? Bun.which('valkey-server');
const client = Bun.which('redis-cli') ?? Bun.which('valkey-cli');

/** False where neither Redis nor Valkey is installed; tests that need one are then skipped by name. */
export const redisInstalled = program !== null;

export interface RedisServer {
  url: string;
  port: number;
  /** Freezes it: it keeps its connections and answers nothing. */
  freeze(): void;
  thaw(): void;
  /** Ends it at once. */
  kill(): Promise<void>;
}

let shared: Promise<RedisServer> | undefined;

/** The server of the whole run: tests keep apart by the ids of their organisations. */
export function sharedRedis(): Promise<RedisServer> {
  shared ??= startRedis();
  return shared;
}

/** The pipe closes when this process ends, however it ends; then the server ends too. */
const keepWhilePipeIsOpen = `
folder=$1; shift
"$@" </dev/null &
echo $!
cat >/dev/null
kill -KILL $! 2>/dev/null
wait
rm -rf "$folder"
`;

/** `settings` are further ones, as the command line takes them. */
export async function startRedis(port?: number, settings: readonly string[] = []): Promise<RedisServer> {
  const chosen = port ?? (await freePort());
  return launch(chosen, (folder) => {
    const listening = settings.includes('--tls-port') ? [] : ['--port', String(chosen)];
    return [...listening, '--bind', '127.0.0.1', '--save', '', '--appendonly', 'no', '--dir', folder, ...settings];
  });
}

/** Three servers that share the slots between them. */
export async function startRedisCluster(): Promise<{ urls: string; kill(): Promise<void> }> {
  const servers = await Promise.all(
    [0, 1, 2].map(() => startRedis(undefined, ['--cluster-enabled', 'yes', '--cluster-node-timeout', '2000'])),
  );
  const [first, ...others] = servers;
  if (!first) throw new Error('There is no server');
  const bounds = [0, 5_461, 10_923, 16_384];
  for (const [index, server] of servers.entries()) {
    const last = (bounds[index + 1] ?? 0) - 1;
    ask(server, ['CLUSTER', 'ADDSLOTSRANGE', String(bounds[index]), String(last)]);
  }
  for (const other of others) ask(first, ['CLUSTER', 'MEET', '127.0.0.1', String(other.port)]);
  const isWhole = (server: RedisServer) => {
    const told = ask(server, ['CLUSTER', 'INFO']);
    return told.includes('cluster_state:ok') && told.includes('cluster_known_nodes:3');
  };
  while (!servers.every(isWhole)) await Bun.sleep(20);
  return {
    urls: servers.map(({ port }) => `127.0.0.1:${port}`).join(','),
    async kill() {
      await Promise.all(servers.map((server) => server.kill()));
    },
  };
}

/** A master, a replica of it, and a sentinel that watches them. */
export async function startRedisSentinel(): Promise<{ url: string; master: RedisServer; kill(): Promise<void> }> {
  const master = await startRedis();
  const replica = await startRedis(undefined, ['--replicaof', '127.0.0.1', String(master.port)]);
  while (!ask(replica, ['INFO', 'replication']).includes('master_link_status:up')) await Bun.sleep(20);
  const port = await freePort();
  const sentinel = await launch(port, (folder) => {
    const file = join(folder, 'sentinel.conf');
    const watch = [
      `port ${port}`,
      'bind 127.0.0.1',
      `dir ${folder}`,
      `sentinel monitor mymaster 127.0.0.1 ${master.port} 1`,
      'sentinel down-after-milliseconds mymaster 500',
      'sentinel failover-timeout mymaster 3000',
    ];
    writeFileSync(file, `${watch.join('\n')}\n`);
    return [file, '--sentinel'];
  });
  while (!ask(sentinel, ['SENTINEL', 'MASTER', 'mymaster']).includes('num-slaves\n1')) await Bun.sleep(20);
  let isMasterThere = true;
  return {
    url: `redis+sentinel://127.0.0.1:${port}/mymaster`,
    master: {
      ...master,
      async kill() {
        isMasterThere = false;
        await master.kill();
      },
    },
    async kill() {
      await sentinel.kill();
      await replica.kill();
      if (isMasterThere) await master.kill();
    },
  };
}

/** What the server answers, as its own client prints it. */
const ask = ({ port }: RedisServer, command: readonly string[]): string =>
  Bun.spawnSync([client ?? 'redis-cli', '-p', String(port), ...command])
    .stdout.toString()
    .replaceAll('\r', '');

async function launch(port: number, settings: (folder: string) => readonly string[]): Promise<RedisServer> {
  if (!program) throw new Error('Redis is not installed');
  const folder = mkdtempSync(join(tmpdir(), 'gw-redis-'));
  const keeper = spawn('sh', ['-c', keepWhilePipeIsOpen, 'sh', folder, program, ...settings(folder)], {
    stdio: ['pipe', 'pipe', 'ignore'],
  });
  keeper.unref();
  const pid = await pidOf(keeper);
  await untilOpen(port);
  return {
    url: `redis://127.0.0.1:${port}`,
    port,
    freeze: () => void process.kill(pid, 'SIGSTOP'),
    thaw: () => void process.kill(pid, 'SIGCONT'),
    async kill() {
      process.kill(pid, 'SIGKILL');
      const ended = new Promise((resolve) => keeper.once('exit', resolve));
      keeper.stdin?.end();
      await ended;
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

const pidOf = (keeper: ChildProcess): Promise<number> =>
  new Promise((resolve, reject) => {
    // The server writes its own log to the same pipe; the first line is ours.
    keeper.stdout?.once('data', (text: Buffer) => resolve(Number(text.toString().split('\n')[0])));
    keeper.once('error', reject);
  });

async function untilOpen(port: number): Promise<void> {
  for (let attempt = 0; ; attempt++) {
    const open = await new Promise<boolean>((resolve) => {
      const socket = connect(port, '127.0.0.1', () => {
        socket.destroy();
        resolve(true);
      });
      socket.once('error', () => resolve(false));
    });
    if (open) return;
    if (attempt > 300) throw new Error('Redis did not start');
    await Bun.sleep(20);
  }
}
