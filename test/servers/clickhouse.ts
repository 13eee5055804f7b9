/** ClickHouse for the tests: its engine in a process of its own, on a free loopback port; one for each file of tests. */
import { spawn, spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { freePort } from './free-port.ts';

/** `.ci/run` installs the engine into a virtual environment there. */
const python = [process.env.GW_TEST_CHDB_PYTHON ?? '', join(homedir(), '.cache/gw-chdb/bin/python')].find(
  (path) => path !== '' && existsSync(path),
);

/** False where the engine is not installed; tests that need it are then skipped by name. */
export const clickhouseInstalled =
  python !== undefined &&
  spawnSync(python, ['-c', 'import importlib.util as u; assert u.find_spec("chdb")']).status === 0;

export interface ClickHouseServer {
  /** The address of a new, empty database. */
  newDatabase(): string;
  /** Ends the process, as a crash would. What it stored is gone. */
  stop(): Promise<void>;
}

export async function startClickHouse(): Promise<ClickHouseServer> {
  if (!python) throw new Error('chdb is not installed');
  const port = await freePort();
  const child = spawn(python, [join(import.meta.dir, 'clickhouse-server.py'), String(port)], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const ended = new Promise<void>((resolve) => child.on('close', () => resolve()));
  await Promise.race([
    new Promise((resolve) => child.stdout.once('data', resolve)),
    ended.then(() => Promise.reject(new Error('ClickHouse did not start'))),
  ]);
  let databases = 0;
  return {
    newDatabase() {
      databases += 1;
      return `http://default@127.0.0.1:${port}/gw_${databases}`;
    },
    async stop() {
      child.stdin.end();
      await ended;
    },
  };
}
