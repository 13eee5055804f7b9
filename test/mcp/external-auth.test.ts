/** Callers who sign in at an identity provider of the operator's own, in place of the gateway's authorization server. */
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { exportJWK, generateKeyPair, SignJWT } from 'jose';
import { startGateway, type TestGateway } from '../harness.ts';
import { addOrganisation, addPerson, home, type Person } from '../people.ts';
import { sessionClient, textOf } from './clients.ts';
import { saveIntegration, startUpstream, trustLoopback, type UpstreamServer } from './upstream.ts';

const issuer = 'https://idp.example.com';
let gateway: TestGateway;
let upstream: UpstreamServer;
let url: string;
let member: Person;
let privateKey: CryptoKey;
let configurations: { external_auth_config: object; jwt_validation: object };

beforeAll(async () => {
  upstream = await startUpstream('session-server.ts');
  gateway = await startGateway(trustLoopback);
  const pair = await generateKeyPair('RS256');
  privateKey = pair.privateKey;
  configurations = {
    external_auth_config: { issuer, scope: 'tools.use' },
    jwt_validation: { jwks: { keys: [{ ...(await exportJWK(pair.publicKey)), kid: 'k', alg: 'RS256' }] } },
  };
  await saveIntegration(gateway, { slug: 'plain', url: upstream.url });
  await saveIntegration(gateway, { slug: 'elsewhere', url: upstream.url, configurations });
  url = `${gateway.url}/elsewhere/mcp`;
  const { organisationId, workspaceId } = await home(gateway);
  member = await addPerson(gateway, organisationId, 'member', { workspaces: { [workspaceId]: 'member' } });
});

afterAll(async () => {
  await gateway.stopWithoutFaults();
  upstream.stop();
});

const tokenFor = (email: string, more: { iss?: string; expires?: string } = {}): Promise<string> =>
  new SignJWT({ email, email_verified: true })
    .setProtectedHeader({ alg: 'RS256', kid: 'k' })
    .setSubject('at-the-provider')
    .setIssuer(more.iss ?? issuer)
    .setIssuedAt()
    .setExpirationTime(more.expires ?? '10m')
    .sign(privateKey);

const asked = async (token: string | null) => {
  const response = await fetch(url, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      ...(token !== null && { authorization: `Bearer ${token}` }),
    },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'initialize', params: { protocolVersion: '2025-11-25' } }),
  });
  await response.arrayBuffer();
  return { status: response.status, challenge: response.headers.get('www-authenticate') ?? '' };
};

test('the document of the server names the provider, and that of another server does not', async () => {
  const path = '/.well-known/oauth-protected-resource';
  const { body } = await gateway.get(`${path}/elsewhere/mcp`, { key: '' });
  expect(body).toMatchObject({ resource: url, authorization_servers: [issuer], scopes_supported: ['tools.use'] });
  const other = await gateway.get(`${path}/plain/mcp`, { key: '' });
  expect(other.body.authorization_servers).toEqual([gateway.url]);
  const { status, challenge } = await asked(null);
  expect(status).toBe(401);
  expect(challenge).toContain('scope="tools.use"');
});

test('a token of the provider is its person here, known by the e-mail address', async () => {
  const client = await sessionClient(url, { authorization: `Bearer ${await tokenFor(member.email)}` });
  expect(textOf(await client.callTool({ name: 'echo', arguments: { text: 'from elsewhere' } }))).toBe('from elsewhere');
  await client.close();
  const row = gateway.records.find(({ metrics }) => metrics.mcp_server === 'elsewhere' && metrics.mcp_tool === 'echo');
  expect(row?.metrics).toMatchObject({ user_id: member.userId, mcp: { auth_type: 'external' } });
});

test.each([
  ['expired', () => tokenFor(member.email, { expires: '-1m' }), 401],
  ['of another provider', () => tokenFor(member.email, { iss: 'https://other.example.com' }), 401],
  ['forged', async () => `${(await tokenFor(member.email)).slice(0, -8)}AAAAAAAA`, 401],
  ['of somebody who is no member', () => tokenFor('stranger@example.com'), 403],
])('a token that is %s is refused', async (_, make, status) => {
  expect(await asked(await make())).toMatchObject({ status });
});

test('a token of the provider is of no use at another server', async () => {
  const authorization = `Bearer ${await tokenFor(member.email)}`;
  await expect(sessionClient(`${gateway.url}/plain/mcp`, { authorization })).rejects.toThrow();
});

test('a person who may not use the server is refused from the next call on', async () => {
  const token = await tokenFor(member.email);
  expect((await asked(token)).status).toBe(200);
  const change = (enabled: boolean) =>
    gateway.put(
      '/v1/mcp-servers/elsewhere/user-access',
      { user_access: [{ user_id: member.userId, enabled }] },
      { key: gateway.workspaceKey },
    );
  await change(false);
  expect((await asked(token)).status).toBe(403);
  await change(true);
  expect((await asked(token)).status).toBe(200);
});

test('keys work as before, beside the token that the server asks of everybody', async () => {
  const { status } = await asked(gateway.workspaceKey);
  expect(status).toBe(401);
  const headers = { 'x-gw-api-key': gateway.workspaceKey, authorization: `Bearer ${await tokenFor(member.email)}` };
  const client = await sessionClient(url, headers);
  await client.close();
});

test('what would have no effect is refused, rules for tokens are required, and one of several tenants may not have it', async () => {
  const save = (slug: string, sent: object) =>
    gateway.post(
      '/v1/mcp-integrations',
      { name: slug, slug, url: upstream.url, transport: 'http', auth_type: 'none', configurations: sent },
      { key: gateway.workspaceKey },
    );
  const { external_auth_config } = configurations;
  expect((await save('lacking', { external_auth_config })).status).toBe(400);
  const fields = {
    authorization_endpoint: issuer,
    token_endpoint: issuer,
    revocation_endpoint: issuer,
    registration_endpoint: issuer,
    client_id: 'gw',
    client_secret: 'secret',
    grant_types_supported: ['authorization_code'],
    authorization_params: { prompt: 'login' },
  };
  for (const [name, value] of Object.entries(fields)) {
    const { status, body } = await save('idle', {
      ...configurations,
      external_auth_config: { ...external_auth_config, [name]: value },
    });
    expect({ status, path: body.data.errors[0].path }).toEqual({
      status: 400,
      path: `configurations.external_auth_config.${name}`,
    });
    expect(body.data.errors[0].message).toContain('has no effect here');
  }
  await addOrganisation(gateway);
  expect((await save('shared', configurations)).status).toBe(403);
});
