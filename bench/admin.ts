/** The control plane with 100,000 keys and 10,000 users on each engine: list pages, and finding a key that was seen before. */
import { mkdtempSync, rmSync } from 'node:fs';
import { loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { LongLists } from '../src/admin/kernel/long-lists.ts';
import { type App, startApp } from '../src/app.ts';
import { readEnvironment } from '../src/environment.ts';
import { createKeyring } from '../src/identity/keyring.ts';
import { silentLog } from '../src/log.ts';
import { newDatabase, postgresInstalled } from '../test/servers/postgres.ts';
import { type Filled, fill, keys, touch, touchOther, users } from './admin-store.ts';
import { printTable } from './table.ts';

const rounds = 200;
const warmUpRounds = 30;
const firstRounds = 10;

export async function benchAdmin(): Promise<object> {
  const sqlite = await benchEngine('SQLite', {});
  if (!postgresInstalled) {
    console.log('\nskipped: list pages on PostgreSQL, which is not installed');
    return { sqlite };
  }
  return { sqlite, postgres: await benchEngine('PostgreSQL', { DATABASE_URL: await newDatabase() }) };
}

async function benchEngine(engine: string, env: Record<string, string>): Promise<object> {
  const folder = mkdtempSync(join(tmpdir(), 'gw-bench-'));
  const settings = readEnvironment({ PORT: '0', GW_DATA_DIR: folder, ADMIN_RATE_LIMIT: '0', ...env });
  const app = await startApp(settings, { log: silentLog });
  try {
    console.log(`\nFilling ${engine} with ${keys} keys and ${users} users ...`);
    const filled = await fill(app);
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
    rmSync(folder, { recursive: true, force: true });
  }
}

/** What is asked for, or how to say it at the moment of asking. */
type Path = string | (() => string);

/** Every list that this store fills, with every order and every kind of filter, at the page that costs most. */
function lists({ workspaceId, ownerId }: Filled): [what: string, path: Path][] {
  const ofKeys = (what: string, query: string): [string, Path] => [`keys${what}`, `/v1/api-keys?page_size=50${query}`];
  const middle = '&current_page=1000';
  const year = new Date().getFullYear();
  const audit = `/v1/audit-logs?start_time=${year}-01-01T00:00:00Z&end_time=${year}-12-31T23:59:59Z`;
  const members = `/v1/workspaces/${workspaceId}/users?page_size=50`;
  return [
    ofKeys(', first page', ''),
    ofKeys(', page 1,000', middle),
    ofKeys(', last page', '&current_page=2000'),
    ofKeys(' by expiry, page 1,000', `${middle}&sort_by=expires_at`),
    ofKeys(' by change, page 1,000', `${middle}&sort_by=last_updated_at&order=asc`),
    ofKeys(' by name, page 1,000', `${middle}&sort_by=name`),
    ofKeys(' of a workspace, page 1,000', `${middle}&workspace_id=${workspaceId}`),
    ofKeys(' of a type, page 400', '&current_page=400&type=service'),
    ofKeys(' of a type that is rare', '&type=organisation-service'),
    ofKeys(' of a state, page 1,000', `${middle}&status=active`),
    ofKeys(' of a state that none has', '&status=expired'),
    ofKeys(' of one owner of 40,000, page 400', `&current_page=400&user_id=${ownerId}`),
    ofKeys(' of one owner of 40,000 by name, page 400', `&current_page=400&user_id=${ownerId}&sort_by=name`),
    ofKeys(', search that finds 20', '&search=9999'),
    ofKeys(', search that finds 20, by name', '&search=9999&sort_by=name'),
    ofKeys(', search that finds nothing', '&search=nowhere'),
    ofKeys(', search that finds all', '&search=BUILD'),
    ofKeys(', search that finds all, page 1,000', `${middle}&search=build`),
    ['users, first page', '/v1/admin/users?pageSize=50'],
    ['users, page 100', '/v1/admin/users?pageSize=50&currentPage=100'],
    ['users, last page', '/v1/admin/users?pageSize=50&currentPage=199'],
    ['users of a role, page 100', '/v1/admin/users?pageSize=50&currentPage=100&role=member'],
    ['users by address', '/v1/admin/users?pageSize=50&email=person77@example.com'],
    ['members, page 100', `${members}&current_page=100`],
    ['members of a role, page 100', `${members}&current_page=100&role=member`],
    ['members, search that finds 20', `${members}&search=999`],
    ['members, search that finds all, page 100', `${members}&current_page=100&search=Example.com`],
    ['workspaces', '/v1/admin/workspaces?page_size=50'],
    ['invites, page 100', '/v1/admin/users/invites?page_size=50&current_page=100'],
    ['invites of a state, page 100', '/v1/admin/users/invites?page_size=50&current_page=100&status=accepted'],
    ['audit rows, first page', audit],
    ['audit rows, page 1,000', `${audit}&current_page=1000`],
    ['audit rows of an action, page 1,000', `${audit}&current_page=1000&resource_type=api_key&action=create`],
    ['audit rows of an action that is rare', `${audit}&action=login`],
    ['audit rows by path', `${audit}&uri=nowhere`],
    ['audit rows of a week until now, page 1,000', () => `${lastWeek()}&current_page=1000`],
  ];
}

const weekMs = 7 * 86_400_000;

/** As the console asks: every time for another range. */
function lastWeek(): string {
  const now = Date.now();
  const [start, end] = [now - weekMs, now].map((time) => new Date(time).toISOString());
  return `/v1/audit-logs?start_time=${start}&end_time=${end}`;
}

async function listPages(app: App, filled: Filled) {
  const rows: Record<string, string | number>[] = [];
  for (const [what, path] of lists(filled)) {
    await timesOf(app, path, warmUpRounds);
    rows.push(figuresOf(what, await timesOf(app, path, rounds)));
  }
  const after = async (write: () => Promise<void>, path: Path) => {
    const times: number[] = [];
    for (let round = 0; round < rounds / 4; round++) {
      await write();
      times.push(...(await timesOf(app, path, 1)));
    }
    return times;
  };
  for (const [what, path] of lists(filled).filter(([name]) => name.startsWith('keys, '))) {
    rows.push(figuresOf(`${what}, after a write elsewhere`, await after(() => touchOther(app), path)));
  }
  for (const [what, path] of lists(filled)) {
    rows.push(figuresOf(`${what}, after a write to it`, await after(() => touch(app, filled), path)));
  }
  for (const [what, path] of lists(filled).filter(([name]) => /^(keys|audit)/.test(name))) {
    const times: number[] = [];
    for (let round = 0; round < firstRounds; round++) {
      app.services.longLists = new LongLists(app.services.store.engine);
      times.push(...(await timesOf(app, path, 1)));
    }
    rows.push(figuresOf(`${what}, for the first time`, times));
  }
  return rows;
}

function figuresOf(what: string, times: number[]): Record<string, string | number> {
  times.sort((a, b) => a - b);
  const at = (share: number) => times[Math.floor(times.length * share)] ?? 0;
  return { what, p50: at(0.5), p99: at(0.99) };
}

/** How long each of so many askings for a page took. */
async function timesOf(app: App, path: Path, count: number): Promise<number[]> {
  const times: number[] = [];
  for (let round = 0; round < count; round++) {
    const start = performance.now();
    const asked = typeof path === 'string' ? path : path();
    const response = await fetch(app.url + asked, { headers: { 'x-gw-api-key': app.firstStart?.adminKey ?? '' } });
    await response.arrayBuffer();
    if (response.status !== 200) throw new Error(`${asked} answered ${response.status}`);
    times.push(performance.now() - start);
  }
  return times;
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
