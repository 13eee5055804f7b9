/** What provisioning costs: a group of 10,000 members, and 1,000 users looked up by filter, over HTTP on the embedded database. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startApp } from '../src/app.ts';
import { readEnvironment } from '../src/environment.ts';
import { silentLog } from '../src/log.ts';
import type { Store } from '../src/store/database.ts';
import { printTable } from './table.ts';

const users = 10_000;
const lookUps = 1_000;
const slice = 500;
const adminKey = 'bench-admin-key-of-more-than-32-characters';

export async function benchScim(): Promise<Record<string, number>> {
  const folder = mkdtempSync(join(tmpdir(), 'gw-bench-scim-'));
  const settings = readEnvironment({
    PORT: '0',
    GW_DATA_DIR: folder,
    GW_ADMIN_API_KEY: adminKey,
    ADMIN_RATE_LIMIT: '0',
    ADMIN_SENSITIVE_RATE_LIMIT: '0',
  });
  const app = await startApp(settings, { log: silentLog });
  const origin = `http://127.0.0.1:${app.port}`;
  try {
    const { db } = app.services.store;
    const place = await db.selectFrom('workspaces').select(['organisation_id', 'id']).executeTakeFirstOrThrow();
    const ids = await addPeople(db, place.organisation_id);

    const ask = async (method: string, path: string, key: Record<string, string>, body?: unknown) => {
      const answer = await fetch(origin + path, {
        method,
        headers: { 'content-type': 'application/json', ...key },
        ...(body !== undefined && { body: JSON.stringify(body) }),
      });
      const text = await answer.text();
      if (answer.status >= 300) throw new Error(`${method} ${path}: ${answer.status} ${text.slice(0, 300)}`);
      return text === '' ? null : JSON.parse(text);
    };
    const admin = { 'x-gw-api-key': adminKey };
    const settingsPath = '/v1/admin/organisation/auth-settings';
    await ask('PUT', settingsPath, admin, { scim: { enabled: true } });
    const { token } = await ask('POST', `${settingsPath}/scim/token`, admin);
    const scim = (method: string, path: string, body?: unknown) =>
      ask(method, `/v2/scim/${place.organisation_id}${path}`, { authorization: `Bearer ${token}` }, body);

    const results: Record<string, number> = {};
    const timed = async <T>(what: string, work: () => Promise<T>, times = 1): Promise<T> => {
      const began = performance.now();
      const made = await work();
      results[what] = (performance.now() - began) / times;
      return made;
    };
    const members = ids.map((value) => ({ value }));
    const one = (op: string) => ({ Operations: [{ op, path: 'members', value: members.slice(0, 1) }] });
    const group = await timed('a group of 10,000 members is pushed, ms', () =>
      scim('POST', '/Groups', { displayName: 'Everybody', members }),
    );
    await timed('it gets a workspace, ms', () =>
      ask('POST', '/v1/scim/workspaces', admin, {
        workspace_id: place.id,
        role: 'member',
        scim_group_id: group.id,
      }),
    );
    await timed('one member leaves, ms', () => scim('PATCH', `/Groups/${group.id}`, one('remove')));
    await timed('one member joins, ms', () => scim('PATCH', `/Groups/${group.id}`, one('add')));
    await timed('it is pushed again as it is, ms', () =>
      scim('PUT', `/Groups/${group.id}`, { displayName: 'Everybody', members }),
    );
    await timed('it is read with its members, ms', () => scim('GET', `/Groups/${group.id}`));
    await timed('it is read without them, ms', () => scim('GET', `/Groups/${group.id}?excludedAttributes=members`));
    await timed(
      'a user is found by filter, ms',
      async () => {
        for (let n = 0; n < lookUps; n++) {
          const filter = encodeURIComponent(`userName eq "Person-${n * 7}@acme.example"`);
          const { totalResults } = await scim('GET', `/Users?filter=${filter}`);
          if (totalResults !== 1) throw new Error(`Person ${n * 7} was not found`);
        }
      },
      lookUps,
    );
    await timed('a page of 100 users, the last, ms', () => scim('GET', `/Users?startIndex=${users - 100}&count=100`));
    printTable(
      'SCIM',
      Object.entries(results).map(([what, value]) => ({ what, value })),
    );
    return results;
  } finally {
    await app.stop();
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Members without sessions, keys or passwords, put straight into the store. */
async function addPeople(db: Store['db'], organisationId: string): Promise<string[]> {
  const at = new Date().toISOString();
  const ids: string[] = [];
  for (let start = 0; start < users; start += slice) {
    const people = Array.from({ length: slice }, (_, n) => ({
      id: Bun.randomUUIDv7(),
      email: `person-${start + n}@acme.example`,
      first_name: 'Person',
      last_name: `No ${start + n}`,
      email_proven_at: null,
      last_organisation_id: null,
      created_at: at,
      last_updated_at: at,
    }));
    await db.insertInto('users').values(people).execute();
    await db
      .insertInto('organisation_members')
      .values(
        people.map(({ id }) => ({
          organisation_id: organisationId,
          user_id: id,
          role: 'member' as const,
          status: 'active' as const,
          provisioned_by: 'scim' as const,
          last_login_at: null,
          created_at: at,
          last_updated_at: at,
        })),
      )
      .execute();
    ids.push(...people.map(({ id }) => id));
  }
  return ids;
}
