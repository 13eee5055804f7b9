/** Counts that are remembered while their tables stand as they were, and the tallies of keys: on either engine they are what a count would say. */
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { sql } from 'kysely';
import { onEachEngine, type TestGateway } from '../../../test/harness.ts';
import { addKey, addPerson, addWorkspace, type Home, home } from '../../../test/people.ts';
import { isWholeList, stateOf } from '../../store/answers.ts';
import { openStore, type Store } from '../../store/database.ts';
import { watchedTables } from '../../store/migrations/0005_table_changes.ts';
import { countOf } from './list-queries.ts';

onEachEngine('remembered answers', (start) => {
  let gateway: TestGateway;
  let store: Store;
  let beside: Store;
  let place: Home;
  beforeAll(async () => {
    gateway = await start();
    store = gateway.app.services.store;
    // Another program on the same database.
    beside = openStore(store.address);
    place = await home(gateway);
  });
  afterAll(async () => {
    await beside.close();
    await gateway.stopWithoutFaults();
  });

  const people = (from: Store['db'] = store.db) => countOf(from.selectFrom('users').where('last_name', '=', 'Counted'));
  const person = (email: string) => ({
    id: Bun.randomUUIDv7(),
    email,
    first_name: 'A',
    last_name: 'Counted',
    password_hash: null,
    last_organisation_id: null,
    created_at: '',
    last_updated_at: '',
  });
  const add = (db: Store['db'], email: string) => db.insertInto('users').values(person(email)).execute();
  const stateNow = async (table: string, db: Store['db'] = store.db): Promise<number> => {
    const { rows } = await sql<{ state: number }>`${sql.raw(stateOf(`from "${table}"`) ?? '')}`.execute(db);
    return rows[0]?.state ?? 0;
  };

  test('are of counts as lists write them, over tables that note their changes', () => {
    const count = store.db
      .selectFrom('users')
      .select((eb) => eb.fn.countAll<number>().as('total'))
      .compile();
    expect([isWholeList(count.sql), isWholeList('select count(*) from "users"')]).toEqual([true, false]);
    expect(stateOf(count.sql)).toContain("('users')");
    expect(stateOf('select 1 from "users" inner join "invites" on true')).toContain("('users', 'invites')");
    expect(stateOf('with found as materialized (select 1 from "users") select 1 from found')).toContain("('users')");
    expect(stateOf('select 1 from "users" inner join "leases" on true')).toBeNull();
  });

  test('see every write, of this program and of others, at once', async () => {
    expect(await people()).toBe(0);
    await add(store.db, 'one@counted');
    expect([await people(), await people()]).toEqual([1, 1]);
    await add(beside.db, 'two@counted');
    expect([await people(), await people(beside.db)]).toEqual([2, 2]);
    await store.db.updateTable('users').set({ last_name: 'Other' }).where('email', '=', 'one@counted').execute();
    expect([await people(), await people(beside.db)]).toEqual([1, 1]);
    await beside.db.deleteFrom('users').where('email', '=', 'two@counted').execute();
    expect([await people(), await people(beside.db)]).toEqual([0, 0]);
  });

  test('inside a transaction are its own, and forgotten when it is taken back', async () => {
    await add(store.db, 'three@counted');
    const before = await people();
    const undone = store.atomically(async (tx) => {
      await add(tx, 'four@counted');
      throw new Error(`inside ${await people(tx)}`);
    });
    await expect(undone).rejects.toThrow(`inside ${before + 1}`);
    // As many changes as the transaction had made, but another one.
    await store.db.deleteFrom('users').where('email', '=', 'three@counted').execute();
    expect(await people()).toBe(before - 1);
  });

  test('every table that notes its changes notes what is added, changed and removed', async () => {
    const states = async () => Promise.all(watchedTables.map((table) => stateNow(table)));
    const before = await states();
    await addPerson(gateway, place.organisationId, 'member', { workspaces: { [place.workspaceId]: 'member' } });
    await addKey(gateway, { ...place, type: 'workspace-service', scopes: ['completions.write'] });
    const invited = await gateway.post('/v1/admin/users/invites', { email: 'invited@example.com', role: 'member' });
    expect(invited.status).toBe(200);
    const added = await states();
    expect(added.map((state, index) => state > (before[index] ?? state))).toEqual(watchedTables.map(() => true));
    for (const table of watchedTables) {
      await sql`update ${sql.table(table)} set ${sql.ref(anyColumn[table])} = ${sql.ref(anyColumn[table])}`.execute(
        store.db,
      );
    }
    const changed = await states();
    expect(changed.map((state, index) => state > (added[index] ?? state))).toEqual(watchedTables.map(() => true));
    // The others are referred to; a user was removed above, and a key is below.
    const loose = ['audit_logs', 'invites', 'notices', 'workspace_members', 'organisation_members'] as const;
    for (const table of loose) {
      const last = await stateNow(table);
      const kept = store.atomically(async (tx) => {
        await tx.deleteFrom(table).execute();
        throw new Error(`noted ${(await stateNow(table, tx)) > last}`);
      });
      await expect(kept).rejects.toThrow('noted true');
    }
  });

  test('keys are tallied as they are made, changed, deleted and removed, by many at once', async () => {
    const { organisationId, workspaceId } = place;
    const other = await addWorkspace(gateway, organisationId, 'Tallied');
    const type = 'workspace-service' as const;
    const scopes = ['completions.write' as const];
    const made = await Promise.all(
      Array.from({ length: 40 }, (_, index) =>
        addKey(gateway, { organisationId, workspaceId: index % 2 ? workspaceId : other.id, type, scopes }),
      ),
    );
    await addKey(gateway, { organisationId, type: 'organisation-service', scopes: ['audit_logs.list'] });
    const answers = await Promise.all(made.slice(0, 10).map(({ id }) => gateway.delete(`/v1/api-keys/${id}`)));
    expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 200));
    const ids = made.slice(10, 20).map(({ id }) => id);
    await store.db.updateTable('api_keys').set({ status: 'expired' }).where('id', 'in', ids).execute();
    await store.db.deleteFrom('api_key_secrets').where('api_key_id', 'in', ids.slice(5)).execute();
    const noted = await stateNow('api_keys');
    await store.db.deleteFrom('api_keys').where('id', 'in', ids.slice(5)).execute();
    expect(await stateNow('api_keys')).toBeGreaterThan(noted);
    const { rows: counted } =
      await sql`select organisation_id, coalesce(workspace_id, '') as workspace_id, type, status,
      count(*) as keys from api_keys group by organisation_id, coalesce(workspace_id, ''), type, status
      order by 1, 2, 3, 4`.execute(store.db);
    const { rows: tallied } = await sql`select organisation_id, workspace_id, type, status, sum(keys) as keys
      from api_key_tallies group by organisation_id, workspace_id, type, status having sum(keys) != 0
      order by 1, 2, 3, 4`.execute(store.db);
    expect(tallied).toEqual(counted);
    expect(new Set(made.map(({ id }) => id.slice(-2))).size).toBeGreaterThan(1);
  });
});

const anyColumn: Record<(typeof watchedTables)[number], string> = {
  api_keys: 'name',
  audit_logs: 'uri',
  invites: 'email',
  notices: 'status',
  organisation_members: 'role',
  users: 'last_name',
  workspace_members: 'role',
};
