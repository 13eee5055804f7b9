/** Agent integrations and servers over HTTP, against a real agent. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { saveAgent, startAgent, trustLoopback, type UpstreamServer } from '../../../test/agents/upstream.ts';
import { onEachEngine, type TestGateway } from '../../../test/harness.ts';
import { addPerson, type Home, home } from '../../../test/people.ts';

onEachEngine('agent integrations', (start) => {
  let gateway: TestGateway;
  let agent: UpstreamServer;
  let place: Home;
  beforeAll(async () => {
    agent = await startAgent('sdk-agent.ts');
    gateway = await start(trustLoopback);
    place = await home(gateway);
  });
  afterAll(async () => {
    await gateway.stopWithoutFaults();
    agent.stop();
  });

  const ofOrganisation = async (slug: string, more: object = {}) => {
    const { status, body } = await gateway.post('/v1/agent-integrations', {
      name: slug,
      slug,
      url: agent.url,
      ...more,
    });
    expect({ status, body }).toMatchObject({ status: 200 });
    return body as { id: string; slug: string };
  };
  const ownKey = () => ({ key: gateway.workspaceKey });

  test('an integration is made, read, changed and deleted; its secrets are masked', async () => {
    const { id } = await ofOrganisation('crud', {
      auth_type: 'headers',
      configurations: { custom_headers: { authorization: 'Bearer canary-secret-value' }, timeout_ms: 5_000 },
    });
    const read = await gateway.get(`/v1/agent-integrations/${id}`);
    expect(read.body).toMatchObject({
      slug: 'crud',
      type: 'organisation',
      protocol: 'a2a',
      status: 'active',
      configurations: { headers: { authorization: 'Be*******ue' }, timeout_ms: 5_000 },
    });
    expect(JSON.stringify(read.body)).not.toContain('canary');
    const sentBack = { configurations: { headers: read.body.configurations.headers, timeout_ms: null } };
    const updated = await gateway.put('/v2/agent-integrations/crud', { name: 'Renamed', ...sentBack });
    expect(updated.body).toMatchObject({ success: true, name: 'Renamed' });
    expect(updated.body.configurations).toEqual({ headers: { authorization: 'Be*******ue' } });
    expect((await gateway.delete(`/v1/agent-integrations/${id}`)).body).toEqual({});
    expect((await gateway.get(`/v1/agent-integrations/${id}`)).status).toBe(404);
  });

  test('a slug that is taken is a 409, a reserved one a 400, also after it was deleted', async () => {
    await ofOrganisation('twice');
    const body = { name: 'x', url: agent.url };
    expect((await gateway.post('/v1/agent-integrations', { ...body, slug: 'twice' })).status).toBe(409);
    await gateway.delete('/v1/agent-integrations/twice');
    expect((await gateway.post('/v1/agent-integrations', { ...body, slug: 'twice' })).status).toBe(409);
    expect((await gateway.post('/v1/agent-integrations', { ...body, slug: 'oauth' })).status).toBe(400);
  });

  test.each([
    ['a metadata service', 'http://169.254.169.254/agent'],
    ['a private address', 'http://10.0.0.7/agent'],
    ['another scheme', 'file:///etc/passwd'],
    ['a fragment', 'https://example.com/agent#x'],
  ])('an address that must not be called is refused: %s', async (_, url) => {
    const made = await gateway.post('/v1/agent-integrations', { name: 'unsafe', url });
    expect({ status: made.status, path: made.body.data.errors[0].path }).toEqual({ status: 400, path: 'url' });
    const asked = await gateway.post('/v2/agent-integrations/fetch-agent-card', { endpoint: url });
    expect({ status: asked.status, path: asked.body.data.errors[0].path }).toEqual({ status: 400, path: 'endpoint' });
  });

  test('unknown settings and missing client credentials are refused by name', async () => {
    const made = (more: object) => gateway.post('/v1/agent-integrations', { name: 'x', url: agent.url, ...more });
    const unknown = await made({ configurations: { surprise: true } });
    expect([unknown.status, unknown.body.data.errors[0].path]).toEqual([400, 'configurations.surprise']);
    const bare = await made({ auth_type: 'oauth_client_credentials' });
    expect([bare.status, bare.body.data.errors[0].path]).toEqual([400, 'configurations.client_credentials']);
    const mapped = [{ target_field: 'configurations.headers', secret_reference_id: 'none' }];
    expect((await made({ secret_mappings: mapped })).status).toBe(400);
  });

  test('the card is fetched from an address, with a url also where the agent speaks 1.0', async () => {
    const { status, body } = await gateway.post('/v2/agent-integrations/fetch-agent-card', { endpoint: agent.url });
    expect({ status, name: body.name, url: body.url }).toEqual({
      status: 200,
      name: 'Sample agent',
      url: `${agent.url}/a2a/jsonrpc`,
    });
    const pasted = { url: `${agent.url}/.well-known/agent-card.json` };
    expect((await gateway.post('/v1/agent-integrations/fetch-agent-card', pasted)).body.name).toBe('Sample agent');
  });

  test('testing it fetches the card, and its skills are there', async () => {
    const { id } = await ofOrganisation('tested');
    expect((await gateway.post(`/v1/agent-integrations/${id}/test`)).body).toMatchObject({
      success: true,
      status_code: 200,
      agent_name: 'Sample agent',
    });
    expect((await gateway.get(`/v1/agent-integrations/${id}`)).body).toMatchObject({
      card_status: 'fetched',
      agent_card: { name: 'Sample agent' },
    });
    const { body } = await gateway.get(`/v1/agent-integrations/${id}/skills?page=1&page_size=1`);
    expect(body).toMatchObject({ total: 2, has_more: true, data: [{ id: 'echo', name: 'Echo', enabled: true }] });
    const searched = async (part: string) =>
      (await gateway.get(`/v1/agent-integrations/${id}/skills?search=${part}`)).body.total;
    expect([await searched('ECH'), await searched('nowhere')]).toEqual([1, 0]);
    const off = { skills: [{ id: 'echo', enabled: false }] };
    expect((await gateway.put(`/v1/agent-integrations/${id}/skills`, off)).body).toEqual({ success: true });
    expect((await gateway.get(`/v1/agent-integrations/${id}/skills`)).body.data[0].enabled).toBe(false);
    const unknown = { skills: [{ id: 'none', enabled: false }] };
    expect((await gateway.put(`/v1/agent-integrations/${id}/skills`, unknown)).status).toBe(404);
  });

  test('a job fetches the card of an integration that is new', async () => {
    const { id } = await ofOrganisation('by-itself');
    await gateway.app.jobs.runOnce('agent-cards');
    expect((await gateway.get(`/v1/agent-integrations/${id}`)).body.card_status).toBe('fetched');
  });

  describe('workspaces', () => {
    test('handing it to a workspace makes a server; taking it away keeps it, unusable', async () => {
      const { id } = await ofOrganisation('handed');
      const at = `/v1/agent-integrations/${id}/workspaces`;
      await gateway.put(at, { workspaces: [{ id: place.workspaceId, enabled: true }] });
      expect((await gateway.get('/v1/agent-servers/handed', ownKey())).body).toMatchObject({
        slug: 'handed',
        enabled: true,
        url: `${gateway.url}/v1/agent/handed`,
        agent_integration_id: id,
      });
      await gateway.put(at, { workspaces: [], override_existing_workspace_access: true });
      expect((await gateway.get(`${at}?version=1`)).body.data).toMatchObject([{ enabled: false }]);
      expect((await gateway.get('/v1/agent-servers/handed', ownKey())).body.enabled).toBe(false);
      const again = { name: 'again', agent_integration_id: id };
      expect((await gateway.post('/v1/agent-servers', again, ownKey())).status).toBe(403);
    });

    test('a new workspace gets what is given to all', async () => {
      const { id } = await ofOrganisation('for-all');
      await gateway.put(`/v1/agent-integrations/${id}/workspaces`, { global_workspace_access: { enabled: true } });
      const made = await gateway.post('/v1/admin/workspaces', { name: 'Newcomers' });
      const { body } = await gateway.get(`/v1/agent-servers?workspace_id=${made.body.id}`);
      expect(body.data).toMatchObject([{ agent_integration_slug: 'for-all' }]);
    });
  });

  describe('servers', () => {
    test('a server is made, listed, renamed and deleted', async () => {
      const { id } = await saveAgent(gateway, { slug: 'workspace-agent', url: agent.url });
      const made = await gateway.post(
        '/v1/agent-servers',
        { name: 'Second', slug: 'second-agent', agent_integration_id: id },
        ownKey(),
      );
      expect(made).toMatchObject({ status: 200, body: { slug: 'second-agent' } });
      await gateway.put('/v1/agent-servers/second-agent', { description: 'Other words' }, ownKey());
      const { body } = await gateway.get('/v1/agent-servers?id=second-agent,workspace-agent', ownKey());
      expect(body).toMatchObject({ total: 2, data: [{ slug: 'second-agent', description: 'Other words' }, {}] });
      expect((await gateway.delete('/v1/agent-servers/second-agent', ownKey())).body).toEqual({});
      expect((await gateway.get('/v1/agent-servers/second-agent', ownKey())).status).toBe(404);
    });

    test('its card is the agent’s own; skills are switched here too, and the integration wins', async () => {
      const { id } = await saveAgent(gateway, { slug: 'carded', url: agent.url });
      const card = await gateway.get('/v1/agent-servers/carded/agent-card', ownKey());
      expect(card.body).toMatchObject({ name: 'Sample agent', supportedInterfaces: [{}, {}, {}, {}, {}, {}] });
      await gateway.put('/v1/agent-servers/carded/skills', { skills: [{ id: 'tasks', enabled: false }] }, ownKey());
      await gateway.put(`/v1/agent-integrations/${id}/skills`, { skills: [{ id: 'echo', enabled: false }] }, ownKey());
      const { body } = await gateway.get('/v1/agent-servers/carded/skills', ownKey());
      expect(body.data).toMatchObject([
        { id: 'echo', enabled: true, integration_enabled: false },
        { id: 'tasks', enabled: false, integration_enabled: true },
      ]);
      expect((await gateway.post('/v1/agent-servers/carded/test', undefined, ownKey())).body.success).toBe(true);
    });

    test('people are allowed and denied one by one, over a default', async () => {
      await saveAgent(gateway, { slug: 'guarded', url: agent.url });
      const at = '/v1/agent-servers/guarded/user-access';
      const workspaces = { [place.workspaceId]: 'member' } as const;
      const { userId } = await addPerson(gateway, place.organisationId, 'member', { workspaces });
      expect((await gateway.get(at)).body.data).toMatchObject([{ enabled: true, has_override: false }]);
      const change = { default_user_access: 'deny', user_access: [{ user_id: userId, enabled: true }] };
      expect((await gateway.put(at, change)).body).toEqual({ success: true });
      expect((await gateway.get(at)).body).toMatchObject({
        default_user_access: 'deny',
        data: [{ user_id: userId, enabled: true, has_override: true }],
      });
    });
  });
});
