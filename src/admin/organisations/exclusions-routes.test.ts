/** Workspaces that default guardrails leave alone, as the answers of their routes. */
import { afterAll, beforeAll, beforeEach, expect, test } from 'bun:test';
import { type Json, onEachEngine, type TestGateway } from '../../../test/harness.ts';
import {
  addKey,
  addOrganisation,
  addPerson,
  addWorkspace,
  archiveWorkspace,
  type Home,
  home,
} from '../../../test/people.ts';

const input = '/v1/workspace-exclusions/input-guardrails';
const output = '/v1/workspace-exclusions/output-guardrails';

onEachEngine('workspace exclusions', (start) => {
  let gateway: TestGateway;
  let place: Home;
  let first: { id: string; slug: string };
  let second: { id: string; slug: string };

  beforeAll(async () => {
    gateway = await start();
    place = await home(gateway);
    first = await addWorkspace(gateway, place.organisationId, 'First');
    second = await addWorkspace(gateway, place.organisationId, 'Second');
  });

  beforeEach(async () => {
    for (const path of [input, output]) await gateway.put(path, { workspaces: [], override_existing: true });
  });

  afterAll(() => gateway.stopWithoutFaults());

  const excluded = async (path = input) =>
    (await gateway.get(path)).body.data.map((entry: Json) => entry.workspace_id as string);

  test('are merged by default, by id or slug, apart for each direction, newest first', async () => {
    const reply = await gateway.put(input, { workspaces: [{ workspace_id: first.id, excluded: true }] });
    expect([reply.status, reply.body]).toEqual([200, {}]);
    gateway.clock.advance({ seconds: 1 });
    await gateway.put(input, {
      organisation_id: place.organisationId,
      workspaces: [
        { workspace_id: second.slug, excluded: true },
        { workspace_id: first.slug, excluded: true },
      ],
    });
    const list = await gateway.get(`${input}?organisation_id=${place.organisationId}`);
    expect(list.body).toEqual({
      object: 'list',
      total: 2,
      data: [
        { workspace_id: second.id, slug: second.slug, name: 'Second', excluded: true },
        { workspace_id: first.id, slug: first.slug, name: 'First', excluded: true },
      ],
    });
    expect((await gateway.get(`${input}?page_size=1&current_page=1`)).body).toMatchObject({
      total: 2,
      data: [{ workspace_id: first.id }],
    });
    expect(await excluded(output)).toEqual([]);
    await gateway.put(input, { workspaces: [{ workspace_id: first.id, excluded: false }] });
    expect(await excluded()).toEqual([second.id]);
  });

  test('override_existing replaces the list', async () => {
    await gateway.put(output, { workspaces: [{ workspace_id: first.id, excluded: true }] });
    await gateway.put(output, { workspaces: [{ workspace_id: second.id, excluded: true }], override_existing: true });
    expect(await excluded(output)).toEqual([second.id]);
    await gateway.put(output, { workspaces: [], override_existing: true });
    expect(await excluded(output)).toEqual([]);
  });

  test('a refused list changes nothing: unknown, archived, twice named or foreign workspaces are 400', async () => {
    const elsewhere = await addOrganisation(gateway);
    const gone = await addWorkspace(gateway, place.organisationId, 'Gone');
    await archiveWorkspace(gateway, gone.id);
    for (const named of ['ws-unknown', gone.id, elsewhere.workspaceId, first.slug]) {
      const reply = await gateway.put(input, {
        workspaces: [
          { workspace_id: first.id, excluded: true },
          { workspace_id: named, excluded: false },
        ],
      });
      expect([reply.status, reply.body.data.errorCode]).toEqual([400, 'AB01']);
      expect(reply.body.data.errors[0].path).toBe('workspaces.1.workspace_id');
    }
    expect(await excluded()).toEqual([]);
  });

  test.each([
    ['no list', {}],
    ['an entry without a choice', { workspaces: [{ workspace_id: 'ws-x' }] }],
    ['a switch that is no boolean', { workspaces: [], override_existing: 'yes' }],
  ])('%s is refused with 400', async (_case, body) => {
    expect((await gateway.put(input, body)).status).toBe(400);
  });

  test('an archived workspace is not listed any more', async () => {
    const gone = await addWorkspace(gateway, place.organisationId, 'Soon gone');
    await gateway.put(input, { workspaces: [{ workspace_id: gone.id, excluded: true }] });
    await archiveWorkspace(gateway, gone.id);
    expect((await gateway.get(input)).body).toMatchObject({ total: 0, data: [] });
  });

  test('another tenant sees and changes its own list only', async () => {
    const elsewhere = await addOrganisation(gateway);
    await gateway.put(input, { workspaces: [{ workspace_id: first.id, excluded: true }] });
    const key = elsewhere.adminKey;
    expect((await gateway.get(input, { key })).body.total).toBe(0);
    await gateway.put(input, { workspaces: [], override_existing: true }, { key });
    expect(await excluded()).toEqual([first.id]);
    expect((await gateway.get(`${input}?organisation_id=${place.organisationId}`, { key })).status).toBe(403);
  });

  test('members, workspace keys and admin keys without the scope are refused with 403', async () => {
    const { organisationId, workspaceId } = place;
    const member = await addPerson(gateway, organisationId, 'member', { workspaces: { [workspaceId]: 'admin' } });
    const lister = await addKey(gateway, {
      organisationId,
      type: 'organisation-service',
      scopes: ['organisation_exclusions.list'],
    });
    expect((await gateway.get(input, { key: lister.secret })).status).toBe(200);
    for (const key of [member.session, gateway.workspaceKey]) {
      expect((await gateway.get(input, { key })).status).toBe(403);
    }
    for (const key of [member.session, gateway.workspaceKey, lister.secret]) {
      expect((await gateway.put(input, { workspaces: [] }, { key })).status).toBe(403);
    }
  });

  test('the audit row names the workspaces that changed', async () => {
    await gateway.put(input, { workspaces: [{ workspace_id: first.id, excluded: true }] });
    const { db } = gateway.app.services.store;
    const row = await db
      .selectFrom('audit_logs')
      .selectAll()
      .where('resource_type', '=', 'workspace')
      .orderBy('timestamp', 'desc')
      .orderBy('id', 'desc')
      .executeTakeFirstOrThrow();
    expect(row.action).toBe('update');
    expect(JSON.parse(row.details ?? '')).toEqual({ input_guardrails: { excluded: [first.id], included: [] } });
  });
});
