/** Single sign-on with a real OpenID provider: who comes in and as what, and every answer that lets nobody in. */
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { exportJWK, generateKeyPair } from 'jose';
import { onEachEngine, type TestGateway } from '../harness.ts';
import { addOrganisation, addPerson, type Home, joinFurther, storeOf, type Tenant } from '../people.ts';
import { type OidcWorld, password, settingsPath, startOidc } from './oidc-world.ts';
import { freePort, type IdentityProvider, startIdentityProvider, verifyDomain, Walker } from './walk.ts';

onEachEngine('single sign-on by OpenID Connect', (start) => {
  let gateway: TestGateway;
  let here: Home;
  let acme: IdentityProvider;
  let signIn: OidcWorld['signIn'];
  let selfOf: OidcWorld['selfOf'];
  beforeAll(async () => {
    const { saved, ...world } = await startOidc(start);
    ({ gateway, here, acme, signIn, selfOf } = world);
    expect(saved).toMatchObject({
      status: 200,
      body: {
        login_method: 'any',
        sso: {
          type: 'oidc',
          oidc: {
            issuer_url: acme.url,
            client_secret_set: true,
            token_endpoint_auth_method: 'client_secret_basic',
            scopes: ['openid', 'profile', 'email', 'offline_access'],
            redirect_uri: `${gateway.url}/v2/auth/callback`,
            backchannel_logout_uri: `${gateway.url}/v2/auth/oidc/logout/${here.organisationId}`,
          },
          verified_at: null,
        },
      },
    });
    expect(JSON.stringify(saved.body)).not.toContain('a-secret');
  });
  afterAll(async () => {
    acme.stop();
    await gateway.stopWithoutFaults();
  });

  const rows = (action: string) =>
    storeOf(gateway)
      .db.selectFrom('audit_logs')
      .selectAll()
      .where('action', '=', action as 'login')
      .where('organisation_id', '=', here.organisationId)
      .orderBy('id')
      .execute();
  const failure = async (reason: string) => {
    for (;;) {
      const row = (await rows('login')).findLast(({ details }) => details?.includes(reason));
      if (row) return row;
      await Bun.sleep(5);
    }
  };

  test('the address leads to the identity provider, and a stranger of the domain becomes a member', async () => {
    const walker = new Walker();
    const reply = await walker.signIn(gateway, 'ada@acme.example', { email: 'Ada@acme.example', return_to: '/logs' });
    expect([reply.status, reply.headers.get('location')]).toEqual([302, '/logs']);
    const self = await selfOf(walker);
    expect(self).toMatchObject({
      status: 200,
      body: {
        auth_type: 'session',
        user: { email: 'ada@acme.example', first_name: 'ada', last_name: 'Acme' },
        organisation: { id: here.organisationId, role: 'member' },
        workspaces: [],
      },
    });
    const made = (await rows('create')).find(({ resource_id }) => resource_id === self.body.user.id);
    expect(JSON.parse(made?.details ?? '{}')).toEqual({ email: 'ada@acme.example', role: 'member', source: 'sso' });
    const login = (await rows('login')).at(-1);
    expect(login).toMatchObject({ user_id: self.body.user.id, response_status_code: 200, client_ip: '127.0.0.1' });
    expect(JSON.parse(login?.details ?? '{}')).toEqual({ method: 'oidc' });
    expect((await gateway.get(settingsPath)).body.sso.verified_at).not.toBeNull();
    const again = new Walker();
    await signIn('ada@acme.example', again);
    expect((await selfOf(again)).body.user.id).toBe(self.body.user.id);
  });

  test('an address of nobody’s domain has no such way, and learns nothing else', async () => {
    const ask = (body: unknown) => gateway.post('/v1/auth/login', body, { key: '' });
    const none = { object: 'sign_in', redirect_url: null, password: true };
    expect((await ask({ email: 'ada@elsewhere.example' })).body).toEqual(none);
    expect((await ask({ email: here.owner.email })).body).toEqual(none);
    for (const named of [{ organisation_id: here.organisationId }, { sso_client_id: 'gateway' }]) {
      expect((await ask(named)).body.redirect_url).toStartWith(acme.url);
    }
    expect((await ask({})).status).toBe(400);
    expect((await ask({ email: 'a@acme.example', return_to: '//evil.example' })).status).toBe(400);
    expect((await ask({ organisation_id: here.organisationId, password })).status).toBe(400);
  });

  const refused: [string, string, string][] = [
    ['an address of another domain', 'eve@other.example', 'is not verified for this organisation'],
    ['an address that is not verified', 'eve@acme.example;unverified', 'has not verified the e-mail address'],
    ['an identity without an address', 'eve@acme.example;no-email', 'told no e-mail address'],
    ['a person whom the provider refuses', 'nobody', 'access_denied'],
  ];
  for (const [what, person, reason] of refused) {
    test(`${what} is refused, and told in the audit trail`, async () => {
      const walker = new Walker();
      const reply = await walker.signIn(gateway, person, { organisation_id: here.organisationId });
      expect(reply.status).toBe(403);
      expect(await reply.text()).toContain(reason);
      expect(walker.cookie(gateway.url, 'gw_session')).toBeUndefined();
      expect(await failure(reason)).toMatchObject({ response_status_code: 403, resource_type: 'user' });
    });
  }

  test('a code counts once, in the browser that asked for it', async () => {
    const until = `${gateway.url}/v2/auth/callback`;
    const victim = new Walker();
    const stolen = await victim.follow(
      await victim.begin(gateway, { email: 'vic@acme.example' }),
      'vic@acme.example',
      until,
    );
    // The thief has the whole address, but not the cookie of the browser; and the attempt uses the sign-in up.
    const thief = new Walker();
    const attempt = await thief.step(stolen);
    expect([attempt.status, await attempt.text()]).toEqual([403, expect.stringContaining('another browser')]);
    expect((await victim.step(stolen)).status).toBe(400);

    const walker = new Walker();
    const good = await walker.follow(
      await walker.begin(gateway, { email: 'vic@acme.example' }),
      'vic@acme.example',
      until,
    );
    expect((await walker.step(good)).status).toBe(302);
    expect((await walker.step(good)).status).toBe(400);
    expect(await failure('used before')).toMatchObject({ response_status_code: 400, client_ip: '127.0.0.1' });

    // A code of one sign-in does not fit the state of another.
    const one = await walker.begin(gateway, { email: 'vic@acme.example' });
    const oneAnswer = await walker.follow(one, 'vic@acme.example', until);
    const other = await walker.begin(gateway, { email: 'vic@acme.example' });
    const mixed = new URL(oneAnswer);
    mixed.searchParams.set('state', new URL(other).searchParams.get('state') ?? '');
    expect((await walker.step(mixed.href)).status).toBe(403);
  });

  test('a state that is forged, missing or too old leads nowhere', async () => {
    const walker = new Walker();
    const callback = `${gateway.url}/v2/auth/callback`;
    for (const query of ['', '?state=forged&code=x', '?code=x']) {
      expect((await walker.step(callback + query)).status).toBe(400);
    }
    const way = await walker.begin(gateway, { email: 'late@acme.example' });
    const answer = await walker.follow(way, 'late@acme.example', callback);
    gateway.clock.advance({ minutes: 11 });
    expect((await walker.step(answer)).status).toBe(400);
  });

  test('the answer of another issuer is refused', async () => {
    const walker = new Walker();
    const way = await walker.begin(gateway, { email: 'vic@acme.example' });
    const answer = new URL(await walker.follow(way, 'vic@acme.example', `${gateway.url}/v2/auth/callback`));
    answer.searchParams.set('iss', 'https://evil.example');
    const reply = await walker.step(answer.href);
    expect(reply.status).toBe(403);
    expect(await reply.text()).toContain('iss');
  });

  test('two organisations with two providers are never mixed up', async () => {
    const tenant: Tenant = await addOrganisation(gateway);
    const evil = await startIdentityProvider([gateway]);
    await verifyDomain(gateway, tenant.organisationId, 'evil.example');
    await gateway.put(settingsPath, { sso: evil.sso }, { key: tenant.adminKey });
    const walker = new Walker();
    // Their provider vouches for an address of ours: it opens neither organisation.
    const theirs = await walker.signIn(gateway, 'ada@acme.example', { organisation_id: tenant.organisationId });
    expect(theirs.status).toBe(403);
    // Their code is handed to a sign-in that was begun with us.
    const until = `${gateway.url}/v2/auth/callback`;
    const ours = await walker.begin(gateway, { organisation_id: here.organisationId });
    const answer = new URL(
      await walker.follow(
        await walker.begin(gateway, { organisation_id: tenant.organisationId }),
        'mallory@evil.example',
        until,
      ),
    );
    answer.searchParams.set('state', new URL(ours).searchParams.get('state') ?? '');
    expect((await walker.step(answer.href)).status).toBe(403);
    evil.stop();
  });

  test('the gateway may prove itself with a key of its own instead of a secret', async () => {
    const { privateKey, publicKey } = await generateKeyPair('RS256', { extractable: true });
    const named = { kid: 'ours', alg: 'RS256', use: 'sig' };
    const signing = { ...(await exportJWK(privateKey)), ...named };
    const tenant = await addOrganisation(gateway);
    const keyed = await startIdentityProvider([gateway], freePort(), {
      gatewayKey: { ...(await exportJWK(publicKey)), ...named },
    });
    await verifyDomain(gateway, tenant.organisationId, 'keyed.example');
    const oidc = { issuer_url: keyed.url, client_id: 'gateway', jwks: { keys: [signing] } };
    const saved = await gateway.put(settingsPath, { sso: { oidc } }, { key: tenant.adminKey });
    expect(saved.body.sso.oidc).toMatchObject({ token_endpoint_auth_method: 'private_key_jwt', jwks_set: true });
    expect(JSON.stringify(saved.body)).not.toContain(signing.d ?? '');
    const walker = new Walker();
    expect((await walker.signIn(gateway, 'kim@keyed.example', { email: 'kim@keyed.example' })).status).toBe(302);
    keyed.stop();
  });

  test('forced single sign-on refuses passwords of all but owners, and cannot be the only thing that is removed', async () => {
    const member = await addPerson(gateway, here.organisationId, 'member', { email: 'mo@acme.example', password });
    const admin = await addPerson(gateway, here.organisationId, 'admin', { email: 'al@acme.example', password });
    expect((await gateway.put(settingsPath, { login_method: 'sso_only' })).status).toBe(200);
    const login = (email: string, word: string) =>
      gateway.post('/v1/auth/login', { email, password: word }, { key: '' });
    for (const person of [member, admin]) {
      expect(await login(person.email, password)).toMatchObject({ status: 403, body: { data: { errorCode: 'AB03' } } });
    }
    expect((await login(member.email, 'wrong')).status).toBe(401);
    expect((await login(gateway.owner.email, gateway.owner.password)).status).toBe(200);
    const way = await gateway.post('/v1/auth/login', { email: member.email }, { key: '' });
    expect(way.body).toMatchObject({ object: 'sign_in', password: false });
    expect((await signIn('mo@acme.example')).status).toBe(302);
    const invite = await gateway.post('/v1/admin/users/invites', { email: 'li@acme.example', role: 'member' });
    const token = String(invite.body.invite_link).split('/').at(-1);
    const names = { first_name: 'Li', last_name: 'Acme', password };
    expect((await gateway.post(`/v1/invites/${token}/accept`, names, { key: '' })).status).toBe(403);
    expect((await signIn('li@acme.example')).status).toBe(302);
    const removal = await gateway.put(settingsPath, { sso: null });
    expect(removal.body.data.errors[0].path).toBe('login_method');
    // A set-up that nobody has used yet locks nobody out.
    const changed = await gateway.put(settingsPath, {
      sso: { oidc: { client_id: 'mistyped', client_secret: 'wrong' } },
    });
    expect(changed).toMatchObject({ status: 200, body: { login_method: 'sso_only', sso: { verified_at: null } } });
    expect((await login(member.email, password)).status).toBe(200);
    await gateway.put(settingsPath, { login_method: 'any', sso: acme.sso });
  });

  test('a set-up that cannot work is refused by name', async () => {
    const put = (sso: unknown) => gateway.put(settingsPath, { sso });
    const dead = `http://127.0.0.1:${freePort()}`;
    const wrong: [string, unknown][] = [
      ['sso.oidc.client_secret', { oidc: { issuer_url: dead } }],
      ['sso.oidc.issuer_url', { oidc: { issuer_url: dead, client_secret: 'x' } }],
      ['sso.oidc.issuer_url', { oidc: { issuer_url: `${acme.url}/other`, client_secret: 'x' } }],
      ['sso.oidc.issuer_url', { oidc: { issuer_url: 'http://id.example', client_secret: 'x' } }],
      ['sso.oidc.issuer_url', { oidc: { issuer_url: 'https://169.254.169.254', client_secret: 'x' } }],
      ['sso.oidc.jwks', { oidc: { token_endpoint_auth_method: 'private_key_jwt' } }],
      ['sso.saml', { type: 'saml' }],
      [
        'sso.provisioning.default_workspaces.0.workspace_id',
        { provisioning: { default_workspaces: [{ workspace_id: 'ws-none', role: 'member' }] } },
      ],
    ];
    for (const [path, sso] of wrong) {
      const reply = await put(sso);
      expect({ sso, status: reply.status, path: reply.body.data?.errors?.[0].path }).toEqual({
        sso,
        status: 400,
        path,
      });
    }
    const tenant = await addOrganisation(gateway);
    const none = await gateway.put(settingsPath, { login_method: 'sso_only' }, { key: tenant.adminKey });
    expect(none).toMatchObject({ status: 400 });
    // An admin lets nobody become owner.
    const admin = await addPerson(gateway, here.organisationId, 'admin');
    const mapping = {
      provisioning: { role_claim: 'groups', role_mappings: [{ value: 'x', organisation_role: 'owner' }] },
    };
    expect((await gateway.put(settingsPath, { sso: mapping }, { key: admin.session })).status).toBe(403);
  });

  test('leaving ends the session here and leads to the provider', async () => {
    const walker = new Walker();
    await signIn('ada@acme.example', walker);
    const key = walker.cookie(gateway.url, 'gw_session') ?? '';
    const renewed = await gateway.post('/v1/auth/refresh', undefined, { key });
    expect(renewed.status).toBe(200);
    const left = await gateway.post('/v1/auth/logout', undefined, { key: renewed.body.token });
    expect(left.body.redirect_url).toStartWith(`${acme.url}/session/end?id_token_hint=`);
    expect((await walker.step(left.body.redirect_url)).status).toBe(200);
    expect((await gateway.get('/v1/auth/self', { key: renewed.body.token })).status).toBe(401);
  });

  test('a session of single sign-on lasts no longer than max_session_ttl, and opens no other organisation', async () => {
    const walker = new Walker();
    await signIn('ada@acme.example', walker);
    const key = walker.cookie(gateway.url, 'gw_session') ?? '';
    const { id } = (await selfOf(walker)).body.user;
    const tenant = await addOrganisation(gateway);
    await joinFurther(gateway, id, tenant.organisationId);
    const leap = await gateway.post(
      '/v1/auth/switch-organisation',
      { organisation_id: tenant.organisationId },
      { key },
    );
    expect(leap.status).toBe(403);
    await gateway.put(settingsPath, { session_settings: { max_session_ttl: 900 } });
    gateway.clock.advance({ minutes: 16 });
    expect((await selfOf(walker)).status).toBe(401);
    await gateway.put(settingsPath, { session_settings: { max_session_ttl: null } });
  });

  test('rotated keys of the provider are found at the next sign-in', async () => {
    const { port } = acme;
    acme.stop();
    const away = await gateway.post('/v1/auth/login', { email: 'ada@acme.example' }, { key: '' });
    expect(away.body).toEqual({ object: 'sign_in', redirect_url: null, password: true });
    acme = await startIdentityProvider([gateway], port);
    expect((await signIn('ada@acme.example')).status).toBe(302);
  });
});
