/** Policies over HTTP. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { onEachEngine, type TestGateway } from '../../../test/harness.ts';
import { addOrganisation, type Home, home, type Tenant } from '../../../test/people.ts';

onEachEngine('policies', (start) => {
  let gateway: TestGateway;
  let place: Home;
  let elsewhere: Tenant;
  const rates = '/v1/policies/rate-limits';
  const usages = '/v1/policies/usage-limits';
  beforeAll(async () => {
    gateway = await start();
    gateway.clock.moveTo('2031-05-07T12:00:00.000Z'); // a Wednesday
    place = await home(gateway);
    elsewhere = await addOrganisation(gateway);
  });
  afterAll(() => gateway.stopWithoutFaults());

  const rate = (more: object = {}) => ({
    workspace_id: place.workspaceId,
    conditions: [{ key: 'metadata._user', value: '*' }],
    group_by: [{ key: 'metadata._user' }],
    type: 'requests',
    unit: 'rpm',
    value: 10,
    ...more,
  });
  const usage = (more: object = {}) => ({
    workspace_id: place.workspaceId,
    conditions: [{ key: 'metadata._user', value: '*' }],
    group_by: [{ key: 'metadata._user' }],
    type: 'cost',
    credit_limit: 25,
    ...more,
  });
  const make = async (path: string, body: object): Promise<string> => {
    const made = await gateway.post(path, body);
    expect(made).toMatchObject({ status: 200 });
    return made.body.id;
  };

  test('a rate limits policy is made, read, listed, changed, archived and brought back', async () => {
    const id = await make(rates, rate({ name: 'per user', unit: 'rpw' }));
    const read = await gateway.get(`${rates}/${id}`);
    expect(read.body).toEqual({
      object: 'policy_rate_limits',
      id,
      name: 'per user',
      description: null,
      conditions: [{ key: 'metadata._user', value: '*' }],
      group_by: [{ key: 'metadata._user' }],
      type: 'requests',
      unit: 'rpw',
      value: 10,
      target: 'llm',
      mode: 'enforce',
      clamp_max_tokens: false,
      status: 'active',
      workspace_id: place.workspaceId,
      organisation_id: place.organisationId,
      created_at: expect.any(String),
      last_updated_at: expect.any(String),
    });
    const conditions = [{ key: 'endpoint_type', value: ['chatComplete', 'embed'] }];
    const changed = await gateway.put(`/v2/policies/rate-limits/${id}`, { conditions, value: 20 });
    expect(changed).toMatchObject({ status: 200, body: { object: 'policy_rate_limits', conditions, value: 20 } });
    const list = await gateway.get(`${rates}?workspace_id=${place.workspaceId}&type=requests&unit=rpw&page_size=0`);
    expect(list.body).toMatchObject({ object: 'list', total: 1, data: [{ id, value: 20 }] });
    expect(await gateway.delete(`${rates}/${id}`)).toMatchObject({ status: 200, body: {} });
    expect((await gateway.delete(`${rates}/${id}`)).status).toBe(404);
    expect((await gateway.get(`${rates}/${id}`)).status).toBe(404);
    expect((await gateway.get(`${rates}/${id}?status=archived`)).body.status).toBe('archived');
    expect((await gateway.put(`${rates}/${id}`, { status: 'active' })).body.status).toBe('active');
    expect((await gateway.get(`${rates}/${id}`)).status).toBe(200);
  });

  test('a usage limits policy is made and read with its schedule at UTC midnight', async () => {
    const id = await make(usages, usage({ periodic_reset: 'weekly', alert_threshold: 20.5 }));
    expect((await gateway.get(`/v2/policies/usage-limits/${id}?include_usage=true`)).body).toMatchObject({
      object: 'policy_usage_limits',
      credit_limit: 25,
      alert_threshold: 20.5,
      periodic_reset: 'weekly',
      periodic_reset_days: null,
      next_usage_reset_at: '2031-05-12T00:00:00.000Z', // a Monday
      last_reset_at: null,
      value_key_usage_map: {},
    });
    const moved = await gateway.put(`${usages}/${id}`, { next_usage_reset_at: '2031-06-02T17:45:00+02:00' });
    expect(moved.body.next_usage_reset_at).toBe('2031-06-02T00:00:00.000Z');
    const days = await gateway.put(`${usages}/${id}`, { periodic_reset_days: 10 });
    expect(days.body).toMatchObject({
      periodic_reset: null,
      periodic_reset_days: 10,
      next_usage_reset_at: '2031-05-17T00:00:00.000Z',
    });
    const never = await gateway.put(`${usages}/${id}`, { periodic_reset_days: null });
    expect(never.body).toMatchObject({ periodic_reset: null, periodic_reset_days: null, next_usage_reset_at: null });
  });

  describe('wrong input is refused, names the field, and changes nothing', () => {
    test.each<[string, string, object]>([
      ['unit', rates, { unit: 'tpd' }],
      ['value', rates, { value: 0 }],
      ['value', rates, { value: -1 }],
      ['value', rates, { value: 1.5 }],
      ['type', rates, { type: 'cost' }],
      ['conditions', rates, { conditions: [] }],
      ['conditions.0.key', rates, { conditions: [{ key: 'metadata.', value: 'x' }] }],
      ['conditions.0.key', rates, { conditions: [{ key: 'colour', value: 'x' }] }],
      ['conditions.0.key', rates, { conditions: [{ key: 'mcp_tool', value: 'x' }] }],
      ['conditions.0.value', rates, { conditions: [{ key: 'endpoint_type', value: 'chat' }] }],
      ['conditions.0.value', rates, { conditions: [{ key: 'workspace_id', value: 'ws-nobody' }] }],
      ['conditions.0.value', rates, { conditions: [{ key: 'organisation_id', value: 'another' }] }],
      ['conditions.0.excludes', rates, { conditions: [{ key: 'api_key', value: '*', excludes: '*' }] }],
      ['conditions.0.excludes', rates, { conditions: [{ key: 'api_key', value: ['a', 'b'], excludes: ['b', 'a'] }] }],
      ['group_by.0.key', rates, { group_by: [{ key: 'endpoint_type' }] }],
      ['group_by.1.key', rates, { group_by: [{ key: 'api_key' }, { key: 'api_key' }] }],
      ['conditions.0.key', usages, { conditions: [{ key: 'endpoint_type', value: 'embed' }] }],
      ['credit_limit', usages, { credit_limit: -1 }],
      ['credit_limit', usages, { type: 'tokens', credit_limit: 1.5 }],
      ['alert_threshold', usages, { alert_threshold: 25 }],
      ['periodic_reset_days', usages, { periodic_reset: 'weekly', periodic_reset_days: 7 }],
      ['periodic_reset_days', usages, { periodic_reset_days: 366 }],
      ['periodic_reset', usages, { periodic_reset: 'daily' }],
      ['next_usage_reset_at', usages, { next_usage_reset_at: '2031-05-07T23:00:00Z' }],
    ])('%s of %s with %o', async (field, path, more) => {
      const before = (await gateway.get(`${path}?workspace_id=${place.workspaceId}`)).body.total;
      const { status, body } = await gateway.post(path, path === rates ? rate(more) : usage(more));
      expect({ status, paths: body.data.errors.map((error: { path: string }) => error.path) }).toEqual({
        status: 400,
        paths: expect.arrayContaining([field]),
      });
      expect((await gateway.get(`${path}?workspace_id=${place.workspaceId}`)).body.total).toBe(before);
    });

    test('a workspace must be named by those who have none of their own', async () => {
      const { workspace_id: _, ...body } = rate();
      expect((await gateway.post(rates, body)).status).toBe(400);
      expect((await gateway.post(rates, body, { key: gateway.workspaceKey })).status).toBe(200);
    });

    test('what never changes may be repeated, not changed', async () => {
      const id = await make(usages, usage());
      const same = { type: 'cost', group_by: [{ key: 'metadata._user' }], name: 'again' };
      expect((await gateway.put(`${usages}/${id}`, same)).status).toBe(200);
      for (const change of [{ type: 'tokens' }, { group_by: [{ key: 'api_key' }] }]) {
        expect((await gateway.put(`${usages}/${id}`, { name: 'x', ...change })).status).toBe(400);
      }
      expect((await gateway.put(`${usages}/${id}`, {})).status).toBe(400);
      expect((await gateway.get(`${usages}/${id}`)).body.name).toBe('again');
    });

    test('an id that is none, or of the other kind, or of another tenant', async () => {
      const id = await make(usages, usage());
      expect((await gateway.get(`${rates}/none`)).status).toBe(404);
      expect((await gateway.get(`${rates}/${id}`)).status).toBe(404);
      for (const path of [`${usages}/${id}`, `${usages}/${id}/entities`]) {
        expect((await gateway.get(path, { key: elsewhere.adminKey })).status).toBe(404);
      }
      expect((await gateway.put(`${usages}/${id}`, { name: 'x' }, { key: elsewhere.adminKey })).status).toBe(404);
      expect((await gateway.put(`${usages}/${id}/entities/${id}/reset`)).status).toBe(404);
    });
  });
});
