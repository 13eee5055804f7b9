/** Organisations, as the answers of their routes. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { onEachEngine, startGateway, type TestGateway } from '../../../test/harness.ts';
import {
  addKey,
  addOrganisation,
  addPerson,
  addWorkspace,
  archiveWorkspace,
  type Home,
  home,
  type Person,
  signIn,
  storeOf,
  type Tenant,
} from '../../../test/people.ts';
import { grantableTo } from '../../identity/scopes.ts';
import { defaultSettings } from '../../identity/settings.ts';

onEachEngine('organisations', (start) => {
  let gateway: TestGateway;
  let place: Home;
  let elsewhere: Tenant;
  let admin: Person;
  let member: Person;

  beforeAll(async () => {
    gateway = await start({ API_KEY_PREFIX: 'gw-' });
    place = await home(gateway);
    elsewhere = await addOrganisation(gateway);
    admin = await addPerson(gateway, place.organisationId, 'admin');
    member = await addPerson(gateway, place.organisationId, 'member', {
      workspaces: { [place.workspaceId]: 'manager' },
    });
  });

  afterAll(() => gateway.stopWithoutFaults());

  const auditRows = async (organisationId: string) =>
    storeOf(gateway)
      .db.selectFrom('audit_logs')
      .selectAll()
      .where('organisation_id', '=', organisationId)
      .where('response_status_code', '=', 200)
      .orderBy('timestamp', 'desc')
      .orderBy('id', 'desc')
      .execute();

  describe('POST /admin/organisations', () => {
    test('makes an organisation with its workspace, owner and one admin key that is shown once', async () => {
      const made = await gateway.post('/v1/admin/organisations', { name: '  Second  ' }, { key: member.session });
      expect(made.status).toBe(200);
      expect(made.body).toMatchObject({
        object: 'organisation',
        name: 'Second',
        owner_ids: [member.userId],
        default_jwt_workspace_id: null,
        gateway_url: null,
        status: 'active',
        settings: { ...defaultSettings, workspace_overrides: { logs: false } },
        defaults: { input_guardrails: [], output_guardrails: [] },
        properties: { api_key_metadata_schema: null, workspace_metadata_schema: null },
      });
      expect(made.body.settings.data_plane_security_settings.block_inline_config).toBe(true);
      expect(made.body.api_key.key).toStartWith('gw-');

      const own = await gateway.get('/v1/admin/organisation', { key: made.body.api_key.key });
      const { api_key, ...record } = made.body;
      expect(own.body).toEqual(record);
      const { scopes } = await storeOf(gateway)
        .db.selectFrom('api_keys')
        .select('scopes')
        .where('id', '=', api_key.id)
        .executeTakeFirstOrThrow();
      expect(JSON.parse(scopes)).toEqual([...grantableTo('A')]);
      const workspace = await storeOf(gateway)
        .db.selectFrom('workspaces')
        .select(['organisation_id', 'is_default'])
        .where('id', '=', record.default_workspace_id)
        .executeTakeFirstOrThrow();
      expect(workspace).toEqual({ organisation_id: record.id, is_default: 1 });
    });

    test('leaves the audit row in the new organisation', async () => {
      const made = await gateway.post('/v1/admin/organisations', { name: 'Third' }, { key: member.session });
      const [row] = await auditRows(made.body.id);
      expect(row).toMatchObject({
        resource_type: 'organisation',
        action: 'create',
        resource_id: made.body.id,
        user_id: member.userId,
      });
    });

    test.each([
      ['no name', {}],
      ['an empty name', { name: ' ' }],
      ['a name of 256 characters', { name: 'x'.repeat(256) }],
      ['a name that is no text', { name: 7 }],
    ])('%s is refused with 400', async (_case, body) => {
      const reply = await gateway.post('/v1/admin/organisations', body, { key: member.session });
      expect([reply.status, reply.body.data.errorCode]).toEqual([400, 'AB01']);
    });

    test('keys are refused with 403, nobody with 401', async () => {
      expect((await gateway.post('/v1/admin/organisations', { name: 'No' })).status).toBe(403);
      expect((await gateway.post('/v1/admin/organisations', { name: 'No' }, { key: '' })).status).toBe(401);
    });
  });

  describe('GET /admin/organisations', () => {
    test('lists the organisations of the caller with the role in each, newest first, in pages', async () => {
      const wanderer = await addPerson(gateway, place.organisationId, 'admin');
      gateway.clock.advance({ seconds: 1 });
      const own = await gateway.post('/v1/admin/organisations', { name: 'Own' }, { key: wanderer.session });
      const list = await gateway.get('/v1/admin/organisations', { key: wanderer.session });
      expect(list.body).toMatchObject({ object: 'list', total: 2 });
      expect(list.body.data.map((entry: { id: string; role: string }) => [entry.id, entry.role])).toEqual([
        [own.body.id, 'owner'],
        [place.organisationId, 'admin'],
      ]);
      expect(Object.keys(list.body.data[0]).sort()).toEqual([
        'default_workspace_id',
        'id',
        'name',
        'object',
        'role',
        'slug',
      ]);
      const second = await gateway.get('/v1/admin/organisations?page_size=1&current_page=1', { key: wanderer.session });
      expect(second.body.data).toEqual([list.body.data[1]]);
      const past = await gateway.get('/v1/admin/organisations?current_page=9', { key: wanderer.session });
      expect(past.body).toMatchObject({ total: 2, data: [] });
    });

    test('an organisation that the person has left is not listed', async () => {
      const leaver = await addPerson(gateway, place.organisationId, 'member');
      await gateway.post('/v1/admin/organisations', { name: 'Left' }, { key: leaver.session });
      await storeOf(gateway)
        .db.updateTable('organisation_members')
        .set({ status: 'archived' })
        .where('user_id', '=', leaver.userId)
        .where('organisation_id', '!=', place.organisationId)
        .execute();
      expect((await gateway.get('/v1/admin/organisations', { key: leaver.session })).body.total).toBe(1);
    });

    test('a page size of nothing is refused with 400, keys with 403', async () => {
      expect((await gateway.get('/v1/admin/organisations?page_size=0', { key: member.session })).status).toBe(400);
      expect((await gateway.get('/v1/admin/organisations')).status).toBe(403);
    });
  });

  describe('GET /admin/organisation', () => {
    test('owners, admins and admin keys see the whole record, under /v1 and /v2', async () => {
      const byKey = await gateway.get('/v1/admin/organisation');
      expect(byKey.status).toBe(200);
      expect(byKey.body).toMatchObject({ id: place.organisationId, default_workspace_id: place.workspaceId });
      expect((await gateway.get('/v1/admin/organisation', { key: place.owner.session })).body).toEqual(byKey.body);
      expect((await gateway.get('/v2/admin/organisation', { key: admin.session })).body).toEqual(byKey.body);
    });

    test('members see its id, name, slug and default workspace only', async () => {
      const seen = await gateway.get('/v1/admin/organisation', { key: member.session });
      expect(seen.status).toBe(200);
      expect(seen.body).toEqual({
        object: 'organisation',
        id: place.organisationId,
        name: 'My organisation',
        slug: expect.any(String),
        default_workspace_id: place.workspaceId,
      });
    });

    test('workspace keys and admin keys without the scope are refused with 403', async () => {
      expect((await gateway.get('/v1/admin/organisation', { key: gateway.workspaceKey })).status).toBe(403);
      const { organisationId } = place;
      const weak = await addKey(gateway, { organisationId, type: 'organisation-service', scopes: ['audit_logs.list'] });
      const reply = await gateway.get('/v1/admin/organisation', { key: weak.secret });
      expect([reply.status, reply.body.data.errorCode]).toEqual([403, 'AB03']);
    });

    test("naming another tenant's organisation is refused with 403", async () => {
      const reply = await gateway.get(`/v1/admin/organisation?organisation_id=${elsewhere.organisationId}`);
      expect(reply.status).toBe(403);
    });
  });

  describe('PUT /admin/organisation', () => {
    const put = (body: unknown, key = gateway.adminKey) => gateway.put('/v1/admin/organisation', body, { key });

    test('changes what is sent, keeps the rest, and audits what differs', async () => {
      const other = await addWorkspace(gateway, place.organisationId, 'Tokens');
      const changed = await put({
        gateway_url: 'https://gw.example.com/',
        mcp_gateway_url: 'https://mcp.example.com/base/',
        kms_key_arn: 'arn:aws:kms:eu-west-1:111122223333:key/abc',
        default_jwt_workspace_id: other.slug,
        unknown: true,
      });
      expect(changed.status).toBe(200);
      expect(changed.body).toMatchObject({
        name: 'My organisation',
        gateway_url: 'https://gw.example.com/v1',
        mcp_gateway_url: 'https://mcp.example.com/base',
        default_jwt_workspace_id: other.id,
      });
      const [row] = await auditRows(place.organisationId);
      expect(row).toMatchObject({ resource_type: 'organisation', action: 'update', resource_id: place.organisationId });
      expect(JSON.parse(row?.details ?? '').changed.gateway_url).toEqual({
        old: null,
        new: 'https://gw.example.com/v1',
      });

      const cleared = await put({ gateway_url: null, default_jwt_workspace_id: null }, admin.session);
      expect(cleared.body).toMatchObject({
        gateway_url: null,
        default_jwt_workspace_id: null,
        mcp_gateway_url: 'https://mcp.example.com/base',
      });
    });

    test('an address that ends in /v1 is kept as it is', async () => {
      expect((await put({ gateway_url: 'https://gw.example.com/v1' })).body.gateway_url).toBe(
        'https://gw.example.com/v1',
      );
    });

    test.each([
      ['gateway_url', ''],
      ['gateway_url', 'http://10.0.0.1'],
      ['gateway_url', 'http://169.254.169.254'],
      ['gateway_url', 'ftp://gw.example.com'],
      ['gateway_url', 'https://gw.example.com/#x'],
      ['gateway_url', 'https://gw.example.com/?x=1'],
      ['mcp_gateway_url', 'http://2130706433'],
      ['mcp_gateway_url', `https://gw.example.com/${'x'.repeat(2048)}`],
      ['name', ''],
    ])('%s %p is refused with 400 and named', async (field, value) => {
      const reply = await put({ [field]: value });
      expect([reply.status, reply.body.data.errorCode]).toEqual([400, 'AB01']);
      expect(reply.body.data.errors[0].path).toBe(field);
    });

    test('a body with no known field is refused with 400', async () => {
      expect((await put({})).status).toBe(400);
      expect((await put({ slug: 'mine' })).status).toBe(400);
    });

    test('a workspace that does not exist, is archived or is of another tenant is 404', async () => {
      const gone = await addWorkspace(gateway, place.organisationId, 'Gone');
      await archiveWorkspace(gateway, gone.id);
      for (const named of ['ws-nowhere', gone.id, elsewhere.workspaceId]) {
        const reply = await put({ default_jwt_workspace_id: named });
        expect([reply.status, reply.body.data.errorCode]).toEqual([404, 'AB08']);
      }
    });

    test('members and workspace keys are refused with 403', async () => {
      expect((await put({ name: 'Mine' }, member.session)).status).toBe(403);
      expect((await put({ name: 'Mine' }, gateway.workspaceKey)).status).toBe(403);
    });
  });

  describe('POST /admin/organisation/transfer-ownership', () => {
    const transfer = (key: string, user_id: unknown) =>
      gateway.post('/v1/admin/organisation/transfer-ownership', { user_id }, { key });

    test('makes the other member owner and the caller admin', async () => {
      const own = await addOrganisation(gateway);
      const session = await signIn(gateway, own.organisationId, own.ownerId);
      const heir = await addPerson(gateway, own.organisationId, 'member');
      const reply = await transfer(session, heir.userId);
      expect([reply.status, reply.body]).toEqual([200, {}]);
      const record = await gateway.get('/v1/admin/organisation', { key: own.adminKey });
      expect(record.body.owner_ids).toEqual([heir.userId]);
      expect((await transfer(session, heir.userId)).status).toBe(403);
      const [row] = await auditRows(own.organisationId);
      expect(row).toMatchObject({ resource_type: 'organisation', action: 'manage' });
      expect(JSON.parse(row?.details ?? '')).toEqual({ old_owner: own.ownerId, new_owner: heir.userId });
    });

    test('of two who are named at once, one becomes the owner', async () => {
      const own = await addOrganisation(gateway);
      const session = await signIn(gateway, own.organisationId, own.ownerId);
      const heirs = [
        await addPerson(gateway, own.organisationId, 'member'),
        await addPerson(gateway, own.organisationId, 'member'),
      ];
      const { promise: held, resolve: letGo } = Promise.withResolvers<void>();
      // Where there is one connection, both calls are let in while the caller is still the owner.
      const holding = storeOf(gateway).atomically(() => held);
      const asked = heirs.map(({ userId }) => transfer(session, userId));
      await gateway.get('/v1/health');
      letGo();
      await holding;
      const answers = await Promise.all(asked);
      expect(answers.map(({ status }) => status).sort()).toEqual([200, 403]);
      const record = await gateway.get('/v1/admin/organisation', { key: own.adminKey });
      expect(record.body.owner_ids).toHaveLength(1);
    });

    test('handing over to oneself is refused with 400', async () => {
      expect((await transfer(place.owner.session, place.owner.userId)).status).toBe(400);
      expect((await transfer(place.owner.session, 'nobody')).status).toBe(400);
    });

    test('someone who is no member of the organisation is 404', async () => {
      for (const userId of [elsewhere.ownerId, Bun.randomUUIDv7()]) {
        const reply = await transfer(place.owner.session, userId);
        expect([reply.status, reply.body.data.errorCode]).toEqual([404, 'AB08']);
      }
    });

    test('admins, members and keys are refused with 403', async () => {
      for (const key of [admin.session, member.session, gateway.adminKey]) {
        expect((await transfer(key, member.userId)).status).toBe(403);
      }
    });
  });
});

describe('DISABLE_ORG_CREATION', () => {
  let gateway: TestGateway;

  beforeAll(async () => {
    gateway = await startGateway({ DISABLE_ORG_CREATION: 'true' });
  });

  afterAll(() => gateway.stop());

  test('refuses new organisations with 403', async () => {
    const { owner } = await home(gateway);
    const reply = await gateway.post('/v1/admin/organisations', { name: 'No' }, { key: owner.session });
    expect([reply.status, reply.body.data.errorCode]).toEqual([403, 'AB03']);
  });
});
