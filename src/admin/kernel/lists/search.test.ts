/** Every list of named things is searched by any part, in any case. */
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { type Json, onEachEngine, type TestGateway } from '../../../../test/harness.ts';
import { addPerson, type Home, home } from '../../../../test/people.ts';

onEachEngine('searching', (start) => {
  let gateway: TestGateway;
  let place: Home;

  beforeAll(async () => {
    gateway = await start();
    place = await home(gateway);
    const { workspaceId: workspace_id } = place;
    const named = { name: 'Übung Größe 100%_x' };
    await gateway.post('/v1/admin/workspaces', named);
    await gateway.post('/v1/configs', { ...named, config: { retry: { attempts: 1 } }, workspace_id });
    await gateway.post('/v1/integrations', { ...named, ai_provider_id: 'openai', key: 'sk-0123456789' });
    await gateway.post('/v1/virtual-keys', { ...named, provider: 'openai', key: 'sk-0123456789', workspace_id });
    await gateway.post('/v1/api-keys/workspace/service', { ...named, workspace_id, scopes: ['completions.write'] });
    await addPerson(gateway, place.organisationId, 'member', { email: 'uebung.groesse@example.com' });
    await gateway.post('/v1/admin/users/invites', { email: 'invited.groesse@example.com', role: 'member' });
  });
  afterAll(() => gateway.stopWithoutFaults());

  const total = async (path: string, part: string): Promise<number> => {
    const separator = path.includes('?') ? '&' : '?';
    const { status, body } = await gateway.get(`${path}${separator}search=${encodeURIComponent(part)}`);
    expect(status).toBe(200);
    return (body as Json).total;
  };

  test.each([
    '/v1/admin/workspaces',
    '/v1/configs',
    '/v1/integrations',
    '/v1/providers?workspace_id=WORKSPACE',
    '/v1/virtual-keys',
    '/v1/api-keys',
  ])('%s by its name', async (template) => {
    const path = template.replace('WORKSPACE', place.workspaceId);
    for (const part of ['übung', 'ÜBUNG', 'Bung gr', '100%_X']) expect(await total(path, part)).toBeGreaterThan(0);
    for (const part of ['100%%', 'nowhere', '_____________________x']) expect(await total(path, part)).toBe(0);
  });

  test('users by a part of their name or address, invites by a part of theirs', async () => {
    for (const part of ['GROESSE@', 'uebung.g', 'Ada No']) expect(await total('/v1/admin/users', part)).toBe(1);
    expect(await total('/v1/admin/users', 'nobody')).toBe(0);
    for (const part of ['Invited.', 'GROESSE']) expect(await total('/v1/admin/users/invites', part)).toBe(1);
    expect(await total('/v1/admin/users/invites', 'uebung')).toBe(0);
  });

  test('e-mail domains, notices, exclusions, guardrails and plugins', async () => {
    await gateway.post('/v1/admin/organisation/email-domains', { domain: 'groesse.example.org' });
    const checks = [{ id: 'default.contains', parameters: { words: ['x'], operator: 'none' } }];
    const guardrail = { name: 'Größe 100%', checks, actions: {}, workspace_id: place.workspaceId };
    expect((await gateway.post('/v1/guardrails', guardrail)).status).toBe(200);
    const path = '/v1/workspace-exclusions/input-guardrails';
    const { body } = await gateway.get('/v1/admin/workspaces?search=größe');
    const excluded = [{ workspace_id: body.data[0].id, excluded: true }];
    expect((await gateway.put(path, { workspaces: excluded })).status).toBe(200);
    for (const [list, part] of [
      ['/v1/admin/organisation/email-domains', 'GROESSE.ex'],
      ['/v1/admin/notices', 'INVITED.gro'],
      ['/v1/guardrails', 'GRÖ'],
      [path, 'BUNG gr'],
    ] as const) {
      expect([list, await total(list, part)]).toEqual([list, 1]);
      expect([list, await total(list, 'nowhere')]).toEqual([list, 0]);
    }
    expect(await total('/v1/plugins', 'nowhere')).toBe(0);
  });

  test('policies, webhooks, checks and what this release knows', async () => {
    const { workspaceId: workspace_id } = place;
    const policy = { name: 'Größe 100%', workspace_id, conditions: [{ key: 'workspace_id', value: workspace_id }] };
    const grouped = { ...policy, group_by: [{ key: 'api_key' }] };
    await gateway.post('/v1/policies/rate-limits', { ...grouped, type: 'requests', unit: 'rpm', value: 5 });
    await gateway.post('/v1/policies/usage-limits', { ...grouped, type: 'cost', credit_limit: 5 });
    await gateway.post('/v1/webhooks', { url: 'https://hooks.example.com/Groesse' });
    for (const [list, part] of [
      ['/v1/policies/rate-limits', 'GRÖß'],
      ['/v1/policies/usage-limits', 'röße 1'],
      ['/v1/webhooks', 'GROESSE'],
      ['/v1/guardrails/checks', 'DEFAULT.JWT'],
      ['/v1/reference/providers', 'ELEVENL'],
      ['/v1/reference/models?provider=openai', 'GPT-4O-MINI-TTS'],
    ] as const) {
      expect([list, await total(list, part)]).toEqual([list, 1]);
      expect([list, await total(list, 'nowhere')]).toEqual([list, 0]);
    }
    const person = await addPerson(gateway, place.organisationId, 'member');
    const { body: own } = await gateway.get('/v1/admin/organisation');
    for (const [part, count] of [
      [own.name.toUpperCase(), 1],
      ['nowhere', 0],
    ]) {
      const path = `/v1/admin/organisations?search=${encodeURIComponent(part)}`;
      expect((await gateway.get(path, { key: person.session })).body.total).toBe(count);
    }
  });

  test('the workspaces of an integration', async () => {
    const { body } = await gateway.post('/v1/integrations', { name: 'Shared', ai_provider_id: 'openai', key: 'sk-1' });
    const list = `/v1/integrations/${body.slug}/workspaces`;
    const workspaces = [{ id: place.workspaceId, enabled: true }];
    expect((await gateway.put(list, { workspaces })).status).toBe(200);
    const { body: own } = await gateway.get(`/v1/admin/workspaces/${place.workspaceId}`);
    expect([await total(list, own.name.toUpperCase()), await total(list, 'nowhere')]).toEqual([1, 0]);
  });

  test('a member of no workspace finds none, and nothing breaks', async () => {
    const alone = await addPerson(gateway, place.organisationId, 'member');
    const reply = await gateway.get('/v1/admin/workspaces', { key: alone.session });
    expect([reply.status, reply.body.total]).toEqual([200, 0]);
  });

  test('a new workspace has @sandbox, which does not stand in the way of its removal', async () => {
    const { body } = await gateway.post('/v1/admin/workspaces', { name: 'Short-lived' });
    const providers = await gateway.get(`/v1/providers?workspace_id=${body.id}`);
    expect(providers.body.data.map((provider: { slug: string }) => provider.slug)).toEqual(['sandbox']);
    expect((await gateway.delete(`/v1/admin/workspaces/${body.id}`, { name: 'Short-lived' })).status).toBe(200);
  });
});
