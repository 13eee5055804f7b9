/** The catalog in memory: read once, kept while nothing changes, and never wrong about what was saved. */
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'bun:test';
import type { KyselyPlugin } from 'kysely';
import { onEachEngine, type TestGateway } from '../../test/harness.ts';
import { addOrganisation, addWorkspace, home, type Place, storeOf } from '../../test/people.ts';
import type { ChangeFeed } from '../store/changes.ts';
import type { Catalog, SavedProvider, WorkspaceCatalog } from './catalog.ts';
import { createCatalog } from './load.ts';
import { readWorkspace } from './read-workspace.ts';
import { sealJson } from './saved.ts';

onEachEngine('catalog', (start) => {
  let gateway: TestGateway;
  let here: Place;
  let catalog: Catalog;
  let statements = 0;
  let live = true;
  const warnings: string[] = [];

  /** Counts what goes to the database. */
  const counter: KyselyPlugin = {
    transformQuery: ({ node }) => {
      statements++;
      return node;
    },
    transformResult: async ({ result }) => result,
  };

  const open = (capacity = 100): Catalog => {
    const { store, feed, vault, clock } = gateway.app.services;
    const watched: ChangeFeed = {
      subscribe: (listener) => feed.subscribe(listener),
      publish: (tx, changes) => feed.publish(tx, changes),
      announce: (changes) => feed.announce(changes),
      close: () => feed.close(),
      get live() {
        return live && feed.live;
      },
    };
    return createCatalog({ db: store.db.withPlugin(counter) }, watched, vault, clock, {
      capacity,
      warn: (message) => warnings.push(message),
    });
  };

  beforeAll(async () => {
    gateway = await start();
    here = await home(gateway);
  });
  afterAll(() => gateway.stopWithoutFaults());
  beforeEach(() => {
    catalog = open();
    statements = 0;
    warnings.length = 0;
  });
  afterEach(() => {
    live = true;
  });

  const load = async (workspaceId = here.workspaceId): Promise<WorkspaceCatalog> => {
    const workspace = await catalog.workspace(workspaceId);
    if (!workspace) throw new Error('The workspace is not there');
    return workspace;
  };
  const provider = async (slug: string, workspaceId = here.workspaceId): Promise<SavedProvider> => {
    const found = (await load(workspaceId)).provider(slug);
    if (!found) throw new Error(`No provider ${slug}`);
    return found;
  };
  /** How many statements it takes to read a workspace alone. */
  const statementsOfOneReading = async (): Promise<number> => {
    const before = statements;
    const { store, vault, clock } = gateway.app.services;
    await readWorkspace(store.db.withPlugin(counter), vault, here.workspaceId, clock.now(), () => undefined);
    const made = statements - before;
    statements = before;
    return made;
  };
  const newWorkspace = (name = 'Team') => addWorkspace(gateway, here.organisationId, name);

  async function saveConfig(slug: string, config: unknown, workspaceId = here.workspaceId) {
    const { db } = storeOf(gateway);
    const [id, version] = [Bun.randomUUIDv7(), Bun.randomUUIDv7()];
    const at = gateway.clock.now().toISOString();
    await db
      .insertInto('configs')
      .values({
        id,
        organisation_id: here.organisationId,
        workspace_id: workspaceId,
        slug,
        name: slug,
        is_default: 0,
        status: 'active',
        owner_id: null,
        updated_by: null,
        version_id: version,
        created_at: at,
        last_updated_at: at,
      })
      .execute();
    await db
      .insertInto('config_versions')
      .values({
        id: version,
        config_id: id,
        config_sealed: sealJson(gateway.app.services.vault, config, 'config'),
        created_at: at,
        created_by: null,
      })
      .execute();
    return { id, version };
  }

  test('a workspace comes with its organisation, its settings and the sandbox', async () => {
    const workspace = await load();
    expect(workspace).toMatchObject({
      organisationId: here.organisationId,
      organisationName: 'My organisation',
      workspaceId: here.workspaceId,
      workspaceSlug: expect.stringMatching(/^ws-/),
      metadata: {},
      settings: { request_logging: 'full' },
    });
    expect(workspace.provider('sandbox')).toMatchObject({
      slug: 'sandbox',
      provider: 'sandbox',
      credential: null,
      status: 'active',
      enabled: true,
      models: { allowAll: true },
    });
    expect(workspace.providers.map(({ slug }) => slug)).toEqual(['sandbox']);
    expect(workspace.provider('nobody')).toBeNull();
    expect(statements).toBe(await statementsOfOneReading());
  });

  test('what is in memory is answered at once, and asks the database nothing', async () => {
    await load();
    statements = 0;
    for (let look = 0; look < 1_000; look++) {
      const workspace = catalog.workspace(here.workspaceId);
      if (workspace instanceof Promise || !workspace) throw new Error('not answered at once');
      workspace.provider('sandbox');
      workspace.plan('none');
    }
    expect(statements).toBe(0);
  });

  test('many who ask at the same time are served by one reading', async () => {
    const answers = await Promise.all(Array.from({ length: 50 }, () => catalog.workspace(here.workspaceId)));
    expect(new Set(answers).size).toBe(1);
    expect(statements).toBe(await statementsOfOneReading());
  });

  test('a workspace that is not there, or archived, is null and is not kept', async () => {
    expect(await catalog.workspace(Bun.randomUUIDv7())).toBeNull();
    const { id } = await newWorkspace('Short');
    expect(await catalog.workspace(id)).not.toBeNull();
    await gateway.delete(`/v1/workspaces/${id}`, { name: 'Short' });
    expect(await catalog.workspace(id)).toBeNull();
  });

  test('a saved provider has its credential, its fields, its models and its prices', async () => {
    const { id: workspaceId } = await newWorkspace();
    await gateway.post('/v1/integrations', {
      name: 'Full',
      slug: 'full',
      ai_provider_id: 'openai',
      key: 'sk-upstream-0123456789',
      workspace_id: workspaceId,
      configurations: {
        openai_project: 'p',
        custom_host: 'https://a.example.com/v1',
        custom_headers: { 'x-a': '1' },
        is_key_required: true,
      },
      pricing_adjustments: {
        multiplier: { default: 0.8, reasoning_token: null, image: { default: 2 }, additional_units: { web_search: 3 } },
      },
    });
    await gateway.put('/v1/integrations/full/models', {
      allow_all_models: false,
      models: [
        {
          slug: 'mine',
          enabled: true,
          is_custom: true,
          base_model_slug: 'gpt-4o',
          configurations: { custom_host: 'https://b.example.com', custom_headers: { 'x-b': '2' } },
          pricing_config: {
            type: 'static',
            pay_as_you_go: {
              request_token: { price: 0.5 },
              additional_units: { web_search: { price: 1 } },
              image: { default: { '1024x1024': { price: 4 } } },
            },
          },
        },
        { slug: 'gpt-4o', enabled: false },
      ],
    });
    const saved = await provider('full', workspaceId);
    expect(saved).toMatchObject({
      integrationSlug: 'full',
      provider: 'openai',
      credential: 'sk-upstream-0123456789',
      customHost: 'https://a.example.com/v1',
      customHeaders: { 'x-a': '1' },
      pricingAdjustments: { default: 0.8, image: 2, web_search: 3 },
    });
    expect(saved.fields).toEqual({ openai_project: 'p' });
    expect(saved.models.allowAll).toBe(false);
    expect(saved.models.bySlug.get('mine')).toEqual({
      enabled: true,
      baseModel: 'gpt-4o',
      customHost: 'https://b.example.com',
      customHeaders: { 'x-b': '2' },
      prices: { request_token: 0.5, web_search: 1, 'image.default.1024x1024': 4 },
    });
    expect(saved.models.bySlug.get('gpt-4o')).toMatchObject({ enabled: false, prices: null });
  });

  test('every change is seen by the next who asks', async () => {
    const { id: workspaceId } = await newWorkspace();
    const query = `workspace_id=${workspaceId}`;
    const slugs = async () => (await load(workspaceId)).providers.map(({ slug }) => slug);
    expect(await slugs()).toEqual([]);

    await gateway.post('/v1/integrations', { name: 'Org', slug: 'org-wide', ai_provider_id: 'sandbox' });
    await gateway.put('/v1/integrations/org-wide/workspaces', { workspaces: [{ id: workspaceId, enabled: true }] });
    expect(await provider('org-wide', workspaceId)).toMatchObject({ enabled: true, customHost: null });
    await gateway.put('/v1/integrations/org-wide', { configurations: { custom_host: 'https://c.example.com' } });
    expect(await provider('org-wide', workspaceId)).toMatchObject({ customHost: 'https://c.example.com' });
    await gateway.put('/v1/integrations/org-wide/models', { models: [{ slug: 'm', enabled: false }] });
    expect((await provider('org-wide', workspaceId)).models.bySlug.get('m')?.enabled).toBe(false);
    await gateway.put('/v1/integrations/org-wide/workspaces', { workspaces: [{ id: workspaceId, enabled: false }] });
    expect(await provider('org-wide', workspaceId)).toMatchObject({ enabled: false });

    const second = { name: 'Second', slug: 'second', integration_id: 'org-wide', workspace_id: workspaceId };
    await gateway.put('/v1/integrations/org-wide/workspaces', { workspaces: [{ id: workspaceId, enabled: true }] });
    await gateway.post('/v1/providers', second);
    expect(await slugs()).toEqual(['org-wide', 'second']);
    const expires_at = new Date(gateway.clock.now().getTime() + 60_000).toISOString();
    await gateway.put(`/v1/providers/second?${query}`, { expires_at });
    expect(await provider('second', workspaceId)).toMatchObject({ expiresAt: expires_at, status: 'active' });
    await gateway.delete(`/v1/providers/second?${query}`);
    expect(await slugs()).toEqual(['org-wide']);

    const legacy = { name: 'VK', slug: 'vk', provider: 'sandbox', workspace_id: workspaceId };
    await gateway.post('/v1/virtual-keys', legacy);
    expect(await slugs()).toEqual(['org-wide', 'vk']);
    await gateway.delete(`/v1/virtual-keys/vk?${query}`);
    await gateway.delete('/v1/integrations/org-wide');
    expect(await slugs()).toEqual([]);

    await gateway.put('/v1/admin/organisation/settings', { request_logging: 'metrics_only' });
    expect((await load(workspaceId)).settings.request_logging).toBe('metrics_only');
    await gateway.put(`/v1/workspaces/${workspaceId}`, { defaults: { metadata: { team: 'a' } } });
    expect((await load(workspaceId)).metadata).toEqual({ team: 'a' });
  });

  test('a change elsewhere leaves a workspace in memory', async () => {
    await load();
    const elsewhere = await addOrganisation(gateway);
    statements = 0;
    await gateway.post('/v1/integrations', { name: 'A', ai_provider_id: 'sandbox' }, { key: elsewhere.adminKey });
    await load();
    expect(statements).toBe(0);
  });

  test('who asks after a change never joins a reading from before it', async () => {
    const { feed } = gateway.app.services;
    const overtaken = catalog.workspace(here.workspaceId);
    feed.announce([{ topic: 'catalog', id: here.workspaceId }]);
    const fresh = catalog.workspace(here.workspaceId);
    expect(fresh).not.toBe(overtaken);
    await Promise.all([overtaken, fresh]);
    expect(statements).toBe(2 * (await statementsOfOneReading()));
  });

  test('a reading that a change of the organisation overtook is made again', async () => {
    const joined = catalog.workspace(here.workspaceId);
    gateway.app.services.feed.announce([{ topic: 'catalog', id: here.organisationId }]);
    expect(catalog.workspace(here.workspaceId)).toBe(joined);
    expect(await joined).toMatchObject({ workspaceId: here.workspaceId });
    expect(statements).toBe(2 * (await statementsOfOneReading()));
  });

  test('a reading that fails is told to those who wait for it, and tried again by the next', async () => {
    const { vault, clock, feed } = gateway.app.services;
    let broken = true;
    const failing: KyselyPlugin = {
      transformQuery: ({ node }) => {
        if (broken) throw new Error('the store is away');
        return node;
      },
      transformResult: async ({ result }) => result,
    };
    const fragile = createCatalog({ db: storeOf(gateway).db.withPlugin(failing) }, feed, vault, clock, { capacity: 1 });
    expect(async () => fragile.workspace(here.workspaceId)).toThrow('the store is away');
    broken = false;
    expect(await fragile.workspace(here.workspaceId)).not.toBeNull();
  });

  test('while notices may be lost, memory is not trusted', async () => {
    await load();
    live = false;
    statements = 0;
    expect(catalog.workspace(here.workspaceId)).toBeInstanceOf(Promise);
    await load();
    expect(statements).toBe(await statementsOfOneReading());
    await load();
    expect(statements).toBe(2 * (await statementsOfOneReading()));
  });

  test('the workspace that was used longest ago is forgotten first', async () => {
    catalog = open(2);
    const [one, two, three] = [await newWorkspace(), await newWorkspace(), await newWorkspace()];
    const inMemory = (id: string) => !(catalog.workspace(id) instanceof Promise);
    await load(one.id);
    await load(two.id);
    await load(one.id);
    await load(three.id);
    expect([inMemory(one.id), inMemory(three.id), inMemory(two.id)]).toEqual([true, true, false]);
  });

  test('plans are found by id and slug, and compiled once', async () => {
    const { id: workspaceId } = await newWorkspace();
    const { id, version } = await saveConfig('pc-one', { provider: '@sandbox' }, workspaceId);
    const workspace = await load(workspaceId);
    const plan = workspace.plan('pc-one');
    expect(plan).toMatchObject({ id, saved: { configId: id, slug: 'pc-one', versionId: version } });
    expect(plan?.root).toMatchObject({ kind: 'leaf', provider: { from: 'saved', slug: 'sandbox' } });
    expect(workspace.plan(id)).toBe(plan);
    expect(workspace.plan('pc-two')).toBeNull();
  });

  test('a config that no longer compiles is missing by itself, told once, and without what stands in it', async () => {
    const { id: workspaceId } = await newWorkspace();
    await saveConfig('pc-good', { retry: { attempts: 1 } }, workspaceId);
    await saveConfig('pc-bad', { provider: 'openai', api_key: 'sk-canary', nonsense: 'sk-canary' }, workspaceId);
    await saveConfig('pc-text', 'sk-canary', workspaceId);
    const workspace = await load(workspaceId);
    expect(workspace.plan('pc-bad')).toBeNull();
    expect(workspace.plan('pc-bad')).toBeNull();
    expect(workspace.plan('pc-text')).toBeNull();
    expect(workspace.plan('pc-good')).not.toBeNull();
    expect(warnings).toEqual([expect.stringContaining('pc-bad'), expect.stringContaining('pc-text')]);
    expect(warnings.join()).not.toContain('canary');
  });

  test('a provider whose credential cannot be opened is missing by itself', async () => {
    const { id: workspaceId } = await newWorkspace();
    for (const slug of ['sound', 'broken']) {
      const body = {
        name: slug,
        slug: `${slug}-one`,
        ai_provider_id: 'openai',
        key: 'sk-0123',
        workspace_id: workspaceId,
      };
      expect((await gateway.post('/v1/integrations', body)).status).toBe(200);
    }
    const key_sealed = gateway.app.services.vault.seal('sk-0123', 'something-else');
    await storeOf(gateway)
      .db.updateTable('integrations')
      .set({ key_sealed })
      .where('slug', '=', 'broken-one')
      .execute();
    const workspace = await load(workspaceId);
    expect(workspace.providers.map(({ slug }) => slug)).toEqual(['sound-one']);
    expect(warnings).toEqual([expect.stringContaining('@broken-one')]);
  });

  test('the limit of a grant holds for the providers made from it', async () => {
    const { id: workspaceId } = await newWorkspace();
    await gateway.post('/v1/integrations', { name: 'Capped', slug: 'capped', ai_provider_id: 'sandbox' });
    await gateway.put('/v1/integrations/capped/workspaces', { workspaces: [{ id: workspaceId, enabled: true }] });
    await storeOf(gateway)
      .db.updateTable('integration_workspaces')
      .set({ status: 'exhausted' })
      .where('workspace_id', '=', workspaceId)
      .execute();
    expect(await provider('capped', workspaceId)).toMatchObject({ status: 'exhausted' });
  });
});
