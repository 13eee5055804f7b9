/** MCP integrations and servers over HTTP, against a real MCP server. */
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { onEachEngine, type TestGateway } from '../../../test/harness.ts';
import { saveIntegration, startUpstream, trustLoopback, type UpstreamServer } from '../../../test/mcp/upstream.ts';
import { type Home, home } from '../../../test/people.ts';

onEachEngine('MCP integrations', (start) => {
  let gateway: TestGateway;
  let upstream: UpstreamServer;
  let place: Home;
  beforeAll(async () => {
    upstream = await startUpstream('session-server.ts');
    gateway = await start(trustLoopback);
    place = await home(gateway);
  });
  afterAll(async () => {
    await gateway.stopWithoutFaults();
    upstream.stop();
  });

  const organisationIntegration = async (slug: string, more: object = {}) => {
    const { status, body } = await gateway.post('/v1/mcp-integrations', {
      name: slug,
      slug,
      url: upstream.url,
      auth_type: 'none',
      transport: 'http',
      ...more,
    });
    expect(status).toBe(200);
    return body as { id: string; slug: string };
  };

  test('an integration is made, read, changed and deleted; its secrets are masked', async () => {
    const { id } = await organisationIntegration('crud', {
      auth_type: 'headers',
      configurations: { custom_headers: { authorization: 'Bearer canary-secret-value' }, timeout_ms: 5_000 },
    });
    const read = await gateway.get(`/v1/mcp-integrations/${id}`);
    expect(read.body).toMatchObject({
      slug: 'crud',
      type: 'organisation',
      status: 'active',
      configurations: { headers: { authorization: 'Be*******ue' }, timeout_ms: 5_000 },
    });
    expect(JSON.stringify(read.body)).not.toContain('canary');
    const sentBack = { configurations: { headers: read.body.configurations.headers, timeout_ms: null } };
    const updated = await gateway.put('/v1/mcp-integrations/crud', { name: 'Renamed', ...sentBack });
    expect(updated.body).toMatchObject({ success: true, name: 'Renamed' });
    expect(updated.body.configurations).toEqual({ headers: { authorization: 'Be*******ue' } });
    expect((await gateway.delete(`/v1/mcp-integrations/${id}`)).body).toEqual({});
    expect((await gateway.get(`/v1/mcp-integrations/${id}`)).status).toBe(404);
  });

  test('a slug that is taken is a 409, a reserved one a 400', async () => {
    await organisationIntegration('twice');
    const body = { name: 'x', url: upstream.url, auth_type: 'none', transport: 'http' };
    expect((await gateway.post('/v1/mcp-integrations', { ...body, slug: 'twice' })).status).toBe(409);
    expect((await gateway.post('/v1/mcp-integrations', { ...body, slug: 'oauth' })).status).toBe(400);
  });

  test.each([
    ['a metadata service', 'http://169.254.169.254/mcp'],
    ['a private address', 'http://10.0.0.7/mcp'],
    ['another scheme', 'file:///etc/passwd'],
    ['a fragment', 'https://example.com/mcp#x'],
  ])('an address that must not be called is refused: %s', async (_, url) => {
    const { status, body } = await gateway.post('/v1/mcp-integrations', {
      name: 'unsafe',
      url,
      auth_type: 'none',
      transport: 'http',
    });
    expect({ status, path: body.data.errors[0].path }).toEqual({ status: 400, path: 'url' });
  });

  test('an unknown setting is refused by its name', async () => {
    const { status, body } = await gateway.post('/v1/mcp-integrations', {
      name: 'unknown',
      url: upstream.url,
      auth_type: 'none',
      transport: 'http',
      configurations: { surprise: true },
    });
    expect({ status, path: body.data.errors[0].path }).toEqual({ status: 400, path: 'configurations.surprise' });
  });

  test('testing it asks the server, and its metadata and capabilities are there', async () => {
    const { id } = await organisationIntegration('tested');
    expect((await gateway.post(`/v1/mcp-integrations/${id}/test`)).body).toMatchObject({
      success: true,
      status_code: 200,
      server_name: 'session-server',
    });
    expect((await gateway.get(`/v1/mcp-integrations/${id}/metadata`)).body).toMatchObject({
      name: 'session-server',
      server_name: 'session-server',
      title: 'Session server',
      version: '1.2.3',
      instructions: 'Use the tools.',
      sync_status: 'synced',
    });
    const { body } = await gateway.get(`/v1/mcp-integrations/${id}/capabilities?type=tool&page=1&page_size=2`);
    expect(body).toMatchObject({ has_more: true, data: [{ name: 'ask', enabled: true }, { name: 'echo' }] });
    expect(body.data[1]).toMatchObject({ title: 'Echo', annotations: { readOnlyHint: true } });
    expect(body.counts.prompts).toEqual({ total: 1, enabled: 1 });
    expect(body.counts.resource_templates).toEqual({ total: 1, enabled: 1 });
    expect((await gateway.get(`/v1/mcp-integrations/${id}/capabilities?page=0`)).status).toBe(400);
    const found = await gateway.get(`/v1/mcp-integrations/${id}/capabilities?type=tool&search=CHO`);
    expect(found.body).toMatchObject({ total: 1, data: [{ name: 'echo' }] });
  });

  test('a server that is not there fails the test with words, and the answer is still 200', async () => {
    const { id } = await organisationIntegration('absent', { url: 'http://127.0.0.1:9/mcp' });
    const { status, body } = await gateway.post(`/v1/mcp-integrations/${id}/test`);
    expect(status).toBe(200);
    expect(body).toMatchObject({ success: false, server_name: null });
    expect((await gateway.get(`/v1/mcp-integrations/${id}/metadata`)).body.sync_status).toBe('failed');
  });

  test('workspaces get a server when they are enabled, and keep it when they are disabled', async () => {
    const { id } = await organisationIntegration('handed-out');
    const path = `/v1/mcp-integrations/${id}/workspaces`;
    const server = { name: 'Too early', mcp_integration_id: id };
    expect((await gateway.post('/v1/mcp-servers', server, { key: gateway.workspaceKey })).status).toBe(403);
    await gateway.put(path, { workspaces: [{ id: place.workspaceId, enabled: true }] });
    const { body } = await gateway.get('/v1/mcp-servers/handed-out', { key: gateway.workspaceKey });
    expect(body).toMatchObject({ slug: 'handed-out', enabled: true, url: `${gateway.url}/handed-out/mcp` });
    expect((await gateway.get(`${path}?version=2`)).body).toMatchObject({
      total: 1,
      data: [{ id: place.workspaceId, enabled: true }],
    });
    await gateway.put(path, { workspaces: [], override_existing_workspace_access: true });
    expect((await gateway.get(path)).body).toMatchObject({ workspaces: [{ enabled: false }] });
    expect((await gateway.get('/v1/mcp-servers/handed-out')).body.enabled).toBe(false);
  });

  test('a new workspace gets what the organisation hands to all', async () => {
    const { id } = await organisationIntegration('for-all');
    await gateway.put(`/v1/mcp-integrations/${id}/workspaces`, { global_workspace_access: { enabled: true } });
    const made = await gateway.post('/v1/workspaces', { name: 'Newcomer' });
    const { body } = await gateway.get(`/v1/mcp-servers?workspace_id=${made.body.id}`);
    expect(body).toMatchObject({ total: 1, has_more: false, data: [{ mcp_integration_slug: 'for-all' }] });
  });

  test('a switch at the integration counts before one at the server', async () => {
    const { id } = await saveIntegration(gateway, { slug: 'switched', url: upstream.url });
    const key = gateway.workspaceKey;
    await gateway.post(`/v1/mcp-integrations/${id}/sync`, undefined, { key });
    const capability = { name: 'write', type: 'tool', enabled: false };
    await gateway.put(`/v1/mcp-integrations/${id}/capabilities`, { capabilities: [capability] }, { key });
    const path = '/v1/mcp-servers/switched/capabilities';
    const on = { capabilities: [{ ...capability, enabled: true }] };
    expect((await gateway.put(path, on, { key })).body).toEqual({ success: true });
    const { body } = await gateway.get(`${path}?type=tool`, { key });
    const row = body.data.find(({ name }: { name: string }) => name === 'write');
    expect(row).toMatchObject({ enabled: true, integration_enabled: false });
    expect(body.counts.tools.enabled).toBe(body.counts.tools.total - 1);
    const unknown = { capabilities: [{ ...capability, name: 'nothing' }] };
    expect((await gateway.put(path, unknown, { key })).status).toBe(404);
  });

  test('people may be denied, with the default for everybody else', async () => {
    await saveIntegration(gateway, { slug: 'for-some', url: upstream.url });
    const path = '/v1/mcp-servers/for-some/user-access';
    const key = place.owner.session;
    const { userId } = place.owner;
    await gateway.put(
      path,
      { default_user_access: 'deny', user_access: [{ user_id: userId, enabled: true }] },
      { key },
    );
    expect((await gateway.get(path, { key })).body).toMatchObject({ default_user_access: 'deny' });
    const stranger = { user_access: [{ user_id: Bun.randomUUIDv7(), enabled: true }] };
    expect((await gateway.put(path, stranger, { key })).status).toBe(404);
    expect((await gateway.put(path, {}, { key })).status).toBe(400);
  });

  test('connections: a service key must say whose, and there is none yet', async () => {
    await saveIntegration(gateway, { slug: 'connected', url: upstream.url });
    const path = '/v1/mcp-servers/connected/connections';
    const key = gateway.workspaceKey;
    expect((await gateway.get(path, { key })).body).toEqual({ data: [], total: 0, has_more: false });
    expect((await gateway.delete(path, undefined, { key })).status).toBe(400);
    const { status } = await gateway.delete(`${path}?user_id=${place.owner.userId}`, undefined, { key });
    expect(status).toBe(404);
  });
});
