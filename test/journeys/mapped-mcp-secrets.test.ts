/** The sign-in of an MCP integration with credentials from a secret manager, and mappings that it refuses. */
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { type MappedSecrets, newSecret, newSlug, startMappedSecrets } from '../mapped-secrets.ts';
import { browse, signInAddressIn } from '../mcp/browser.ts';
import { sessionClient } from '../mcp/clients.ts';
import { saveIntegration, startUpstream, type UpstreamServer } from '../mcp/upstream.ts';
import { home } from '../people.ts';
import { json, startProvider } from '../providers/simulated.ts';
import type { VaultState } from '../secret-managers/vault.ts';
import type { World } from '../world.ts';

let mapped: MappedSecrets;
let world: World;
let workspaceId: string;
let state: VaultState;
let newReference: MappedSecrets['newReference'];
let tools: UpstreamServer;

beforeAll(async () => {
  tools = await startUpstream('session-server.ts');
  mapped = await startMappedSecrets();
  ({ world, workspaceId, state, newReference } = mapped);
});

afterAll(async () => {
  await mapped.stop();
  tools.stop();
});

test('an MCP integration gets its token with a rotated client secret when the old one is refused', async () => {
  const slug = newSlug();
  const secret = newSecret();
  let right = secret;
  const sent: (string | null)[] = [];
  const tokens = await startProvider((call, response) => {
    const given = new URLSearchParams(call.body.toString()).get('client_secret');
    sent.push(given);
    const answer =
      given === right
        ? json(200, { access_token: 'an-access-token', token_type: 'Bearer', expires_in: 60 })
        : json(401, { error: 'invalid_client' });
    return answer(call, response);
  });
  const credentials = (value: string) => ({
    client_credentials: { client_id: 'gateway', client_secret: value, token_endpoint: tokens.url },
  });
  await newReference(slug, secret);
  state.kv2.set(slug, { data: credentials(secret), version: 1 });
  await saveIntegration(world.gateway, {
    slug,
    url: tools.url,
    auth_type: 'oauth_client_credentials',
    secret_mappings: [
      {
        target_field: 'client_credentials',
        secret_reference_id: slug,
        secret_key: 'client_credentials',
        value_format: 'json',
      },
    ],
  });
  const use = async () => {
    const key = { 'x-gw-api-key': world.gateway.workspaceKey };
    const client = await sessionClient(`${world.gateway.url}/${slug}/mcp`, key);
    await client.listTools();
    await client.close();
  };
  await use();
  expect(new Set(sent)).toEqual(new Set([secret]));
  right = newSecret();
  state.kv2.set(slug, { data: credentials(right), version: 2 });
  sent.length = 0;
  world.gateway.clock.advance({ seconds: 120 });
  await use();
  expect(sent.slice(0, 2)).toEqual([secret, right]);
  await tokens.stop();
});

test('an MCP integration signs people in with a client that is mapped as JSON', async () => {
  const slug = newSlug();
  const secret = newSecret();
  const issuer = await startProvider((call, response) => {
    const { pathname, searchParams } = new URL(call.path, 'http://127.0.0.1');
    if (pathname === '/v1/token') {
      return json(200, { access_token: 'of-the-person', token_type: 'Bearer', expires_in: 50 })(call, response);
    }
    const back = new URL(searchParams.get('redirect_uri') ?? '');
    back.search = new URLSearchParams({ code: 'the-code', state: searchParams.get('state') ?? '' }).toString();
    response.writeHead(302, { location: back.href }).end();
  });
  const oauth_metadata = {
    issuer: issuer.url,
    authorization_endpoint: `${issuer.url}/authorize`,
    token_endpoint: `${issuer.url}/token`,
    client_id: 'mapped-client',
    client_secret: secret,
    token_endpoint_auth_method: 'client_secret_post',
  };
  await newReference(slug, secret);
  state.kv2.set(slug, { data: { oauth_metadata }, version: 1 });
  const mapping = { secret_reference_id: slug, secret_key: 'oauth_metadata', value_format: 'json' };
  await saveIntegration(world.gateway, {
    slug,
    url: tools.url,
    auth_type: 'oauth_auto',
    secret_mappings: [{ target_field: 'oauth_metadata', ...mapping }],
  });
  const { owner } = await home(world.gateway);
  const person = { name: 'own', workspace_id: workspaceId, user_id: owner.userId, scopes: ['mcp.invoke'] };
  const { body } = await world.gateway.post('/v1/api-keys/workspace/user', person, { key: owner.session });
  const connect = () => sessionClient(`${world.gateway.url}/${slug}/mcp`, { 'x-gw-api-key': body.key });
  const fault = await connect().then(
    () => '',
    (error: Error) => error.message,
  );
  const visitor = { gatewayUrl: world.gateway.url, session: owner.session, person: 'ada' };
  expect((await browse(signInAddressIn(fault) ?? '', visitor)).status).toBe(200);
  const exchanged = issuer.calls.find(({ path }) => path === '/v1/token');
  const sent = new URLSearchParams(exchanged?.body.toString());
  expect([sent.get('client_id'), sent.get('client_secret')]).toEqual(['mapped-client', secret]);
  // It cannot be renewed, and counts as long as it lives.
  await (await connect()).close();
  const shownToAdmins = await world.gateway.get(`/v1/mcp-integrations/${slug}`, { key: world.gateway.workspaceKey });
  expect(JSON.stringify(shownToAdmins.body)).not.toContain(secret);
  await issuer.stop();
});

test('two mappings of an MCP integration to the same setting are refused, with or without the prefix', async () => {
  const slug = newSlug();
  await newReference(slug, newSecret());
  const answer = await world.gateway.post('/v1/mcp-integrations', {
    name: slug,
    url: tools.url,
    auth_type: 'none',
    transport: 'http',
    workspace_id: workspaceId,
    secret_mappings: ['headers', 'configurations.headers'].map((target_field) => ({
      target_field,
      secret_reference_id: slug,
    })),
  });
  expect(answer).toMatchObject({ status: 400, body: { data: { errors: [{ path: 'secret_mappings' }] } } });
});

test('a mapping to a setting that an MCP integration does not have is refused', async () => {
  const slug = newSlug();
  await newReference(slug, newSecret());
  const answer = await world.gateway.post('/v1/mcp-integrations', {
    name: slug,
    url: tools.url,
    auth_type: 'none',
    transport: 'http',
    workspace_id: workspaceId,
    secret_mappings: [{ target_field: 'configurations.nonsense', secret_reference_id: slug }],
  });
  expect(answer).toMatchObject({
    status: 400,
    body: { data: { errors: [{ path: 'secret_mappings.0.target_field' }] } },
  });
});
