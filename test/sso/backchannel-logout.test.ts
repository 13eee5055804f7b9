/** Sessions that an OpenID provider ends by itself, and every token that ends none. */
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { exportJWK, generateKeyPair, SignJWT, UnsecuredJWT } from 'jose';
import { onEachEngine, type TestGateway } from '../harness.ts';
import { addOrganisation, type Home, home, storeOf } from '../people.ts';
import { freePort, type IdentityProvider, startIdentityProvider, verifyDomain, Walker } from './walk.ts';

const settingsPath = '/v1/admin/organisation/auth-settings';
const event = 'http://schemas.openid.net/event/backchannel-logout';
const person = 'ada@acme.example';

onEachEngine('back-channel logout', (start) => {
  let gateway: TestGateway;
  let here: Home;
  let acme: IdentityProvider;
  const address = (organisationId = here.organisationId) => `${gateway.url}/v2/auth/oidc/logout/${organisationId}`;

  beforeAll(async () => {
    gateway = await start({ TRUSTED_CUSTOM_HOSTS: '127.0.0.1' });
    here = await home(gateway);
    acme = await startIdentityProvider([gateway], freePort(), { backchannelLogoutUri: address() });
    await verifyDomain(gateway, here.organisationId, 'acme.example');
    const saved = await gateway.put(settingsPath, { sso: acme.sso });
    expect(saved.body.sso.oidc.backchannel_logout_uri).toBe(address());
  });
  afterAll(async () => {
    acme.stop();
    await gateway.stopWithoutFaults();
  });

  const enter = async (who = person): Promise<{ walker: Walker; key: string }> => {
    const walker = new Walker();
    expect((await walker.signIn(gateway, who, { email: who })).status).toBe(302);
    return { walker, key: walker.cookie(gateway.url, 'gw_session') ?? '' };
  };
  const statusOf = async (key: string) => (await gateway.get('/v1/auth/self', { key })).status;
  const seconds = () => Math.floor(gateway.clock.now().getTime() / 1_000);
  const good = (): Record<string, unknown> => ({
    iss: acme.url,
    aud: 'gateway',
    iat: seconds(),
    exp: seconds() + 120,
    jti: crypto.randomUUID(),
    sub: person,
    events: { [event]: {} },
  });
  const signed = async (claims: object, header: object = { typ: 'logout+jwt' }) => {
    const body = new URLSearchParams({ token: JSON.stringify({ header, claims }) });
    return (await fetch(`${acme.url}/sign`, { method: 'POST', body })).text();
  };
  const send = (token: string, to = address()) =>
    fetch(to, { method: 'POST', body: new URLSearchParams({ logout_token: token }) });
  const rowWith = async (word: string) => {
    for (;;) {
      const rows = await storeOf(gateway)
        .db.selectFrom('audit_logs')
        .selectAll()
        .where('action', '=', 'manage')
        .where('organisation_id', '=', here.organisationId)
        .execute();
      const row = rows.findLast(({ details }) => details?.includes(word));
      if (row) return row;
      await Bun.sleep(5);
    }
  };

  test('leaving at the provider ends the session that it opened here, also after a renewal, and no other', async () => {
    const one = await enter();
    const two = await enter();
    const renewed = await gateway.post('/v1/auth/refresh', undefined, { key: one.key });
    const page = await (await one.walker.step(`${acme.url}/session/end`)).text();
    const xsrf = /name="xsrf" value="([^"]+)"/.exec(page)?.[1] ?? '';
    const confirmed = await one.walker.step(`${acme.url}/session/end/confirm`, {
      method: 'POST',
      body: new URLSearchParams({ xsrf, logout: 'yes' }),
    });
    expect(confirmed.status).toBe(303);
    const row = await rowWith('identity provider');
    expect(row).toMatchObject({ resource_type: 'user', response_status_code: 200, resource_id: row.user_id });
    expect([await statusOf(renewed.body.token), await statusOf(two.key)]).toEqual([401, 200]);
  });

  test('a token with the person alone ends all of their sessions, and none of anybody else', async () => {
    const [one, two, other] = [await enter(), await enter(), await enter('bo@acme.example')];
    const reply = await send(await signed(good()));
    expect([reply.status, reply.headers.get('cache-control'), await reply.text()]).toEqual([200, 'no-store', '']);
    expect(await Promise.all([one, two, other].map(({ key }) => statusOf(key)))).toEqual([401, 401, 200]);
  });

  test('a token with a session ends that one, with the person beside it or without', async () => {
    const { key } = await enter();
    const { sub: _, ...nameless } = good();
    for (const claims of [
      { ...good(), sid: 'another' },
      { ...nameless, sid: 'another' },
      { ...good(), sub: 'else' },
    ]) {
      expect((await send(await signed(claims))).status).toBe(200);
    }
    expect(await statusOf(key)).toBe(200);
    const { db } = storeOf(gateway);
    const { sso_session } = await db
      .selectFrom('sessions')
      .select('sso_session')
      .orderBy('id', 'desc')
      .executeTakeFirstOrThrow();
    expect(sso_session).toBeString();
    // A provider that tells no `sid` when people sign in, but names one when they leave.
    await db.updateTable('sessions').set({ sso_session: null }).where('sso_session', '=', sso_session).execute();
    expect((await send(await signed({ ...good(), sid: 'untold' }))).status).toBe(200);
    expect(await statusOf(key)).toBe(401);
  });

  test('a token that breaks a rule ends nothing, and is audited', async () => {
    const { key } = await enter();
    const { privateKey } = await generateKeyPair('RS256');
    const { kid } = (await (await fetch(`${acme.url}/jwks`)).json()).keys[0];
    const forged = (alg: string, by: Parameters<SignJWT['sign']>[0], id = kid) =>
      new SignJWT(good()).setProtectedHeader({ alg, kid: id, typ: 'logout+jwt' }).sign(by);
    const without = (name: string) => ({ ...good(), [name]: undefined });
    const spent = await signed({ ...good(), sub: 'nobody' });
    expect((await send(spent)).status).toBe(200);
    const tokens: [string, string][] = [
      ['that is no token', 'nonsense'],
      ['without a signature', new UnsecuredJWT(good()).encode()],
      ['of another key', await forged('RS256', privateKey)],
      ['of an unknown key', await forged('RS256', privateKey, 'unknown')],
      ['signed with the secret', await forged('HS256', new TextEncoder().encode('a-secret-of-the-gateway'))],
      ['of another issuer', await signed({ ...good(), iss: 'https://evil.example' })],
      ['for another client', await signed({ ...good(), aud: 'other' })],
      ['that is expired', await signed({ ...good(), exp: seconds() - 120 })],
      ['that is old', await signed({ ...good(), iat: seconds() - 3_600 })],
      ['of the future', await signed({ ...good(), iat: seconds() + 3_600 })],
      ...(await Promise.all(
        ['iat', 'exp', 'jti', 'events', 'iss', 'aud', 'sub'].map(
          async (name): Promise<[string, string]> => [`without ${name}`, await signed(without(name))],
        ),
      )),
      ['with a nonce', await signed({ ...good(), nonce: 'n' })],
      ['about something else', await signed({ ...good(), events: { 'https://other.example': {} } })],
      ['whose event is no object', await signed({ ...good(), events: { [event]: true } })],
      ['whose session is a number', await signed({ ...good(), sid: 7 })],
      ['that is an access token', await signed(good(), { typ: 'at+jwt' })],
      ['that was used before', spent],
    ];
    for (const [what, token] of tokens) {
      const reply = await send(token);
      const { error, error_description } = await reply.json();
      expect({ what, status: reply.status, error }).toEqual({ what, status: 400, error: 'invalid_request' });
      expect(reply.headers.get('cache-control')).toBe('no-store');
      expect(await rowWith(JSON.stringify(error_description))).toMatchObject({
        response_status_code: 400,
        uri: new URL(address()).pathname,
        client_ip: '127.0.0.1',
      });
    }
    expect(await statusOf(key)).toBe(200);
  });

  test('a token that comes to another organisation, or not in a form, ends nothing', async () => {
    const { key } = await enter();
    const tenant = await addOrganisation(gateway);
    const token = await signed(good());
    expect((await send(token, address(tenant.organisationId))).status).toBe(400);
    expect((await send(token, address('unknown'))).status).toBe(400);
    expect((await fetch(`${address()}?logout_token=${token}`)).status).toBe(405);
    expect((await fetch(address(), { method: 'POST', body: token })).status).toBe(400);
    expect((await fetch(address(), { method: 'POST', body: 'x'.repeat(100_000) })).status).toBe(413);
    // Another organisation with the same provider has other sessions.
    const second = await startIdentityProvider([gateway]);
    await gateway.put(settingsPath, { sso: second.sso }, { key: tenant.adminKey });
    const theirs = await fetch(`${second.url}/sign`, {
      method: 'POST',
      body: new URLSearchParams({ token: JSON.stringify({ claims: { ...good(), iss: second.url } }) }),
    });
    expect((await send(await theirs.text(), address(tenant.organisationId))).status).toBe(200);
    second.stop();
    expect(await statusOf(key)).toBe(200);
    expect((await send(token)).status).toBe(200);
    expect(await statusOf(key)).toBe(401);
  });

  test('many tokens of unknown keys do not make us ask the provider each time', async () => {
    const { privateKey, publicKey } = await generateKeyPair('RS256', { extractable: true });
    const jwk = { ...(await exportJWK(publicKey)), kid: 'known', alg: 'RS256' };
    const asked: string[] = [];
    const issuer = Bun.serve({
      port: 0,
      hostname: '127.0.0.1',
      fetch(request) {
        const { pathname, origin } = new URL(request.url);
        asked.push(pathname);
        if (pathname === '/jwks') return Response.json({ keys: [jwk] });
        return Response.json({
          issuer: origin,
          jwks_uri: `${origin}/jwks`,
          authorization_endpoint: `${origin}/auth`,
          token_endpoint: `${origin}/token`,
          response_types_supported: ['code'],
        });
      },
    });
    const tenant = await addOrganisation(gateway);
    const iss = `http://127.0.0.1:${issuer.port}`;
    const oidc = { issuer_url: iss, client_id: 'gateway', client_secret: 'x' };
    expect((await gateway.put(settingsPath, { sso: { oidc } }, { key: tenant.adminKey })).status).toBe(200);
    asked.length = 0;
    const token = (kid: string) =>
      new SignJWT({ ...good(), iss }).setProtectedHeader({ alg: 'RS256', kid }).sign(privateKey);
    for (let index = 0; index < 20; index++) {
      expect((await send(await token(`unknown-${index}`), address(tenant.organisationId))).status).toBe(400);
    }
    expect((await send(await token('known'), address(tenant.organisationId))).status).toBe(200);
    expect(asked.filter((path) => path === '/jwks').length).toBeLessThanOrEqual(2);
    expect(asked.filter((path) => path !== '/jwks')).toHaveLength(1);
    issuer.stop(true);
  });
});
