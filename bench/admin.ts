/** The control plane with 100,000 keys and 10,000 users: list pages, and finding a key that was seen before. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { mintKey } from '../src/admin/api-keys/mint.ts';
import { insertUser, joinOrganisation } from '../src/admin/users/membership.ts';
import { type App, startApp } from '../src/app.ts';
import { readEnvironment } from '../src/environment.ts';
import { createKeyring } from '../src/identity/keyring.ts';
import { silentLog } from '../src/log.ts';
import { printTable } from './table.ts';

const keys = 100_000;
const users = 10_000;
const rounds = 200;
const warmUpRounds = 30;

export async function benchAdmin(): Promise<object> {
  const folder = mkdtempSync(join(tmpdir(), 'gw-bench-'));
  const settings = readEnvironment({ PORT: '0', GW_DATA_DIR: folder, ADMIN_RATE_LIMIT: '0' });
  const app = await startApp(settings, { log: silentLog });
  try {
    console.log(`Filling the store with ${keys} keys and ${users} users ...`);
    const secret = await fill(app);
    const pages = await listPages(app);
    printTable(`List pages over HTTP, ${keys} keys and ${users} users (ms)`, pages);
    const lookups = await findKeys(app, secret);
    printTable('A key seen before', [lookups]);
    return { pages, lookups };
  } finally {
    await app.stop();
    rmSync(folder, { recursive: true, force: true });
  }
}

async function fill(app: App): Promise<string> {
  const { store, clock } = app.services;
  const now = clock.now();
  let secret = '';
  const workspace = await store.db.selectFrom('workspaces').select(['id', 'organisation_id']).executeTakeFirstOrThrow();
  const organisationId = workspace.organisation_id;
  for (let start = 0; start < users; start += 1_000) {
    await store.atomically(async (tx) => {
      for (let index = start; index < start + 1_000; index++) {
        const user = {
          email: `person${index}@example.com`,
          firstName: 'Person',
          lastName: String(index),
          passwordHash: null,
        };
        const userId = await insertUser(tx, now, user);
        await joinOrganisation(tx, now, { organisationId, userId, role: 'member', provisionedBy: 'invite' });
      }
    });
  }
  for (let start = 0; start < keys; start += 2_000) {
    await store.atomically(async (tx) => {
      for (let index = start; index < start + 2_000; index++) {
        const key = await mintKey(
          tx,
          new Date(now.getTime() + index),
          {
            organisationId,
            workspaceId: workspace.id,
            userId: null,
            type: 'workspace-service',
            name: `key ${index}`,
            creationMode: 'api',
            scopes: ['completions.write'],
            createdBy: null,
          },
          { prefix: '' },
        );
        secret = key.secret;
      }
    });
  }
  return secret;
}

async function listPages(app: App) {
  const lists = [
    ['keys, first page', '/v1/api-keys?page_size=50'],
    ['keys, page 1,000', '/v1/api-keys?page_size=50&current_page=1000'],
    ['keys, last page', '/v1/api-keys?page_size=50&current_page=2000'],
    ['keys by expiry, page 1,000', '/v1/api-keys?page_size=50&current_page=1000&sort_by=expires_at'],
    ['keys by change, page 1,000', '/v1/api-keys?page_size=50&current_page=1000&sort_by=last_updated_at'],
    ['keys by name, page 1,000', '/v1/api-keys?page_size=50&current_page=1000&sort_by=name'],
    ['users, first page', '/v1/admin/users?pageSize=50'],
    ['users, last page', '/v1/admin/users?pageSize=50&currentPage=199'],
    ['workspaces', '/v1/admin/workspaces?page_size=50'],
    ['invites', '/v1/admin/users/invites'],
    ['audit rows', '/v1/audit-logs?start_time=2026-01-01T00:00:00Z&end_time=2026-12-31T00:00:00Z'],
  ] as const;
  const rows: Record<string, string | number>[] = [];
  for (const [what, path] of lists) {
    await timesOf(app, path, warmUpRounds);
    const times = (await timesOf(app, path, rounds)).sort((a, b) => a - b);
    rows.push({ what, p50: times[rounds / 2] ?? 0, p99: times[Math.floor(rounds * 0.99)] ?? 0 });
  }
  return rows;
}

/** How long each of so many askings for a page took. */
async function timesOf(app: App, path: string, count: number): Promise<number[]> {
  const times: number[] = [];
  for (let round = 0; round < count; round++) {
    const start = performance.now();
    const response = await fetch(app.url + path, { headers: { 'x-gw-api-key': app.firstStart?.adminKey ?? '' } });
    await response.arrayBuffer();
    if (response.status !== 200) throw new Error(`${path} answered ${response.status}`);
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
