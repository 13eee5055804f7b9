/** The control plane with 100,000 keys and 10,000 users on each engine: list pages, and finding a key that was seen before. */
import { mkdtempSync, rmSync } from 'node:fs';
import { loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { type App, startApp } from '../src/app.ts';
import { readEnvironment } from '../src/environment.ts';
import { createKeyring } from '../src/identity/keyring.ts';
import { silentLog } from '../src/log.ts';
import { newDatabase, postgresInstalled } from '../test/servers/postgres.ts';
import { lists, type Path, timesOf } from './admin-lists.ts';
import { type Filled, fill, keys, touch, touchOther, users } from './admin-store.ts';
import { printTable } from './table.ts';

const rounds = 200;
const warmUpRounds = 30;
const adminKey = 'bench-'.padEnd(40, '0');

export async function benchAdmin(): Promise<object> {
  const sqlite = await benchEngine('SQLite', {});
  if (!postgresInstalled) {
    console.log('\nskipped: list pages on PostgreSQL, which is not installed');
    return { sqlite };
  }
  return { sqlite, postgres: await benchEngine('PostgreSQL', { DATABASE_URL: await newDatabase() }) };
}

async function benchEngine(engine: string, more: Record<string, string>): Promise<object> {
  const folder = mkdtempSync(join(tmpdir(), 'gw-bench-'));
  const env = { PORT: '0', GW_DATA_DIR: folder, ADMIN_RATE_LIMIT: '0', GW_ADMIN_API_KEY: adminKey, ...more };
  const open = () => startApp(readEnvironment(env), { log: silentLog });
  try {
    console.log(`\nFilling ${engine} with ${keys} keys and ${users} users ...`);
    const empty = await open();
    const filled = await fill(empty).finally(() => empty.stop());
    const app = await open();
    try {
      const pages = await listPages(app, filled);
      const load = loadavg()[0] ?? 0;
      printTable(
        `List pages over HTTP on ${engine}, ${keys} keys and ${users} users, load ${load.toFixed(1)} (ms)`,
        pages,
      );
      const lookups = await findKeys(app, filled.secret);
      printTable('A key seen before', [lookups]);
      return { load, pages, lookups };
    } finally {
      await app.stop();
    }
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

async function listPages(app: App, filled: Filled) {
  const rows: Record<string, string | number>[] = [];
  const ask = (path: Path, count: number) => timesOf(app.url, adminKey, path, count);
  for (const [what, path] of lists(filled)) {
    await ask(path, warmUpRounds);
    rows.push(figuresOf(what, await ask(path, rounds)));
  }
  const after = async (write: () => Promise<void>, path: Path) => {
    const times: number[] = [];
    for (let round = 0; round < rounds / 4; round++) {
      await write();
      times.push(...(await ask(path, 1)));
    }
    return times;
  };
  for (const [what, path] of lists(filled).filter(([name]) => name.startsWith('keys, '))) {
    rows.push(figuresOf(`${what}, after a write elsewhere`, await after(() => touchOther(app), path)));
  }
  for (const [what, path] of lists(filled)) {
    rows.push(figuresOf(`${what}, after a write to it`, await after(() => touch(app, filled), path)));
  }
  return rows;
}

function figuresOf(what: string, times: number[]): Record<string, string | number> {
  times.sort((a, b) => a - b);
  const at = (share: number) => times[Math.floor(times.length * share)] ?? 0;
  return { what, p50: at(0.5), p99: at(0.99) };
}

async function findKeys(app: App, secret: string) {
  const { store, feed, clock } = app.services;
  let statements = 0;
  const counted = store.db.withPlugin({
    transformQuery: ({ node }) => {
      statements++;
      return node;
    },
    transformResult: async ({ result }) => result,
  });
  const keyring = createKeyring(counted, feed, clock);
  await keyring.find(secret);
  const before = statements;
  const start = performance.now();
  const look = 100_000;
  for (let index = 0; index < look; index++) await keyring.find(secret);
  return { 'µs a look-up': ((performance.now() - start) * 1000) / look, 'SQL statements': statements - before };
}
