/** A Redis server for the tests, started from the installed program on a free loopback port; one for the whole run, or one of its own. */
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort } from './free-port.ts';

const program = Bun.which('redis-server') ?? Bun.which('valkey-server');

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

export async function startRedis(port?: number): Promise<RedisServer> {
  if (!program) throw new Error('Redis is not installed');
  const chosen = port ?? (await freePort());
  const folder = mkdtempSync(join(tmpdir(), 'gw-redis-'));
  const settings = [
    '--port',
    String(chosen),
    '--bind',
    '127.0.0.1',
    '--save',
    '',
    '--appendonly',
    'no',
    '--dir',
    folder,
  ];
  const keeper = spawn('sh', ['-c', keepWhilePipeIsOpen, 'sh', folder, program, ...settings], {
    stdio: ['pipe', 'pipe', 'ignore'],
  });
  keeper.unref();
  const pid = await pidOf(keeper);
  await untilOpen(chosen);
  return {
    url: `redis://127.0.0.1:${chosen}`,
    port: chosen,
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
