/** The administration of MCP servers and agents over HTTP, row by row: fields, defaults, refusals, rights and audit. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { startAgent } from '../agents/upstream.ts';
import { type Json, startGateway, type TestGateway } from '../harness.ts';
import { addPerson, type Home, home, type Person } from '../people.ts';
import { startUpstream, trustLoopback, type UpstreamServer } from './upstream.ts';

let gateway: TestGateway;
let place: Home;
let upstream: UpstreamServer;
let agent: UpstreamServer;
let manager: Person;
let member: Person;

beforeAll(async () => {
  upstream = await startUpstream('session-server.ts');
  agent = await startAgent('sdk-agent.ts');
  gateway = await startGateway(trustLoopback);
  place = await home(gateway);
  const join = (role: 'member' | 'manager') =>
    addPerson(gateway, place.organisationId, 'member', { workspaces: { [place.workspaceId]: role } });
  [manager, member] = [await join('manager'), await join('member')];
});

afterAll(async () => {
  await gateway.stopWithoutFaults();
  upstream.stop();
  agent.stop();
});

const own = () => ({ key: gateway.workspaceKey });

/** The two families, which differ in little more than their words. */
const families = [
  {
    family: 'mcp',
    fresh: () => ({ url: upstream.url, auth_type: 'none', transport: 'http' }),
    parts: 'capabilities',
    reference: 'mcp_integration_id',
  },
  { family: 'agent', fresh: () => ({ url: agent.url }), parts: 'skills', reference: 'agent_integration_id' },
] as const;

