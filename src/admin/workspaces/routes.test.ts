/** Workspaces, as the answers of their routes. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { onEachEngine, type TestGateway } from '../../../test/harness.ts';
import {
  addKey,
  addOrganisation,
  addPerson,
  archiveWorkspace,
  home,
  type Person,
  storeOf,
  type Tenant,
} from '../../../test/people.ts';
import { grantableTo } from '../../identity/scopes.ts';
import { encode } from '../../store/json.ts';

const nobody = '019ef5c2-0000-7000-8000-000000000000';

onEachEngine('workspaces', (start) => {
  let gateway: TestGateway;
  let organisationId: string;
  let defaultWorkspaceId: string;
  let owner: Person;

  beforeAll(async () => {
    gateway = await start();
    gateway.clock.moveTo('2031-03-05T10:00:00.000Z');
    ({ organisationId, workspaceId: defaultWorkspaceId, owner } = await home(gateway));
  });
  afterAll(() => gateway.stop());

  const create = async (body: object = {}) =>
    (await gateway.post('/v1/admin/workspaces', { name: 'Team', ...body })).body;

  const metadataSchema = (schema: Record<string, unknown> | null) =>
    storeOf(gateway)
      .db.updateTable('organisations')
      .set({ properties: encode({ api_key_metadata_schema: null, workspace_metadata_schema: schema }) })
      .where('id', '=', organisationId)
      .execute();

  describe('create', () => {
    test('answers the record with everything a new workspace has', async () => {
      const reply = await gateway.post('/v1/admin/workspaces', { name: ' Research ', description: 'Papers' });
      expect(reply.status).toBe(200);
      expect(reply.body).toMatchObject({
        object: 'workspace',
        name: 'Research',
        icon: null,
        description: 'Papers',
        organisation_id: organisationId,
        is_default: 0,
        status: 'active',
        defaults: { metadata: {}, input_guardrails: [], output_guardrails: [], user_api_key_config: null },
        usage_limits: [],
        rate_limits: [],
        last_reset_at: null,
      });
      expect(reply.body.slug).toMatch(/^ws-research-[0-9a-f]{6}$/);
    });

    test('answers on every spelling of the path', async () => {
      for (const path of ['/v1/workspaces', '/v2/workspaces', '/v2/admin/workspaces']) {
        expect((await gateway.post(path, { name: 'Team' })).status).toBe(200);
      }
    });

    test('an emoji in front of the name becomes the icon', async () => {
      expect(await create({ name: '👩‍💻 Builders' })).toMatchObject({ name: '👩‍💻 Builders', icon: '👩‍💻' });
      expect(await create({ name: 'Builders', icon: '🚀' })).toMatchObject({ name: '🚀 Builders', icon: '🚀' });
    });

    test('a slug may be chosen, and only once', async () => {
      expect((await create({ slug: 'ws-chosen' })).slug).toBe('ws-chosen');
      const again = await gateway.post('/v1/workspaces', { name: 'Team', slug: 'ws-chosen' });
      expect(again.status).toBe(409);
      expect(again.body.data.errorCode).toBe('AB07');
    });

    test('people of the organisation join as listed', async () => {
      const [ada, bob] = [
        await addPerson(gateway, organisationId, 'member'),
        await addPerson(gateway, organisationId, 'member'),
      ];
      const made = await create({ users: [ada.userId, { id: bob.userId, role: 'ws-Manager' }] });
      const { users } = (await gateway.get(`/v1/workspaces/${made.id}`)).body;
      const roles = Object.fromEntries(users.map((user: { id: string; role: string }) => [user.id, user.role]));
      expect(roles).toEqual({ [ada.userId]: 'member', [bob.userId]: 'manager' });
    });

    test('limits are stored with their state and their next reset', async () => {
      const made = await create({
        usage_limits: [{ credit_limit: 10.5, alert_threshold: 5, periodic_reset: 'weekly' }],
        rate_limits: [{ type: 'requests', unit: 'rpm', value: 5 }],
      });
      expect(made.usage_limits).toEqual([
        {
          type: 'cost',
          credit_limit: 10.5,
          alert_threshold: 5,
          periodic_reset: 'weekly',
          periodic_reset_days: null,
          next_usage_reset_at: '2031-03-09T00:00:00.000Z',
          current_usage: 0,
          status: 'active',
          last_reset_at: null,
          is_threshold_alerts_sent: false,
          is_exhausted_alerts_sent: false,
          clamp_max_tokens: false,
        },
      ]);
      expect(made.rate_limits).toEqual([{ type: 'requests', unit: 'rpm', value: 5 }]);
    });

    test('refuses what is wrong and names the field', async () => {
      const elsewhere = await addOrganisation(gateway);
      const wrong: [string, object][] = [
        ['name', { name: '  ' }],
        ['name', { name: 'x'.repeat(256) }],
        ['icon', { icon: 'rocket' }],
        ['description', { description: 'x'.repeat(501) }],
        ['slug', { slug: 'Not A Slug' }],
        ['slug', { slug: nobody }],
        ['users.0', { users: [nobody] }],
        ['users.0', { users: [elsewhere.ownerId] }],
        ['users.1', { users: [owner.userId, owner.userId] }],
        ['users.0', { users: [{ id: owner.userId, role: 'king' }] }],
        ['usage_limits.0.credit_limit', { usage_limits: [{ credit_limit: 0 }] }],
        ['usage_limits.0.color', { usage_limits: [{ credit_limit: 1, color: 'red' }] }],
        ['usage_limits', { usage_limits: [{ credit_limit: 1 }, { credit_limit: 2 }] }],
        [
          'usage_limits.0.next_usage_reset_at',
          { usage_limits: [{ credit_limit: 1, next_usage_reset_at: '2020-01-01T00:00:00Z' }] },
        ],
        ['rate_limits.0.unit', { rate_limits: [{ type: 'requests', unit: 'rps', value: 1 }] }],
        ['rate_limits.0.value', { rate_limits: [{ type: 'requests', unit: 'rpm', value: 0 }] }],
        ['defaults.user_api_key_config', { defaults: { user_api_key_config: 'pc-unknown' } }],
        ['defaults.input_guardrails.0', { defaults: { input_guardrails: ['unknown'] } }],
        ['defaults.metadata.team', { defaults: { metadata: { team: 7 } } }],
      ];
      for (const [path, body] of wrong) {
        const reply = await gateway.post('/v1/workspaces', { name: 'Team', ...body });
        expect([path, reply.status, reply.body.data.errorCode]).toEqual([path, 400, 'AB01']);
        expect(reply.body.data.errors.map((error: { path: string }) => error.path)).toContain(path);
      }
      expect((await gateway.post('/v1/workspaces', {})).status).toBe(400);
      expect((await gateway.post('/v1/workspaces')).status).toBe(400);
    });

    test('metadata follows the schema of the organisation, with its defaults written in', async () => {
      await metadataSchema({
        type: 'object',
        additionalProperties: true,
        properties: { team: { type: 'string' }, tier: { type: 'string', default: 'free' } },
        required: ['team'],
      });
      const missing = await gateway.post('/v1/workspaces', { name: 'Team' });
      const made = await gateway.post('/v1/workspaces', { name: 'Team', defaults: { metadata: { team: 'red' } } });
      const renamed = await gateway.put(`/v1/workspaces/${defaultWorkspaceId}`, { description: 'Ours' });
      const emptied = await gateway.put(`/v1/workspaces/${defaultWorkspaceId}`, { defaults: { metadata: {} } });
      await metadataSchema(null);
      expect(missing.status).toBe(400);
      expect(missing.body.data.errors[0].path).toBe('defaults.metadata.team');
      expect(made.body.defaults.metadata).toEqual({ team: 'red', tier: 'free' });
      expect(renamed.status).toBe(200);
      expect(emptied.status).toBe(400);
    });

    test('is refused to all who do not run the organisation', async () => {
      const admin = await addPerson(gateway, organisationId, 'member', {
        workspaces: { [defaultWorkspaceId]: 'admin' },
      });
      const weak = await addKey(gateway, { organisationId, type: 'organisation-service', scopes: ['workspaces.read'] });
      for (const key of [admin.session, weak.secret, gateway.workspaceKey]) {
        const reply = await gateway.post('/v1/workspaces', { name: 'Team' }, { key });
        expect([reply.status, reply.body.data.errorCode]).toEqual([403, 'AB03']);
      }
      expect((await gateway.post('/v1/workspaces', { name: 'Team' }, { key: owner.session })).status).toBe(200);
      expect((await gateway.post('/v1/workspaces', { name: 'Team' }, { key: '' })).status).toBe(401);
    });

    test('leaves an audit row that names the workspace', async () => {
      const made = await create({ name: 'Audited' });
      const row = await storeOf(gateway)
        .db.selectFrom('audit_logs')
        .selectAll()
        .where('resource_id', '=', made.id)
        .executeTakeFirstOrThrow();
      expect(row).toMatchObject({ resource_type: 'workspace', action: 'create', workspace_id: made.id });
      expect(JSON.parse(row.details ?? '{}')).toMatchObject({ name: 'Audited' });
    });
  });

  describe('list', () => {
    let tenant: Tenant;
    let member: Person;
    let ids: Record<'first' | 'second' | 'third' | 'archived', string>;
    const list = (query = '', key = tenant.adminKey) => gateway.get(`/v1/workspaces${query}`, { key });
    const idsOf = (reply: { body: { data: { id: string }[] } }) => reply.body.data.map((workspace) => workspace.id);

    beforeAll(async () => {
      tenant = await addOrganisation(gateway, 'Lists');
      const named = async (name: string) =>
        (await gateway.post('/v1/workspaces', { name }, { key: tenant.adminKey })).body.id;
      ids = {
        first: await named('🚀 Rocket team'),
        second: await named('rocket fuel'),
        third: await named('Ground % crew'),
        archived: await named('Old'),
      };
      await archiveWorkspace(gateway, ids.archived);
      member = await addPerson(gateway, tenant.organisationId, 'member', { workspaces: { [ids.second]: 'member' } });
    });

    test('shows the active ones, newest first, without their members', async () => {
      const reply = await list();
      expect(reply.body).toMatchObject({ object: 'list', total: 4 });
      expect(idsOf(reply)).toEqual([ids.third, ids.second, ids.first, tenant.workspaceId]);
      expect(reply.body.data[0].users).toBeUndefined();
      expect(reply.body.data[3].is_default).toBe(1);
    });

    test('pages with the whole total', async () => {
      const reply = await list('?page_size=2&current_page=1');
      expect(idsOf(reply)).toEqual([ids.first, tenant.workspaceId]);
      expect(reply.body.total).toBe(4);
      expect((await list('?page_size=2&current_page=9')).body).toMatchObject({ total: 4, data: [] });
      expect((await list('?page_size=0')).status).toBe(400);
    });

    test('finds any part of the plain name, minding the case', async () => {
      expect(idsOf(await list('?name=Rocket'))).toEqual([ids.first]);
      expect(idsOf(await list('?name=ocket'))).toEqual([ids.second, ids.first]);
      expect(idsOf(await list(`?name=${encodeURIComponent('%')}`))).toEqual([ids.third]);
      expect(idsOf(await list('?name=nothing'))).toEqual([]);
    });

    test('finds the whole plain name', async () => {
      expect(idsOf(await list('?exact_name=Rocket%20team'))).toEqual([ids.first]);
      expect(idsOf(await list('?exact_name=Rocket'))).toEqual([]);
    });

    test('shows names with or without the icon', async () => {
      expect((await list('?exact_name=Rocket%20team')).body.data[0].name).toBe('🚀 Rocket team');
      expect((await list('?exact_name=Rocket%20team&name_format=plain')).body.data[0].name).toBe('Rocket team');
      expect((await list('?name_format=loud')).status).toBe(400);
    });

    test('shows archived ones on request to those who run the organisation', async () => {
      expect(idsOf(await list('?status=archived'))).toEqual([ids.archived]);
      expect((await list('?status=active,archived')).body.total).toBe(5);
      const refused = await list('?status=active,archived', member.session);
      expect([refused.status, refused.body.data.errorCode]).toEqual([403, 'AB03']);
      expect((await list('?status=lost')).status).toBe(400);
    });

    test('shows people the workspaces that they belong to', async () => {
      expect(idsOf(await list('', member.session))).toEqual([ids.second]);
    });

    test('is refused to workspace keys and to keys without the scope', async () => {
      const scopes = grantableTo('S');
      const key = await addKey(gateway, {
        organisationId: tenant.organisationId,
        workspaceId: ids.first,
        type: 'workspace-service',
        scopes,
      });
      const weak = await addKey(gateway, {
        organisationId: tenant.organisationId,
        type: 'organisation-service',
        scopes: ['workspaces.read'],
      });
      expect((await list('', key.secret)).status).toBe(403);
      expect((await list('', weak.secret)).status).toBe(403);
      expect((await list('', '')).status).toBe(401);
    });
  });

  describe('read', () => {
    test('answers by id and by slug, with members and settings', async () => {
      const member = await addPerson(gateway, organisationId, 'member');
      const made = await create({ name: '🚀 Readable', users: [member.userId] });
      for (const path of [`/v1/admin/workspaces/${made.id}`, `/v2/workspaces/${made.slug}`]) {
        const reply = await gateway.get(path);
        expect(reply.status).toBe(200);
        expect(reply.body).toMatchObject({ id: made.id, name: '🚀 Readable' });
        expect(reply.body.users).toMatchObject([{ object: 'workspace-user', id: member.userId, role: 'member' }]);
        expect(reply.body.security_settings.membersViewAllData).toBe(true);
        expect(reply.body.settings.request_logging).toBe('full');
      }
      expect((await gateway.get(`/v2/workspaces/${made.id}?name_format=plain`)).body.name).toBe('Readable');
      expect((await gateway.get(`/v2/workspaces/${made.id}?name_format=x`)).status).toBe(400);
    });

    test('a workspace key reads its own workspace, without members and settings', async () => {
      const other = await create();
      const own = await gateway.get(`/v1/workspaces/${defaultWorkspaceId}`, { key: gateway.workspaceKey });
      expect(own.status).toBe(200);
      expect(own.body.users).toBeUndefined();
      expect(own.body.settings).toBeUndefined();
      const refused = await gateway.get(`/v1/workspaces/${other.id}`, { key: gateway.workspaceKey });
      expect([refused.status, refused.body.data.errorCode]).toEqual([403, 'AB03']);
    });

    test('a user key reads its own workspace while its owner belongs to it', async () => {
      const { id } = await create();
      const person = await addPerson(gateway, organisationId, 'member', { workspaces: { [id]: 'member' } });
      const { userId } = person;
      const key = await addKey(gateway, {
        organisationId,
        workspaceId: id,
        userId,
        type: 'workspace-user',
        scopes: ['workspaces.read'],
      });
      expect((await gateway.get(`/v1/workspaces/${id}`, { key: key.secret })).status).toBe(200);
    });

    test('members see no settings; managers do', async () => {
      const { id } = await create();
      const member = await addPerson(gateway, organisationId, 'member', { workspaces: { [id]: 'member' } });
      const manager = await addPerson(gateway, organisationId, 'member', { workspaces: { [id]: 'manager' } });
      expect((await gateway.get(`/v1/workspaces/${id}`, { key: member.session })).body.settings).toBeUndefined();
      expect((await gateway.get(`/v1/workspaces/${id}`, { key: manager.session })).body.settings).toBeDefined();
    });

    test('what is not there is 404, what lies outside the caller is 403', async () => {
      const elsewhere = await addOrganisation(gateway);
      const { id } = await create();
      const outsider = await addPerson(gateway, organisationId, 'member', {
        workspaces: { [defaultWorkspaceId]: 'admin' },
      });
      for (const unknown of [nobody, 'ws-nothing', elsewhere.workspaceId]) {
        const reply = await gateway.get(`/v1/workspaces/${unknown}`);
        expect([reply.status, reply.body.data.errorCode]).toEqual([404, 'AB08']);
      }
      expect((await gateway.get(`/v1/workspaces/${id}`, { key: outsider.session })).status).toBe(403);
    });

    test('archived ones are shown to those who run the organisation', async () => {
      const { id } = await create();
      const member = await addPerson(gateway, organisationId, 'member', {
        workspaces: { [id]: 'admin', [defaultWorkspaceId]: 'member' },
      });
      await archiveWorkspace(gateway, id);
      expect((await gateway.get(`/v1/workspaces/${id}`)).body.status).toBe('archived');
      expect((await gateway.get(`/v1/workspaces/${id}`, { key: member.session })).status).toBe(404);
    });
  });
});
