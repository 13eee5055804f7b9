/** Which credential of a request counts, and what happens to a wrong one. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { startGateway, type TestGateway } from '../../test/harness.ts';
import { home } from '../../test/people.ts';
import { type Authenticator, createAuthenticator } from './authenticate.ts';
import { createKeyring } from './keyring.ts';

describe('authentication', () => {
  let gateway: TestGateway;
  let session: string;
  let authenticator: Authenticator;

  beforeAll(async () => {
    gateway = await startGateway();
    session = (await home(gateway)).owner.session;
    const { store, feed, clock } = gateway.app.services;
    authenticator = createAuthenticator(store.db, createKeyring(store.db, feed, clock), clock);
  });
  afterAll(() => gateway.stop());

  const outcome = async (headers: Record<string, string>) => {
    const found = await authenticator.authenticate(new Headers(headers));
    return found.outcome === 'caller' ? `${found.caller.kind} by ${found.carrier}` : found.outcome;
  };

  test('a key or a session is found in each of the places it may stand', async () => {
    const { adminKey, workspaceKey } = gateway;
    expect(await outcome({ 'x-gw-api-key': adminKey })).toBe('admin-key by header');
    expect(await outcome({ authorization: `Bearer ${workspaceKey}` })).toBe('workspace-key by header');
    expect(await outcome({ authorization: `bearer   ${adminKey}` })).toBe('admin-key by header');
    expect(await outcome({ authorization: `Bearer ${session}` })).toBe('session by header');
    expect(await outcome({ 'x-gw-api-key': session })).toBe('session by header');
    expect(await outcome({ cookie: `a=b; gw_session=${session}; c=d` })).toBe('session by cookie');
  });

  test('without any credential there is none', async () => {
    expect(await outcome({})).toBe('missing');
    expect(await outcome({ 'x-gw-api-key': '', cookie: 'gw_session=; other=1' })).toBe('missing');
    expect(await outcome({ cookie: `xgw_session=${session}` })).toBe('missing');
  });

  test('x-gw-api-key goes before Authorization, and that before the cookie', async () => {
    const { adminKey, workspaceKey } = gateway;
    const cookie = `gw_session=${session}`;
    expect(await outcome({ 'x-gw-api-key': adminKey, authorization: `Bearer ${workspaceKey}`, cookie })).toBe(
      'admin-key by header',
    );
    expect(await outcome({ authorization: `Bearer ${workspaceKey}`, cookie })).toBe('workspace-key by header');
  });

  test('a wrong credential is refused although a good one stands behind it', async () => {
    const cookie = `gw_session=${session}`;
    for (const wrong of ['nonsense', 'gws_nonsense', `${gateway.adminKey}x`, gateway.adminKey.slice(0, -1)]) {
      const good = { authorization: `Bearer ${gateway.adminKey}`, cookie };
      expect(await outcome({ ...good, 'x-gw-api-key': wrong })).toBe('refused');
      expect(await outcome({ authorization: `Bearer ${wrong}`, cookie })).toBe('refused');
    }
    expect(await outcome({ authorization: 'Basic dTpw', cookie })).toBe('refused');
    expect(await outcome({ cookie: 'gw_session=gws_unknown' })).toBe('refused');
  });

  test('an API key that begins like a session token still is one', async () => {
    const chosen = `gws_${'k'.repeat(40)}`;
    const other = await startGateway({ GW_ADMIN_API_KEY: chosen });
    expect((await other.get('/v1/audit-logs', { key: chosen })).status).toBe(400);
    await other.stop();
  });
});