describe.each(families)('$family integrations', ({ family, fresh, parts, reference }) => {
  const integrations = `/v1/${family}-integrations`;
  const servers = `/v1/${family}-servers`;
  const made = async (slug: string, more: object = {}, key: string | undefined = undefined) =>
    gateway.post(integrations, { name: slug, slug, ...fresh(), ...more }, key === undefined ? {} : { key });

  test('are created with an answer of id and slug alone, and read with every field', async () => {
    const { status, body } = await made(`${family}-fields`, { description: 'What it is for' });
    expect([status, Object.keys(body).sort()]).toEqual([200, ['id', 'slug']]);
    const read = await gateway.get(`${integrations}/${body.slug}`);
    expect(read.body).toMatchObject({
      id: body.id,
      slug: `${family}-fields`,
      name: `${family}-fields`,
      description: 'What it is for',
      ...fresh(),
      configurations: {},
      secret_mappings: [],
      workspace_id: null,
      type: 'organisation',
      status: 'active',
      created_at: expect.any(String),
      last_updated_at: expect.any(String),
    });
    expect(read.body).toHaveProperty('owner_id');
    expect(read.body).toHaveProperty('global_workspace_access');
  });

  test('have a slug of their own where none is sent', async () => {
    const { body } = await gateway.post(integrations, { name: `Plain ${family}!`, ...fresh() });
    expect(body.slug).toMatch(/^[a-zA-Z0-9_-]+$/);
  });

  test.each([
    ['without a name', { name: undefined }, 'name'],
    ['with a name that is too long', { name: 'x'.repeat(256) }, 'name'],
    ['with a slug of other letters', { slug: 'no spaces' }, 'slug'],
    ['with a reserved slug', { slug: 'v1' }, 'slug'],
    ['without an address', { url: undefined }, family === 'mcp' ? 'url' : 'url'],
    ['with an address that is too long', { url: `https://example.com/${'x'.repeat(2040)}` }, 'url'],
    ['with another scheme', { url: 'ftp://example.com/x' }, 'url'],
    ['with a kind of sign-in that is unknown', { auth_type: 'magic' }, 'auth_type'],
    ['with a setting that is unknown', { configurations: { surprise: 1 } }, 'configurations.surprise'],
  ])('are refused %s: 400 that names the field', async (_, more, path) => {
    const { status, body } = await made(`${family}-refused`, more);
    expect([status, body.data.errorCode, body.data.errors?.[0]?.path]).toEqual([400, 'AB01', path]);
  });

  test('a slug that is taken is 409, one of nobody 404, and nothing to change 400', async () => {
    await made(`${family}-taken`);
    expect((await made(`${family}-taken`)).status).toBe(409);
    for (const path of ['', '/metadata', '/workspaces', `/${parts}`].slice(family === 'mcp' ? 0 : 2)) {
      expect((await gateway.get(`${integrations}/nobody${path}`)).status).toBe(404);
    }
    expect((await gateway.put(`${integrations}/${family}-taken`, {})).status).toBe(400);
    expect((await gateway.delete(`${integrations}/nobody`)).status).toBe(404);
  });

  test('are listed by kind, place and words, in pages from 0', async () => {
    await made(`${family}-org-listed`);
    await made(`${family}-ws-listed`, {}, gateway.workspaceKey);
    const slugs = async (query: string, key?: string): Promise<string[]> => {
      const { status, body } = await gateway.get(
        `${integrations}?search=listed&${query}`,
        key === undefined ? {} : { key },
      );
      expect(status).toBe(200);
      return body.data.map(({ slug }: Json) => slug).sort();
    };
    expect(await slugs('type=organisation')).toEqual([`${family}-org-listed`]);
    expect(await slugs('type=workspace')).toEqual([`${family}-ws-listed`]);
    expect(await slugs('type=all')).toEqual([`${family}-org-listed`, `${family}-ws-listed`]);
    expect(await slugs('', gateway.workspaceKey)).toEqual([`${family}-ws-listed`]);
    const first = await gateway.get(`${integrations}?search=listed&type=all&page_size=1&current_page=0`);
    expect(first.body).toMatchObject({ total: 2, has_more: true });
    expect(first.body.data[0]).toHaveProperty('workspaces_count');
    const last = await gateway.get(`${integrations}?search=listed&type=all&page_size=1&current_page=1`);
    expect(last.body).toMatchObject({ total: 2, has_more: false });
    expect((await gateway.get(`${integrations}?page_size=100000`)).status).toBe(200);
    expect((await gateway.get(`${integrations}?type=surprise`)).status).toBe(400);
    // What the organisation has handed over is listed too.
    const { body } = await gateway.get(`${integrations}/${family}-org-listed`);
    await gateway.put(`${integrations}/${body.id}/workspaces`, {
      workspaces: [{ id: place.workspaceId, enabled: true }],
    });
    expect(await slugs('type=all', gateway.workspaceKey)).toEqual([`${family}-org-listed`, `${family}-ws-listed`]);
  });

  test('are handed to workspaces in both shapes, and a server of theirs goes with them', async () => {
    const { body } = await made(`${family}-handed`);
    const path = `${integrations}/${body.id}/workspaces`;
    const handed = await gateway.put(path, { workspaces: [{ id: place.workspaceId, enabled: true }] });
    expect([handed.status, handed.body]).toEqual([200, {}]);
    const shape = { id: place.workspaceId, enabled: true, status: expect.any(String) };
    expect((await gateway.get(`${path}?version=1`)).body).toMatchObject({ data: [shape], total: 1 });
    expect((await gateway.get(path)).body).toMatchObject({ workspaces: [shape] });
    expect((await gateway.get(path)).body).toHaveProperty('global_workspace_access');
    expect((await gateway.put(path, { workspaces: [{ id: 'nowhere', enabled: true }] })).status).toBe(404);
    expect((await gateway.get(path, own())).status).toBe(403);
    expect((await gateway.get(`${servers}/${family}-handed`, own())).body).toMatchObject({ status: 'active' });
    expect((await gateway.delete(`${integrations}/${body.id}`)).body).toEqual({});
    expect((await gateway.get(`${servers}/${family}-handed`, own())).status).toBe(404);
  });

  test('servers: made of an integration, within their bounds, listed by id and words, changed and deleted', async () => {
    const { body: integration } = await made(`${family}-base`, {}, gateway.workspaceKey);
    const create = (more: object) =>
      gateway.post(servers, { name: 'Second', [reference]: integration.slug, ...more }, own());
    const second = await create({ slug: `${family}-second`, description: 'x'.repeat(500) });
    expect([second.status, Object.keys(second.body).sort()]).toEqual([200, ['id', 'slug']]);
    for (const [more, path] of [
      [{ slug: 'ab' }, 'slug'],
      [{ slug: 'x'.repeat(51) }, 'slug'],
      [{ name: '' }, 'name'],
      [{ name: 'x'.repeat(256) }, 'name'],
      [{ description: 'x'.repeat(501) }, 'description'],
    ] as const) {
      const { status, body } = await create({ slug: `${family}-third`, ...more });
      expect([status, body.data.errors?.[0]?.path]).toEqual([400, path]);
    }
    expect((await create({ slug: `${family}-second` })).status).toBe(409);
    expect((await create({ [reference]: 'nobody' })).status).toBe(404);
    const noPlace = await gateway.post(servers, { name: 'x', [reference]: integration.id });
    expect(noPlace.status).toBe(400);
    const { id } = second.body;
    const found = await gateway.get(`${servers}?id=${id},${Bun.randomUUIDv7()}`, own());
    expect(found.body).toMatchObject({ total: 1, has_more: false, data: [{ id, default_user_access: 'allow' }] });
    expect((await gateway.get(`${servers}?search=${'x'.repeat(256)}`, own())).status).toBe(400);
    expect((await gateway.put(`${servers}/${id}`, {}, own())).status).toBe(400);
    expect((await gateway.put(`${servers}/${id}`, { name: 'Renamed' }, own())).status).toBe(200);
    expect((await gateway.get(`${servers}/${id}`, own())).body.name).toBe('Renamed');
    expect((await gateway.delete(`${servers}/${id}`, undefined, own())).body).toEqual({});
    expect((await gateway.get(`${servers}/${id}`, own())).status).toBe(404);
  });

  test('people: everybody by default, one by one over it, with names and pages from 1', async () => {
    const { body } = await made(`${family}-people`, {}, gateway.workspaceKey);
    expect(body.slug).toBe(`${family}-people`);
    const path = `${servers}/${family}-people/user-access`;
    const listed = await gateway.get(`${path}?page=1&page_size=500`, own());
    expect(listed.body).toMatchObject({ default_user_access: 'allow', has_more: false });
    const row = listed.body.data.find(({ user_id }: Json) => user_id === member.userId);
    expect(row).toMatchObject({ first_name: 'Ada', last_name: expect.any(String), enabled: true, has_override: false });
    if (family === 'mcp') expect(row.connection_status).toBe('not_connected');
    const denied = { user_access: [{ user_id: member.userId, enabled: false }], default_user_access: 'allow' };
    expect((await gateway.put(path, denied, own())).body).toEqual({ success: true });
    const changed = await gateway.get(`${path}?search=${encodeURIComponent(member.email)}`, own());
    expect(changed.body).toMatchObject({ total: 1, data: [{ enabled: false, has_override: true }] });
    for (const query of ['page=0', 'page=x']) expect((await gateway.get(`${path}?${query}`, own())).status).toBe(400);
    expect((await gateway.put(path, { default_user_access: 'perhaps' }, own())).status).toBe(400);
  });

  test('members use and read; managers change what the settings let them', async () => {
    const { body: integration } = await made(`${family}-rights`, {}, gateway.workspaceKey);
    const server = `${servers}/${family}-rights`;
    const as = ({ session }: Person) => ({ key: session });
    expect((await gateway.get(server, as(member))).status).toBe(200);
    expect((await gateway.get(`${servers}?workspace_id=${place.workspaceId}`, as(member))).status).toBe(200);
    expect((await gateway.put(server, { name: 'x' }, as(member))).status).toBe(403);
    expect((await gateway.delete(server, undefined, as(member))).status).toBe(403);
    expect((await gateway.put(`${integrations}/${integration.id}`, { name: 'x' }, as(member))).status).toBe(403);
    expect((await gateway.put(server, { name: 'By a manager' }, as(manager))).status).toBe(200);
    expect((await gateway.put(`${integrations}/${integration.id}`, { name: 'x' }, as(manager))).status).toBe(200);
    const organisation = await made(`${family}-not-theirs`);
    expect((await gateway.put(`${integrations}/${organisation.body.id}`, { name: 'x' }, as(manager))).status).toBe(403);
    expect((await gateway.get(`${integrations}/${organisation.body.id}/workspaces`, as(manager))).status).toBe(403);
    if (family === 'agent') return;
    const settings = (value: boolean) =>
      gateway.put('/v1/admin/organisation/settings', {
        security_settings: { managersWriteMcpServers: value, managersWriteWsMcpIntegrations: value },
      });
    const switched = await settings(false);
    expect({ status: switched.status, body: switched.body }).toMatchObject({ status: 200 });
    expect((await gateway.put(server, { name: 'y' }, as(manager))).status).toBe(403);
    expect((await gateway.put(`${integrations}/${integration.id}`, { name: 'y' }, as(manager))).status).toBe(403);
    expect((await gateway.put(server, { name: 'By the owner' }, as(place.owner))).status).toBe(200);
    await settings(true);
  });

  test('every change stands in the audit log, without any credential', async () => {
    const configurations = { headers: { 'x-key': 'canary-of-the-audit' } };
    const { body } = await made(`${family}-audited`, { auth_type: 'headers', configurations });
    await gateway.put(`${integrations}/${body.id}`, { name: 'Changed' });
    await gateway.put(`${integrations}/${body.id}/workspaces`, {
      workspaces: [{ id: place.workspaceId, enabled: true }],
    });
    await gateway.put(`${servers}/${family}-audited`, { name: 'Changed' }, own());
    await gateway.delete(`${servers}/${family}-audited`, undefined, own());
    await gateway.delete(`${integrations}/${body.id}`);
    const rows = await gateway.app.services.store.db.selectFrom('audit_logs').selectAll().execute();
    const done = rows
      .filter((row) => JSON.stringify(row).includes(`${family}-audited`))
      .map(({ resource_type, action }) => `${resource_type} ${action}`);
    for (const kind of ['integration', 'server']) {
      for (const action of kind === 'integration' ? ['create', 'update', 'delete'] : ['update', 'delete']) {
        expect(done).toContain(`${family}_${kind} ${action}`);
      }
    }
    expect(JSON.stringify(rows)).not.toContain('canary-of-the-audit');
  });
});

