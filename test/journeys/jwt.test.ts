/** An organisation's own tokens on both planes: what they may do, what they carry, and every way in which one is refused. */

import { afterAll, beforeAll, expect, test } from 'bun:test';
import { createHmac } from 'node:crypto';
import { onEachEngine, type TestGateway } from '../harness.ts';
import { type Issuer, startIssuer, unsignedToken } from '../issuer.ts';
import { addConfig, addOrganisation, addPerson, addWorkspace, type Home, home } from '../people.ts';
import { chat, inAnHour, lastCall, lastRejection, namedIn, rejections, settingsPath, trusted } from '../token-calls.ts';

onEachEngine('tokens of an organisation', (start) => {
  let gateway: TestGateway;
  let here: Home;
  let issuer: Issuer;
  let workspaceSlug: string;
  beforeAll(async () => {
    gateway = await start(trusted);
    here = await home(gateway);
    issuer = await startIssuer();
    const saved = await gateway.put(settingsPath, { jwt: { enabled: true, jwks_url: issuer.url } });
    expect(saved).toMatchObject({
      status: 200,
      body: { jwt: { enabled: true, jwks_url: issuer.url, jwks_json: null } },
    });
    workspaceSlug = (await gateway.get(`/v1/workspaces/${here.workspaceId}`)).body.slug;
  });
  afterAll(async () => {
    issuer.stop();
    await gateway.stopWithoutFaults();
  });

  const claims = (more: Record<string, unknown> = {}) => ({
    gw_oid: here.organisationId,
    gw_workspace: workspaceSlug,
    scope: 'completions.write logs.view',
    exp: inAnHour(gateway),
    sub: 'robot-7',
    ...more,
  });
  const token = (more?: Record<string, unknown>, header?: Record<string, unknown>, kid?: string) =>
    issuer.token(claims(more), header, kid);

  test('a token makes model calls from either header, with and without the prefix of its scopes', async () => {
    expect((await chat(gateway, await token())).status).toBe(200);
    expect((await chat(gateway, '', { authorization: `Bearer ${await token()}` })).status).toBe(200);
    const prefixed = await token({ scope: undefined, scopes: ['gw.completions.write', 'no.such.scope'] });
    expect((await chat(gateway, prefixed)).status).toBe(200);
    const byOtherNames = await token({
      gw_oid: undefined,
      gw_workspace: undefined,
      organisation_id: here.organisationId,
      workspace_slug: here.workspaceId,
    });
    expect((await chat(gateway, byOtherNames)).status).toBe(200);
    expect(lastCall(gateway)).toMatchObject({ workspace_id: here.workspaceId, user_id: null });
  });

  test('one fetch of the key set serves every token, and a rotated key is found at once', async () => {
    const before = issuer.fetches;
    await Promise.all(Array.from({ length: 20 }, async (_, n) => chat(gateway, await token({ n }))));
    expect(issuer.fetches).toBe(before);
    await issuer.rotate('second');
    gateway.clock.advance({ minutes: 2 });
    expect((await chat(gateway, await token())).status).toBe(200);
    expect((await chat(gateway, await token({ exp: inAnHour(gateway) }, {}, 'first'))).status).toBe(200);
    expect(issuer.fetches).toBe(before + 1);
  });

  test('an unknown key is asked for at most once a minute', async () => {
    gateway.clock.advance({ minutes: 2 });
    const before = issuer.fetches;
    for (let n = 0; n < 5; n++) {
      const reply = await chat(gateway, await token({ exp: inAnHour(gateway), n }, { kid: `unknown-${n}` }));
      expect(reply).toMatchObject({ status: 401, body: { error: { code: 'invalid_jwt' } } });
    }
    expect(issuer.fetches).toBe(before + 1);
  });

  test('an address that fails leaves the known keys in force', async () => {
    issuer.answerWith(() => new Response('gone', { status: 500 }));
    gateway.clock.advance({ days: 2 });
    expect((await chat(gateway, await token({ exp: inAnHour(gateway) }))).status).toBe(200);
    issuer.answerWith(null);
  });

  const now = () => Math.floor(gateway.clock.now().getTime() / 1_000);
  const refused: [string, number, string, string, () => string | Promise<string>][] = [
    ['alg none', 401, 'invalid_jwt', 'RS256', () => unsignedToken({ alg: 'none', typ: 'JWT', kid: 'first' }, claims())],
    [
      'a key set entry used as an HMAC secret',
      401,
      'invalid_jwt',
      'RS256',
      () => {
        const unsigned = unsignedToken({ alg: 'HS256', typ: 'JWT', kid: 'first' }, claims());
        const mac = createHmac('sha256', JSON.stringify(issuer.keySet().keys[0])).update(unsigned.slice(0, -1));
        return unsigned + mac.digest('base64url');
      },
    ],
    ['no kid', 401, 'invalid_jwt', 'names no key', () => token({}, { kid: undefined })],
    ['another type', 401, 'invalid_jwt', 'typ', () => token({}, { typ: 'at+jwt' })],
    ['a type that is a number', 401, 'invalid_jwt', 'typ', () => token({}, { typ: 7 })],
    [
      'an algorithm that is a number',
      401,
      'invalid_jwt',
      'RS256',
      () => unsignedToken({ alg: 7, typ: 'JWT', kid: 'first' }, claims()),
    ],
    ['a key id that is a number', 401, 'invalid_jwt', 'names no key', () => token({}, { kid: 7 })],
    [
      'an extension that must be understood',
      401,
      'invalid_jwt',
      'crit',
      () => issuer.token(claims(), { crit: ['b64'], b64: true }),
    ],
    ['no type', 401, 'invalid_jwt', 'typ', () => token({}, { typ: undefined })],
    ['an expired token', 401, 'invalid_jwt', 'has expired', () => token({ exp: now() - 6 })],
    ['a token of later', 401, 'invalid_jwt', 'not valid yet', () => token({ nbf: now() + 60 })],
    ['no expiry', 401, 'invalid_jwt', 'exp', () => token({ exp: undefined })],
    ['a moment of issue in words', 401, 'invalid_jwt', 'claim iat', () => token({ iat: 'today' })],
    ['a start that is a list', 401, 'invalid_jwt', 'claim nbf', () => token({ nbf: [1] })],
    ['a person that is a number', 401, 'invalid_jwt', 'claim uid', () => token({ uid: 7 })],
    [
      'a second organisation that is a number',
      401,
      'invalid_jwt',
      'claim organisation_id',
      () => token({ organisation_id: 7 }),
    ],
    ['scopes that hold a number', 401, 'invalid_jwt', 'claim scopes', () => token({ scopes: [7] })],
    ['a limit that is text', 401, 'invalid_jwt', 'claim usage_limits', () => token({ usage_limits: 'none' })],
    ['rates that are text', 401, 'invalid_jwt', 'claim rate_limits', () => token({ rate_limits: 'none' })],
    ['an expiry in words', 401, 'invalid_jwt', 'exp', () => token({ exp: 'tomorrow' })],
    ['no organisation', 401, 'invalid_jwt', '', () => token({ gw_oid: undefined })],
    ['an unknown organisation', 401, 'invalid_jwt', '', () => token({ gw_oid: crypto.randomUUID() })],
    ['no workspace', 401, 'invalid_jwt', 'gw_workspace', () => token({ gw_workspace: undefined })],
    ['an unknown workspace', 403, 'workspace_forbidden', 'no such workspace', () => token({ gw_workspace: 'ws-none' })],
    ['no scope', 403, 'insufficient_scope', 'no scope', () => token({ scope: undefined })],
    [
      'only unknown scopes',
      403,
      'insufficient_scope',
      'no scope',
      () => token({ scope: 'fly.high organisation_settings.update' }),
    ],
    ['another scope', 403, 'insufficient_scope', '', () => token({ scope: 'logs.view' })],
    ['a scope that is a number', 401, 'invalid_jwt', 'claim scope', () => token({ scope: 12 })],
    ['a workspace that is a list', 401, 'invalid_jwt', 'claim gw_workspace', () => token({ gw_workspace: ['a'] })],
    ['defaults that are text', 401, 'invalid_jwt', 'claim defaults', () => token({ defaults: 'none' })],
    [
      'metadata that is no text',
      401,
      'invalid_jwt',
      'claim defaults.metadata',
      () => token({ defaults: { metadata: { a: 1 } } }),
    ],
    [
      'an unknown kind of limit',
      401,
      'invalid_jwt',
      'claim usage_limits',
      () => token({ usage_limits: [{ type: 'wishes', credit_limit: 3 }] }),
    ],
    [
      'a rate without a unit',
      401,
      'invalid_jwt',
      'claim rate_limits',
      () => token({ rate_limits: [{ type: 'requests', value: 3 }] }),
    ],
    [
      'a signature of somebody else',
      401,
      'invalid_jwt',
      'signature',
      async () => {
        const other = await startIssuer();
        other.stop();
        return other.token(claims(), { kid: 'first' });
      },
    ],
    [
      'changed claims',
      401,
      'invalid_jwt',
      'signature',
      async () => {
        const [header, , signature] = (await token()).split('.');
        return `${header}.${Buffer.from(JSON.stringify(claims({ sub: 'root' }))).toString('base64url')}.${signature}`;
      },
    ],
  ];

  for (const [what, status, code, reason, make] of refused) {
    test(`${what} is refused with ${status}`, async () => {
      const bad = await make();
      const reply = await chat(gateway, bad);
      expect({ what, status: reply.status, code: reply.body.error?.code ?? reply.body }).toEqual({
        what,
        status,
        code,
      });
      expect(reply.body.error.message).toContain(reason);
      const organisation = namedIn(bad);
      // A refusal that concerns a known organisation is told in its audit trail.
      if (organisation === here.organisationId && what !== 'another scope') {
        // Another token may have the same ends.
        const row = await lastRejection(gateway, organisation, `${bad.slice(0, 2)}****${bad.slice(-2)}`, code, reason);
        expect(row).toMatchObject({ response_status_code: status });
      }
      const read = await gateway.get(`/v1/configs?workspace_id=${here.workspaceId}`, { key: bad });
      if (what !== 'another scope') expect(read.status).toBe(status);
    });
  }

  test('a refusal is told in the audit trail with a masked token, once a minute for one token', async () => {
    const bad = await token({ gw_workspace: 'ws-audited' });
    for (let n = 0; n < 3; n++) expect((await chat(gateway, bad)).status).toBe(403);
    const mask = `${bad.slice(0, 2)}****${bad.slice(-2)}`;
    const row = await lastRejection(gateway, here.organisationId, mask);
    expect(row).toMatchObject({ action: 'invoke', user_type: 'system', response_status_code: 403 });
    const details = JSON.parse(row.details ?? '');
    expect(details).toEqual({
      jwtToken: mask,
      error: 'the organisation has no such workspace',
      code: 'workspace_forbidden',
    });
    const stored = JSON.stringify(await rejections(gateway, here.organisationId));
    expect(stored).not.toContain(bad);
  });

  test('the clock may be five seconds off', async () => {
    expect((await chat(gateway, await token({ exp: now() - 2 }))).status).toBe(200);
    expect((await chat(gateway, await token({ nbf: now() + 3 }))).status).toBe(200);
  });

  test('a token that has been seen stops counting when it expires', async () => {
    const short = await token({ exp: now() + 60 });
    expect((await chat(gateway, short)).status).toBe(200);
    gateway.clock.advance({ seconds: 70 });
    expect(await chat(gateway, short)).toMatchObject({ status: 401, body: { error: { code: 'invalid_jwt' } } });
  });

  test('each token has counters of its own', async () => {
    const limited = { rate_limits: [{ type: 'requests', unit: 'rpd', value: 2 }] };
    const one = await token({ ...limited, jti: 'one' });
    const other = await token({ ...limited, jti: 'other' });
    expect([(await chat(gateway, one)).status, (await chat(gateway, one)).status]).toEqual([200, 200]);
    const third = await chat(gateway, one);
    expect(third).toMatchObject({ status: 429, body: { error: { code: 'rate_limit_exceeded' } } });
    expect(third.body.error.message).toContain('JWT of robot-7');
    expect((await chat(gateway, other)).status).toBe(200);
  });

  test('a budget in the claims is kept, as a list or as one object', async () => {
    for (const form of ['list', 'object']) {
      const entry = { id: 'b-1', type: 'tokens', credit_limit: 1, status: 'active' };
      const poor = await token({ usage_limits: form === 'list' ? [entry] : entry, jti: form });
      expect((await chat(gateway, poor)).status).toBe(412);
    }
    const spent = await token({ usage_limits: [{ type: 'cost', credit_limit: 5, status: 'exhausted' }] });
    expect((await chat(gateway, spent)).status).toBe(412);
    const rich = await token({ usage_limits: [{ type: 'tokens', credit_limit: 1e9, periodic_reset: 'monthly' }] });
    expect((await chat(gateway, rich)).status).toBe(200);
  });

  test('the default config of a token applies; one that is not there is ignored', async () => {
    const config = { strategy: { mode: 'fallback' }, targets: [{ provider: '@sandbox' }] };
    const saved = await gateway.post('/v1/configs', { name: 'For tokens', config }, { key: gateway.workspaceKey });
    expect(saved).toMatchObject({ status: 200 });
    const ask = { messages: [{ role: 'user', content: 'Hi' }], model: 'echo' };
    const withConfig = await token({
      defaults: { config_id: saved.body.id, metadata: { team: 'red' } },
    });
    const reply = await gateway.post('/v1/chat/completions', ask, { key: withConfig });
    expect(reply).toMatchObject({ status: 200 });
    expect(lastCall(gateway)?.metadata).toMatchObject({ team: 'red' });
    const lost = await token({ defaults: { config_id: 'pc-not-there' } });
    expect((await chat(gateway, lost)).status).toBe(200);
    const elsewhere = await addOrganisation(gateway);
    const foreign = await addConfig(gateway, elsewhere.workspaceId);
    expect((await chat(gateway, await token({ defaults: { config_id: foreign.id } }))).status).toBe(200);
  });

  test('a known address stands for its member, who must belong to the workspace', async () => {
    const other = await addWorkspace(gateway, here.organisationId, 'Other');
    const ada = await addPerson(gateway, here.organisationId, 'member', {
      workspaces: { [here.workspaceId]: 'member' },
    });
    expect((await chat(gateway, await token({ email_id: ada.email }))).status).toBe(200);
    expect(lastCall(gateway)).toMatchObject({ user_id: ada.userId });
    const elsewhere = await token({ email_id: ada.email, gw_workspace: other.slug });
    expect(await chat(gateway, elsewhere)).toMatchObject({
      status: 403,
      body: { error: { code: 'workspace_forbidden' } },
    });
    const running = await token({ email_id: ada.email, jti: 'kept' });
    expect((await chat(gateway, running)).status).toBe(200);
    await gateway.delete(`/v1/users/${ada.userId}`);
    expect((await chat(gateway, running)).status).toBe(403);
  });

  test('on the administration a token works like a workspace key, and never on the organisation', async () => {
    const reader = await token({
      scope: 'configs.list configs.create organisation_settings.read workspaces.list logs.view',
    });
    expect((await gateway.get('/v1/configs', { key: reader })).status).toBe(200);
    expect((await gateway.get('/v1/configs', { key: await token() })).status).toBe(403);
    expect((await gateway.get(settingsPath, { key: reader })).status).toBe(403);
    expect((await gateway.get('/v1/admin/users', { key: reader })).status).toBe(403);
    const other = await addWorkspace(gateway, here.organisationId, 'Not theirs');
    const abroad = await gateway.get(`/v1/configs?workspace_id=${other.slug}`, { key: reader });
    expect(abroad).toMatchObject({ status: 403, body: { data: { errorCode: 'AB03' } } });
  });

  test('a token is told who it is, an API key is not', async () => {
    const self = await gateway.get('/v1/auth/self', { key: await token({ email_id: 'Grace@example.com' }) });
    expect(self).toMatchObject({
      status: 200,
      body: {
        auth_type: 'jwt',
        user: { id: null, email: 'Grace@example.com' },
        organisation: { id: here.organisationId },
        workspaces: [{ id: here.workspaceId }],
        scopes: ['completions.write', 'logs.view'],
      },
    });
    expect((await gateway.get('/v1/auth/self', { key: gateway.workspaceKey })).status).toBe(401);
  });

  test('a change of the settings counts at once', async () => {
    const good = await token({ jti: 'switched' });
    expect((await chat(gateway, good)).status).toBe(200);
    await gateway.put(settingsPath, { jwt: { enabled: false } });
    expect(await chat(gateway, good)).toMatchObject({ status: 401, body: { error: { code: 'invalid_jwt' } } });
    await gateway.put(settingsPath, { jwt: { enabled: true, issuer: 'https://id.example', audience: 'gw' } });
    expect((await chat(gateway, good)).status).toBe(401);
    const addressed = await token({ iss: 'https://id.example', aud: ['gw', 'other'] });
    expect((await chat(gateway, addressed)).status).toBe(200);
    expect((await chat(gateway, await token({ iss: 'https://id.example', aud: 'other' }))).status).toBe(401);
    await issuer.rotate('third', true);
    const byValue = await gateway.put(settingsPath, {
      jwt: { jwks_json: issuer.keySet(), issuer: null, audience: null },
    });
    expect(byValue.body.jwt).toMatchObject({ jwks_url: null, issuer: null });
    expect((await chat(gateway, await token())).status).toBe(200);
    expect((await chat(gateway, await token({}, {}, 'second'))).status).toBe(401);
    await gateway.put(settingsPath, { jwt: null });
    expect((await chat(gateway, await token())).status).toBe(401);
    await gateway.put(settingsPath, { jwt: { enabled: true, jwks_url: issuer.url } });
  });

  test('settings that cannot work are refused by name', async () => {
    const [key] = issuer.keySet().keys;
    const wrong: [string, unknown][] = [
      ['jwt.jwks_url', { enabled: true, jwks_url: null, jwks_json: null }],
      ['jwt.jwks_json', { jwks_url: issuer.url, jwks_json: issuer.keySet() }],
      ['jwt.jwks_url', { jwks_url: 'http://id.example/keys' }],
      ['jwt.jwks_url', { jwks_url: 'https://10.0.0.1/keys' }],
      ['jwt.jwks_url', { jwks_url: 'ftp://id.example' }],
      ['jwt.jwks_json.keys.0.d', { jwks_json: { keys: [{ ...key, d: 'secret' }] } }],
      ['jwt.jwks_json', { jwks_json: { keys: [{ ...key, n: 'AQAB' }] } }],
      ['jwt.jwks_json', { jwks_json: { keys: [{ ...key, kid: undefined }] } }],
      ['jwt.jwks_json', { jwks_json: { keys: [{ kty: 'EC', kid: 'a', crv: 'P-256', x: 'x', y: 'y' }] } }],
    ];
    for (const [path, jwt] of wrong) {
      const reply = await gateway.put(settingsPath, { jwt });
      expect({ jwt, status: reply.status, path: reply.body.data?.errors[0].path }).toEqual({ jwt, status: 400, path });
    }
    expect((await gateway.put(settingsPath, { jwt: { colour: 'blue' } })).status).toBe(400);
  });

  test('a key set that cannot be fetched at first is an outage, not a wrong token', async () => {
    const tenant = await addOrganisation(gateway);
    const dead = await startIssuer();
    dead.stop();
    await gateway.put(settingsPath, { jwt: { enabled: true, jwks_url: dead.url } }, { key: tenant.adminKey });
    const foreign = await dead.token({ ...claims(), gw_oid: tenant.organisationId, gw_workspace: tenant.workspaceId });
    expect(await chat(gateway, foreign)).toMatchObject({
      status: 503,
      body: { error: { code: 'jwt_keys_unavailable' } },
    });
  });

  test('a token of one organisation opens nothing in another', async () => {
    const tenant = await addOrganisation(gateway);
    const other = await startIssuer();
    await gateway.put(settingsPath, { jwt: { enabled: true, jwks_json: other.keySet() } }, { key: tenant.adminKey });
    other.stop();
    const mixed = await other.token(claims());
    expect((await chat(gateway, mixed)).status).toBe(401);
    const workspace = await other.token({ ...claims(), gw_oid: tenant.organisationId });
    expect((await chat(gateway, workspace)).status).toBe(403);
  });
});
