/** The fields that log exports must refuse, as the answers of their route. */
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { onEachEngine, type TestGateway } from '../../../test/harness.ts';
import { addKey, addOrganisation, addPerson, addWorkspace, type Home, home } from '../../../test/people.ts';

const path = '/v1/logs/exports/field-restrictions';

onEachEngine('field restrictions of log exports', (start) => {
  let gateway: TestGateway;
  let place: Home;
  let other: { id: string; slug: string };

  beforeAll(async () => {
    gateway = await start();
    place = await home(gateway);
    other = await addWorkspace(gateway, place.organisationId, 'Other');
    await gateway.put('/v1/admin/organisation/settings', { export_settings: { deniedFields: ['request'] } });
  });

  afterAll(() => gateway.stopWithoutFaults());

  test("answer the organisation's fields, and a workspace's own once it may differ", async () => {
    expect((await gateway.get(path)).body).toMatchObject({
      object: 'export-field-restrictions',
      deniedFields: ['request'],
    });
    expect((await gateway.get(`${path}?workspace_id=${other.slug}`)).body).toMatchObject({
      object: 'export-field-restrictions',
      deniedFields: ['request'],
    });
    await gateway.put('/v1/admin/organisation/workspace-overrides', { export_settings: true });
    await gateway.put('/v1/admin/organisation/settings', { export_settings: { deniedFields: [] } });
    expect((await gateway.get(path)).body).toMatchObject({ object: 'export-field-restrictions', deniedFields: [] });
    expect((await gateway.get(path, { key: gateway.workspaceKey })).body).toMatchObject({
      object: 'export-field-restrictions',
      deniedFields: ['request'],
    });
  });

  test('another workspace is 403 for a workspace key, an unknown or foreign one 404 for an admin key', async () => {
    const elsewhere = await addOrganisation(gateway);
    expect((await gateway.get(`${path}?workspace_id=${other.id}`, { key: gateway.workspaceKey })).status).toBe(403);
    expect((await gateway.get(`${path}?workspace_id=ws-unknown`)).status).toBe(404);
    expect((await gateway.get(`${path}?workspace_id=${elsewhere.workspaceId}`)).status).toBe(404);
  });

  test('members, who may not export, and keys without the scope are refused with 403', async () => {
    const { organisationId, workspaceId } = place;
    const member = await addPerson(gateway, organisationId, 'member', { workspaces: { [workspaceId]: 'member' } });
    expect((await gateway.get(`${path}?workspace_id=${workspaceId}`, { key: member.session })).status).toBe(403);
    const key = await addKey(gateway, {
      organisationId,
      workspaceId,
      type: 'workspace-service',
      scopes: ['logs.list'],
    });
    expect((await gateway.get(path, { key: key.secret })).status).toBe(403);
    expect((await gateway.get(path, { key: '' })).status).toBe(401);
  });
});