describe('MCP alone', () => {
  const integration = { url: '', auth_type: 'none', transport: 'http' };

  test('takes the other names of fields, and shows one', async () => {
    for (const [auth_type, shown] of [
      ['custom', 'headers'],
      ['oauth', 'oauth_auto'],
      ['external', 'oauth_auto'],
    ]) {
      const { url: _url, ...rest } = integration;
      const sent = { ...rest, name: auth_type, server_url: upstream.url, auth_type };
      const configurations = { custom_headers: { 'x-one': 'value' }, passthrough_header: { 'x-two': 'value' } };
      const { status, body } = await gateway.post('/v1/mcp-integrations', { ...sent, configurations });
      expect({ status, body }).toMatchObject({ status: 200 });
      const read = await gateway.get(`/v1/mcp-integrations/${body.id}`);
      expect(read.body).toMatchObject({ url: upstream.url, auth_type: shown });
      expect(Object.keys(read.body.configurations).sort()).toEqual(['headers', 'passthrough_headers']);
    }
  });

  test('a server shows its integration to keys that belong to nobody, masked', async () => {
    const configurations = { headers: { 'x-key': 'canary-of-the-server' } };
    const sent = {
      ...integration,
      url: upstream.url,
      name: 'shown',
      slug: 'shown',
      auth_type: 'headers',
      configurations,
    };
    await gateway.post('/v1/mcp-integrations', sent, own());
    const { body } = await gateway.get('/v1/mcp-servers/shown', own());
    expect(body).toMatchObject({
      url: `${gateway.url}/shown/mcp`,
      auth_type: 'headers',
      workspace_id: place.workspaceId,
      mcp_integration_slug: 'shown',
      mcp_integration_details: { slug: 'shown', transport: 'http', auth_type: 'headers' },
    });
    expect(JSON.stringify(body)).not.toContain('canary-of-the-server');
    const person = await gateway.get('/v1/mcp-servers/shown', { key: member.session });
    expect(person.body.mcp_integration_details).toBeUndefined();
  });

  test('the metadata and the capabilities of a server are those of its integration, and effective is both', async () => {
    const sent = { ...integration, url: upstream.url, name: 'told', slug: 'told' };
    await gateway.post('/v1/mcp-integrations', sent, own());
    expect((await gateway.get('/v1/mcp-servers/told/metadata', own())).body).toHaveProperty('sync_status');
    expect((await gateway.post('/v1/mcp-servers/told/test', undefined, own())).body).toMatchObject({
      success: true,
      server_name: 'session-server',
      response_time_ms: expect.any(Number),
    });
    const { body } = await gateway.get('/v1/mcp-servers/told/metadata', own());
    expect(body).toMatchObject({ name: 'session-server', version: '1.2.3', sync_status: 'synced' });
    const { body: listed } = await gateway.get('/v1/mcp-servers/told/capabilities?type=tool&page_size=1000', own());
    expect(listed.data[0]).toMatchObject({ type: 'tool', enabled: true, integration_enabled: true });
    expect((await gateway.put('/v1/mcp-servers/told/capabilities', { capabilities: [] }, own())).status).toBe(400);
    expect((await gateway.get('/v1/mcp-servers/told/capabilities?type=surprise', own())).status).toBe(400);
  });
});
