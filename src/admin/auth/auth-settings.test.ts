/** The organisation's rules for signing in, over HTTP. */
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { onEachEngine, type TestGateway } from '../../../test/harness.ts';
import { addKey, addOrganisation, addPerson, type Home, home, storeOf } from '../../../test/people.ts';

const path = '/v1/admin/organisation/auth-settings';

onEachEngine('auth settings', (start) => {
  let gateway: TestGateway;
  let here: Home;

  beforeAll(async () => {
    gateway = await start();
    here = await home(gateway);
  });
  afterAll(() => gateway.stopWithoutFaults());

  const withLimit = (max_session_ttl: unknown) => ({ session_settings: { max_session_ttl } });

  test('a new organisation lets everyone sign in by any method, without a limit', async () => {
    const reply = await gateway.get(path, { key: (await addOrganisation(gateway)).adminKey });
    expect(reply.status).toBe(200);
    expect(reply.body).toEqual({
      object: 'auth_settings',
      login_method: 'any',
      session_settings: { max_session_ttl: null },
      sso: null,
      disable_auto_provision_user: false,
      jwt: null,
      scim: {
        enabled: false,
        organisation_management_only: false,
        group_based_user_provisioning: false,
        pattern: { prefix: 'ws-', role_separator: '-role-' },
        base_url: expect.stringContaining('/v2/scim/'),
        token: null,
        token_created_at: null,
      },
    });
  });

  test('a key that lacks what an admin holds names nobody whose word would count for admins', async () => {
    const { secret } = await addKey(gateway, {
      organisationId: here.organisationId,
      type: 'organisation-service',
      scopes: ['organisation_settings.update'],
    });
    const sections = [
      { jwt: { enabled: true, jwks_url: 'https://keys.example.com/jwks' } },
      { sso: { type: 'oidc', oidc: { issuer_url: 'https://id.example.com', client_id: 'c', client_secret: 's' } } },
    ];
    for (const section of sections) expect((await gateway.put(path, section, { key: secret })).status).toBe(403);
    expect((await gateway.put(path, withLimit(null), { key: secret })).status).toBe(200);
  });

  test('the limit is kept, for this organisation alone, and can be taken away', async () => {
    const elsewhere = await addOrganisation(gateway);
    const reply = await gateway.put(path, { ...withLimit(900), login_method: 'any' }, { key: here.owner.session });
    expect(reply.status).toBe(200);
    expect(reply.body).toMatchObject(withLimit(900));
    expect((await gateway.get(path)).body).toMatchObject(withLimit(900));
    expect((await gateway.get(path, { key: elsewhere.adminKey })).body).toMatchObject(withLimit(null));
    expect((await gateway.put(path, { login_method: 'any' })).body).toMatchObject(withLimit(900));
    expect((await gateway.put(path, withLimit(null))).body).toMatchObject(withLimit(null));
    const row = await storeOf(gateway)
      .db.selectFrom('audit_logs')
      .select(['action', 'resource_id', 'details'])
      .where('resource_type', '=', 'organisation')
      .where('user_id', '=', here.owner.userId)
      .executeTakeFirstOrThrow();
    expect([row.action, row.resource_id]).toEqual(['update', here.organisationId]);
    expect(JSON.parse(row.details ?? '')).toEqual({ max_session_ttl: { old: null, new: 900 } });
  });

  test('a limit below 900 seconds, or that is no number of seconds, is refused', async () => {
    for (const wrong of [899, 0, -1, 900.5, '900', true, 1e12]) {
      const reply = await gateway.put(path, withLimit(wrong));
      expect(reply.status).toBe(400);
      expect(reply.body.data.errors[0].path).toBe('session_settings.max_session_ttl');
    }
    expect((await gateway.put(path, { session_settings: { idle: 5 } })).status).toBe(400);
  });

  test('a way in that is not there, and words that nobody knows, are refused', async () => {
    const ssoOnly = await gateway.put(path, { login_method: 'sso_only' });
    expect(ssoOnly.status).toBe(400);
    expect(ssoOnly.body.data.message).toContain('login_method: sso_only needs a working single sign-on');
    expect((await gateway.put(path, { login_method: 'magic' })).status).toBe(400);
    expect((await gateway.put(path, { colour: 'blue' })).status).toBe(400);
    expect((await gateway.put(path, { sso: { colour: 'blue' } })).status).toBe(400);
    expect((await gateway.get(path)).body).toMatchObject({ ...withLimit(null), sso: null });
  });

  test('only those who hold the scope on the organisation may read or change it', async () => {
    const member = await addPerson(gateway, here.organisationId, 'member', {
      workspaces: { [here.workspaceId]: 'admin' },
    });
    const reader = await addKey(gateway, {
      organisationId: here.organisationId,
      type: 'organisation-service',
      scopes: ['organisation_settings.read'],
    });
    expect((await gateway.get(path, { key: reader.secret })).status).toBe(200);
    expect((await gateway.put(path, withLimit(900), { key: reader.secret })).status).toBe(403);
    for (const key of [member.session, gateway.workspaceKey]) {
      expect((await gateway.get(path, { key })).status).toBe(403);
      expect((await gateway.put(path, withLimit(900), { key })).status).toBe(403);
    }
    expect((await gateway.get(path, { key: '' })).status).toBe(401);
    expect((await gateway.put(path, withLimit(900), { key: '' })).status).toBe(401);
  });
});
