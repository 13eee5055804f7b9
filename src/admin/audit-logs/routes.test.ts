/** Reading the audit trail over HTTP: how it is narrowed and paged, and who may look. */
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { onEachEngine, type TestGateway } from '../../../test/harness.ts';
import { addKey, addOrganisation, addTeam, type Home, home } from '../../../test/people.ts';

onEachEngine('audit logs', (start) => {
  let gateway: TestGateway;
  let place: Home;

  beforeAll(async () => {
    gateway = await start();
    gateway.clock.moveTo('2031-03-05T10:00:00.000Z');
    place = await home(gateway);
    for (const name of ['One', 'Two', 'Three']) {
      await gateway.post('/v1/workspaces', { name });
      gateway.clock.advance({ hours: 1 });
    }
    await gateway.put(`/v1/admin/workspaces/${place.workspaceId}`, { description: 'Ours' });
  });
  afterAll(() => gateway.stopWithoutFaults());

  const day = { start_time: '2031-03-05T00:00:00Z', end_time: '2031-03-06T00:00:00Z' };
  const list = (query: Record<string, string> = {}, key = gateway.adminKey) =>
    gateway.get(`/v1/audit-logs?${new URLSearchParams({ ...day, ...query })}`, { key });

  test('rows come newest first, and the total counts those of every page', async () => {
    const { status, body } = await list({ resource_type: 'workspace', page_size: '2' });
    expect(status).toBe(200);
    expect(body).toMatchObject({
      object: 'analytics-graph',
      total: 4,
      records: [{ method: 'PUT' }, { method: 'POST' }],
    });
    const rest = await list({ resource_type: 'workspace', page_size: '2', current_page: '1' });
    const all = [...body.records, ...rest.body.records].map(({ timestamp }) => timestamp);
    expect(all).toEqual([...all].sort().reverse());
    expect(new Set([...body.records, ...rest.body.records].map(({ id }) => id)).size).toBe(4);
  });

  test('a page of no rows answers the total alone', async () => {
    const { body } = await list({ action: 'create', resource_type: 'workspace', page_size: '0' });
    expect(body).toMatchObject({ total: 3, records: [] });
  });

  test.each([
    ['a part of the address', { uri: '/admin/workspaces/' }, 1],
    ['a part in another case', { uri: '/ADMIN/workspaces/' }, 0],
    ['the method', { method: 'POST', resource_type: 'workspace' }, 3],
    ['several actions', { action: 'create,update', resource_type: 'workspace' }, 4],
    ['the status', { response_status_code: '200', resource_type: 'workspace' }, 4],
    ['a shorter time', { end_time: '2031-03-05T10:30:00Z', resource_type: 'workspace' }, 1],
  ])('%s narrows the list', async (_, query, total) => {
    expect((await list(query)).body.total).toBe(total);
  });

  test.each([
    ['end_time', { start_time: '2031-03-07T00:00:00Z' }],
    ['end_time', { start_time: '2029-03-05T00:00:00Z' }],
    ['end_time', { start_time: '2030-03-05T00:00:00Z', end_time: '2031-03-05T00:00:01Z' }],
    ['start_time', { start_time: 'yesterday' }],
  ])('a range that cannot be is refused with 400 that names %s', async (path, query) => {
    const { status, body } = await list(query);
    expect({ status, path: body.data.errors[0].path }).toEqual({ status: 400, path });
  });

  test('only those who hold the scope on the organisation may look, each at their own', async () => {
    const { organisationId } = place;
    const { admin } = await addTeam(gateway, place);
    const reader = await addKey(gateway, { organisationId, type: 'organisation-service', scopes: ['audit_logs.list'] });
    const other = await addKey(gateway, { organisationId, type: 'organisation-service', scopes: ['workspaces.list'] });
    for (const key of [place.owner.session, reader.secret]) expect((await list({}, key)).status).toBe(200);
    for (const key of [admin.session, other.secret, gateway.workspaceKey]) {
      expect((await list({}, key)).status).toBe(403);
    }
    expect((await list({}, '')).status).toBe(401);
    const { adminKey } = await addOrganisation(gateway);
    expect((await list({ resource_type: 'workspace' }, adminKey)).body.total).toBe(0);
  });
});

onEachEngine('audit logs that are switched off', (start) => {
  test('answer 404', async () => {
    const gateway = await start({ AUDIT_LOGS_ENABLED: 'OFF' });
    const reply = await gateway.get('/v1/audit-logs?start_time=2031-03-05T00:00:00Z&end_time=2031-03-06T00:00:00Z');
    expect([reply.status, reply.body.data.errorCode]).toEqual([404, 'AB08']);
    await gateway.stopWithoutFaults();
  });
});
