/** A store as a large organisation fills it: people, their memberships and invites, keys, and the audit trail of it all. */
import { sql } from 'kysely';
import { mintKey } from '../src/admin/api-keys/mint.ts';
import { insertUser, joinOrganisation } from '../src/admin/users/membership.ts';
import type { App } from '../src/app.ts';
import type { Db } from '../src/store/database.ts';

export const keys = 100_000;
export const users = 10_000;
const keysOfOneOwner = 40_000;
const keysOfOthers = 20_000;
const rowsAtOnce = 500;

export interface Filled {
  workspaceId: string;
  /** Who owns most of the user keys. */
  ownerId: string;
  organisationId: string;
  /** The last key that was made. */
  keyId: string;
  secret: string;
}

export async function fill({ services }: App): Promise<Filled> {
  const { store, clock } = services;
  // One after another until now.
  const start = clock.now().getTime() - keys;
  const workspace = await store.db.selectFrom('workspaces').select(['id', 'organisation_id']).executeTakeFirstOrThrow();
  const place = { workspaceId: workspace.id, organisationId: workspace.organisation_id };
  const inSlices = async (count: number, work: (tx: Db, index: number, at: Date) => Promise<void>) => {
    for (let first = 0; first < count; first += 1_000) {
      await store.atomically(async (tx) => {
        for (let index = first; index < first + 1_000; index++) await work(tx, index, new Date(start + index));
      });
    }
  };
  const people: string[] = [];
  await inSlices(users, async (tx, index, at) => void people.push(await addPerson(tx, at, place, index)));
  let last = { id: '', secret: '' };
  await inSlices(keys, async (tx, index, at) => {
    const ownerId = ownerOf(people, index);
    last = await mintKey(tx, at, newKey(place, index, ownerId), { prefix: '' });
  });
  for (let first = 0; first < keys; first += rowsAtOnce) {
    const rows = Array.from({ length: rowsAtOnce }, (_, row) => auditRow(place, new Date(start + first + row)));
    await store.db.insertInto('audit_logs').values(rows).execute();
  }
  // What the server does by itself within a minute of so many writes.
  if (store.engine === 'postgres') await sql`vacuum analyze`.execute(store.db);
  return { ...place, ownerId: people[0] ?? '', keyId: last.id, secret: last.secret };
}

/** Changes a row of every long list and adds an audit row, as the administration does all day. */
export async function touch({ services: { store, clock } }: App, filled: Filled): Promise<void> {
  const { keyId, ownerId, workspaceId } = filled;
  const now = clock.now();
  const changed = { last_updated_at: now.toISOString() };
  await store.atomically(async (tx) => {
    await tx.updateTable('api_keys').set(changed).where('id', '=', keyId).execute();
    await tx.updateTable('users').set(changed).where('id', '=', ownerId).execute();
    await tx.updateTable('organisation_members').set(changed).where('user_id', '=', ownerId).execute();
    await tx
      .updateTable('workspace_members')
      .set(changed)
      .where('workspace_id', '=', workspaceId)
      .where('user_id', '=', ownerId)
      .execute();
    await tx
      .updateTable('invites')
      .set({ accepted_at: changed.last_updated_at })
      .where('email', '=', 'person0@example.com')
      .execute();
    await tx.insertInto('audit_logs').values(auditRow(filled, now)).execute();
  });
}

/** Writes something that no list shows. */
export async function touchOther({ services: { store } }: App): Promise<void> {
  const lease = { name: 'bench', holder: 'bench', expires_at: '' };
  await store.db.deleteFrom('leases').where('name', '=', lease.name).execute();
  await store.db.insertInto('leases').values(lease).execute();
}

interface Place {
  organisationId: string;
  workspaceId: string;
}

const ownerOf = (people: readonly string[], index: number): string | null => {
  if (index < keysOfOneOwner) return people[0] ?? null;
  return index < keysOfOneOwner + keysOfOthers ? (people[index % people.length] ?? null) : null;
};

const newKey = ({ organisationId, workspaceId }: Place, index: number, ownerId: string | null) => ({
  organisationId,
  workspaceId,
  userId: ownerId,
  type: ownerId ? ('workspace-user' as const) : ('workspace-service' as const),
  name: `Key ${index} of the build`,
  creationMode: 'api' as const,
  scopes: ['completions.write' as const],
  createdBy: null,
});

async function addPerson(tx: Db, at: Date, { organisationId, workspaceId }: Place, index: number): Promise<string> {
  const email = `person${index}@example.com`;
  const created_at = at.toISOString();
  const userId = await insertUser(tx, at, { email, firstName: 'Person', lastName: String(index) });
  await joinOrganisation(tx, at, { organisationId, userId, role: 'member', provisionedBy: 'invite' });
  await tx
    .insertInto('workspace_members')
    .values({
      workspace_id: workspaceId,
      user_id: userId,
      organisation_id: organisationId,
      role: 'member',
      status: 'active',
      created_at,
      last_updated_at: created_at,
    })
    .execute();
  await tx
    .insertInto('invites')
    .values({
      id: Bun.randomUUIDv7(),
      organisation_id: organisationId,
      email,
      role: 'member',
      status: 'accepted',
      workspaces: '[]',
      api_key_scopes: null,
      invited_by: userId,
      token_digest: Bun.randomUUIDv7(),
      created_at,
      expires_at: created_at,
      accepted_at: created_at,
    })
    .execute();
  return userId;
}

const auditRow = ({ organisationId, workspaceId }: Place, at: Date) => ({
  id: Bun.randomUUIDv7(),
  timestamp: at.toISOString(),
  method: 'POST',
  uri: '/v1/api-keys/workspace/service',
  request_id: Bun.randomUUIDv7(),
  request_body: JSON.stringify({ name: 'Key of the build', scopes: ['completions.write'] }),
  query_params: '{}',
  request_headers: JSON.stringify({ 'content-type': 'application/json', 'user-agent': 'bench' }),
  user_id: organisationId,
  user_type: 'api_key' as const,
  organisation_id: organisationId,
  workspace_id: workspaceId,
  response_status_code: 200,
  resource_type: 'api_key',
  resource_id: Bun.randomUUIDv7(),
  action: 'create',
  client_ip: '127.0.0.1',
  country: null,
  details: null,
});
