/** What is used of the limits of keys, workspaces, providers and integrations, while calls run and after them. */
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { grantableTo } from '../../src/identity/scopes.ts';
import { onEachEngine } from '../harness.ts';
import { addKey, addOrganisation, type Home, home } from '../people.ts';
import * as openai from '../providers/openai.ts';
import { gated, type SimulatedProvider, startProvider } from '../providers/simulated.ts';
import { startWorld, type World } from '../world.ts';

onEachEngine('usage of limits', (start) => {
  let provider: SimulatedProvider;
  let world: World;
  let place: Home;
  beforeAll(async () => {
    provider = await startProvider(openai.says('Hello'));
    world = await startWorld({ a: { provider: 'openai', simulated: provider } }, {}, start);
    place = await home(world.gateway);
  });
  afterAll(async () => {
    await world.gateway.stopWithoutFaults();
    await provider.stop();
  });

  const limits = {
    usage_limits: { type: 'tokens', credit_limit: 1_000, periodic_reset: 'monthly' },
    rate_limits: [{ type: 'requests', unit: 'rpd', value: 10 }],
  };
  const used = {
    object: 'list',
    total: 2,
    data: [
      {
        object: 'limit_usage',
        kind: 'rate_limit',
        type: 'requests',
        unit: 'rpd',
        limit: 10,
        current_usage: 1,
        reserved: 0,
        remaining: 9,
        status: 'active',
        window_ends_at: expect.stringMatching(/T00:00:00.000Z$/),
      },
      {
        object: 'limit_usage',
        kind: 'usage_limit',
        type: 'tokens',
        unit: null,
        limit: 1_000,
        current_usage: 30,
        reserved: 0,
        remaining: 970,
        status: 'active',
        window_ends_at: expect.stringMatching(/-01T00:00:00.000Z$/),
      },
    ],
  };
  const newKey = () =>
    addKey(world.gateway, {
      organisationId: place.organisationId,
      workspaceId: place.workspaceId,
      type: 'workspace-service',
      scopes: grantableTo('S'),
      name: 'Limited',
    });
  const call = (secret: string, more: object = {}) =>
    world.call(
      '/v1/chat/completions',
      { model: '@a/gpt-4o-mini', messages: [{ role: 'user', content: 'Hi' }], max_tokens: 10, ...more },
      { 'x-gw-api-key': secret },
    );

  test('of a key, a workspace, a provider and an integration agree on one call', async () => {
    const { gateway } = world;
    const workspace = `workspace_id=${place.workspaceId}`;
    const key = await newKey();
    const shared = await gateway.post('/v1/integrations', {
      name: 'Shared',
      slug: 'shared',
      ai_provider_id: 'openai',
      key: 'sk-shared',
      configurations: { custom_host: provider.url },
    });
    expect(shared.status).toBe(200);
    const workspaceSlug = (await gateway.get('/v1/workspaces')).body.data[0].slug;
    expect(
      (
        await gateway.put('/v1/integrations/shared/workspaces', {
          workspaces: [
            {
              id: workspaceSlug,
              enabled: true,
              default_provider_slug: 'shared',
              usage_limits: [limits.usage_limits],
              rate_limits: limits.rate_limits,
            },
          ],
        })
      ).status,
    ).toBe(200);
    expect((await gateway.put(`/v1/api-keys/${key.id}`, limits)).status).toBe(200);
    const inWorkspace = { ...limits, usage_limits: [limits.usage_limits] };
    expect((await gateway.put(`/v1/workspaces/${place.workspaceId}`, inWorkspace)).status).toBe(200);
    expect((await gateway.put(`/v1/providers/shared?${workspace}`, limits)).status).toBe(200);
    expect((await call(key.secret, { model: '@shared/gpt-4o-mini' })).status).toBe(200);
    expect((await gateway.get(`/v1/api-keys/${key.id}/usage`)).body).toEqual(used);
    expect((await gateway.get(`/v1/workspaces/${place.workspaceId}/usage`)).body).toEqual(used);
    expect((await gateway.get(`/v1/providers/shared/usage?${workspace}`)).body).toEqual(used);
    expect((await gateway.get('/v1/integrations/shared/usage')).body).toEqual({
      ...used,
      total: 1,
      data: used.data.map((record) => ({
        ...record,
        workspace_id: place.workspaceId,
        workspace_slug: workspaceSlug,
      })),
    });
    await gateway.put(`/v1/workspaces/${place.workspaceId}`, { usage_limits: null, rate_limits: null });
  });

  test('shows what a running call holds, and that it is let go of', async () => {
    const key = await newKey();
    await world.gateway.put(`/v1/api-keys/${key.id}`, { usage_limits: { type: 'tokens', credit_limit: 1_000 } });
    const gate = Promise.withResolvers<void>();
    provider.script(gated(gate.promise, openai.wholeStream(['Hello'])));
    const running = call(key.secret, { stream: true, max_tokens: 100 });
    const look = async () => (await world.gateway.get(`/v1/api-keys/${key.id}/usage`)).body.data[0];
    let seen = await look();
    while (seen.reserved === 0) seen = await look();
    expect(seen).toMatchObject({ current_usage: 0, window_ends_at: null });
    expect(seen.reserved).toBeWithin(100, 1_000);
    expect(seen.remaining).toBe(1_000 - seen.reserved);
    gate.resolve();
    await (await running).text();
    while (seen.reserved > 0) seen = await look();
    expect(seen).toMatchObject({ current_usage: 30, remaining: 970 });
    provider.script(openai.says('Hello'));
  });

  test('of something without limits is an empty list, and of what is not there or is somebody else’s a 404', async () => {
    const { gateway } = world;
    const key = await newKey();
    expect((await gateway.get(`/v1/api-keys/${key.id}/usage`)).body).toEqual({ object: 'list', total: 0, data: [] });
    const other = await addOrganisation(gateway);
    for (const path of [
      `/v1/api-keys/${Bun.randomUUIDv7()}/usage`,
      '/v1/integrations/none/usage',
      `/v1/providers/none/usage?workspace_id=${place.workspaceId}`,
      `/v1/workspaces/${other.workspaceId}/usage`,
    ]) {
      expect({ path, status: (await gateway.get(path)).status }).toEqual({ path, status: 404 });
    }
  });
});
