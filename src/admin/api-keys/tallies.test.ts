/** The tallies of keys: on either engine they are what a count would say. */
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { sql } from 'kysely';
import { onEachEngine, type TestGateway } from '../../../test/harness.ts';
import { addKey, addWorkspace, type Home, home, storeOf } from '../../../test/people.ts';

onEachEngine('tallies', (start) => {
  let gateway: TestGateway;
  let place: Home;
  beforeAll(async () => {
    gateway = await start();
    place = await home(gateway);
  });
  afterAll(() => gateway.stopWithoutFaults());

  test('keys are tallied as they are made, changed, deleted and removed, by many at once', async () => {
    const store = storeOf(gateway);
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
    await store.db.deleteFrom('api_keys').where('id', 'in', ids.slice(5)).execute();
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
