/** Saved configs, through the API. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { type Json, onEachEngine, type TestGateway } from '../../../test/harness.ts';
import {
  addKey,
  addOrganisation,
  addPerson,
  addWorkspace,
  archiveWorkspace,
  type Home,
  home,
} from '../../../test/people.ts';
import { when } from '../../../test/plans.ts';

const retry = { retry: { attempts: 3 } };
const everything = ['configs.create', 'configs.read', 'configs.update', 'configs.delete', 'configs.list'] as const;

onEachEngine('configs', (start) => {
  let gateway: TestGateway;
  let place: Home;
  let team: { id: string; slug: string };
  let teamKey: string;
  beforeAll(async () => {
    gateway = await start({ TRUSTED_CUSTOM_HOSTS: 'models.corp.example' });
    place = await home(gateway);
    team = await addWorkspace(gateway, place.organisationId, 'Team');
    const key = await addKey(gateway, {
      organisationId: place.organisationId,
      workspaceId: team.id,
      type: 'workspace-service',
      scopes: [...everything],
    });
    teamKey = key.secret;
  });
  afterAll(() => gateway.stopWithoutFaults());

  const save = (body: Json = {}, key?: string) =>
    gateway.post('/v1/configs', { name: 'A config', config: retry, ...body }, key === undefined ? {} : { key });
  const saved = async (body: Json = {}, key?: string) => {
    const reply = await save(body, key);
    expect(reply.status).toBe(200);
    return reply.body as { id: string; slug: string; version_id: string };
  };
  const read = async (config: string) => (await gateway.get(`/v1/configs/${config}`)).body;
  const inTeam = (body: Json = {}) => ({ workspace_id: team.id, ...body });

  describe('saving', () => {
    test('a config gets a slug and a first version, told in both forms', async () => {
      const { body } = await save({ name: 'PII redaction' });
      expect(body).toMatchObject({ success: true, object: 'config' });
      expect(body.slug).toMatch(/^pc-pii-re-[0-9a-f]{6}$/);
      expect(body.data).toEqual({ id: body.id, slug: body.slug, version_id: body.version_id });
    });

    test('without a workspace it goes to the default one; a key’s own comes first', async () => {
      expect((await read((await saved()).id)).workspace_id).toBe(place.workspaceId);
      expect((await read((await saved(inTeam({ workspace_id: team.slug }))).id)).workspace_id).toBe(team.id);
      expect((await read((await saved({}, teamKey)).id)).workspace_id).toBe(team.id);
    });

    test('a config may be sent as its JSON text, and in camelCase', async () => {
      const { id } = await saved({ config: JSON.stringify({ requestTimeout: 500, overrideParams: { maxTokens: 1 } }) });
      expect((await read(id)).config).toEqual({ request_timeout: 500, override_params: { maxTokens: 1 } });
    });

    test('the person who made it is its owner; a service key leaves none', async () => {
      const byPerson = await saved({}, place.owner.session);
      expect(await read(byPerson.id)).toMatchObject({ owner_id: place.owner.userId, updated_by: place.owner.userId });
      expect(await read((await saved()).id)).toMatchObject({ owner_id: null, updated_by: null });
    });

    test('what can never have an effect is pointed out', async () => {
      const conditions = [when({ 'metadata.plan': { $unheard: 1 } }, 'a')];
      const config = {
        strategy: { mode: 'conditional', conditions, default: 'a' },
        targets: [{ name: 'a', provider: '@a' }],
      };
      expect((await save({ config })).body.warnings[0]).toContain('$unheard');
      expect((await save()).body.warnings).toBeUndefined();
    });

    test.each([
      [{}, 'config'],
      [{ unheard: 1 }, 'config.unheard'],
      [{ retry: { attempts: 'x' } }, 'config.retry.attempts'],
      [{ strategy: { mode: 'loadbalance' }, targets: [{ provider: '@a', weight: -1 }] }, 'config.targets.0.weight'],
      [{ strategy: { mode: 'fallback' }, targets: [{ provider: '@a' }, { provider: 'openai' }] }, 'config.targets.1'],
      [{ strategy: { mode: 'fallback' } }, 'config.targets'],
      [{ provider: 'openai', custom_host: 'http://169.254.169.254' }, 'config.custom_host'],
      [{ provider: 'openai', custom_host: 'http://10.0.0.1' }, 'config.custom_host'],
      [{ provider: 'openai', api_key: 'sk*******yz' }, 'config.api_key'],
      [[], 'config'],
      ['{', 'config'],
    ])('%j is refused with the path of the fault', async (config, path) => {
      const { status, body } = await save({ config });
      expect(status).toBe(400);
      expect(body.data.errors.map((error: Json) => error.path)).toContain(path);
    });

    test('a host that the operator trusts is taken', async () => {
      expect(
        (await save({ config: { provider: 'openai', custom_host: 'https://models.corp.example/v1' } })).status,
      ).toBe(200);
    });

    test('other fields are bounded', async () => {
      expect((await save({ name: '' })).status).toBe(400);
      expect((await save({ name: 'x'.repeat(256) })).status).toBe(400);
      expect((await gateway.post('/v1/configs', { name: 'x' })).status).toBe(400);
      expect((await save({ name: '🙂' })).body.slug).toMatch(/^pc-[0-9a-f]{6}$/);
    });

    test('an archived workspace takes no config', async () => {
      const old = await addWorkspace(gateway, place.organisationId, 'Old');
      await archiveWorkspace(gateway, old.id);
      expect((await save({ workspace_id: old.id })).status).toBe(400);
    });
  });

  describe('reading', () => {
    test('by id or slug, under both versions of the API, as the superset of what clients expect', async () => {
      const made = await saved({ name: 'Main' });
      const record = await read(made.slug);
      expect(record).toMatchObject({
        success: true,
        object: 'config',
        id: made.id,
        slug: made.slug,
        name: 'Main',
        organisation_id: place.organisationId,
        workspace_id: place.workspaceId,
        is_default: 0,
        status: 'active',
        config: retry,
        data: { config: retry },
        format: 'json',
        type: 'ORG_CONFIG',
        version_id: made.version_id,
      });
      expect((await gateway.get(`/v2/configs/${made.id}`)).body).toEqual(record);
    });

    test('credentials are kept sealed and shown masked', async () => {
      const config = { provider: 'openai', api_key: 'sk-canary-0123456789' };
      const made = await saved({ config });
      const record = await read(made.id);
      expect(record.config).toEqual({ provider: 'openai', api_key: 'sk*******89' });
      const { db } = gateway.app.services.store;
      const versions = await db.selectFrom('config_versions').selectAll().where('config_id', '=', made.id).execute();
      const rows = await db.selectFrom('audit_logs').selectAll().where('resource_id', '=', made.id).execute();
      expect(JSON.stringify([record, versions, rows])).not.toContain('canary');
      expect(rows).toHaveLength(1);
    });

    test('a credential in a config sent as text stays out of the audit trail', async () => {
      const made = await saved({ config: JSON.stringify({ provider: 'openai', api_key: 'sk-canary-0123456789' }) });
      const { db } = gateway.app.services.store;
      const rows = await db.selectFrom('audit_logs').selectAll().where('resource_id', '=', made.id).execute();
      expect(rows).toHaveLength(1);
      expect(JSON.stringify(rows)).not.toContain('canary');
    });

    test('what does not exist, or is another tenant’s, is 404', async () => {
      const elsewhere = await addOrganisation(gateway);
      const theirs = await saved({}, elsewhere.adminKey);
      const gone = [theirs.id, theirs.slug, Bun.randomUUIDv7(), 'pc-none-000000'];
      for (const config of gone) {
        for (const reply of [
          await gateway.get(`/v1/configs/${config}`),
          await gateway.get(`/v1/configs/${config}/versions`),
          await gateway.put(`/v1/configs/${config}`, { name: 'x' }),
          await gateway.delete(`/v1/configs/${config}`),
        ]) {
          expect(reply.status).toBe(404);
          expect(reply.body.data.errorCode).toBe('AB08');
        }
      }
      expect((await gateway.get(`/v1/configs/${theirs.id}`, { key: elsewhere.adminKey })).body.name).toBe('A config');
    });

    test('a key of another workspace is refused with 403, a workspace named in error answers 404', async () => {
      const { id } = await saved();
      for (const reply of [
        await gateway.get(`/v1/configs/${id}`, { key: teamKey }),
        await gateway.put(`/v1/configs/${id}`, { name: 'x' }, { key: teamKey }),
        await gateway.delete(`/v1/configs/${id}`, undefined, { key: teamKey }),
        await save({ workspace_id: place.workspaceId }, teamKey),
        await gateway.get(`/v1/configs?workspace_id=${place.workspaceId}`, { key: teamKey }),
      ]) {
        expect(reply.status).toBe(403);
        expect(reply.body.data.errorCode).toBe('AB03');
      }
      expect((await gateway.get(`/v1/configs/${id}?workspace_id=${team.id}`)).status).toBe(404);
    });
  });

  describe('listing', () => {
    test('newest first, by workspace or all together, without the configs themselves', async () => {
      const elsewhere = await addOrganisation(gateway);
      const second = await addWorkspace(gateway, elsewhere.organisationId, 'Second');
      const made: string[] = [];
      for (const workspace_id of [elsewhere.workspaceId, second.id, second.id]) {
        made.push((await saved({ workspace_id }, elsewhere.adminKey)).id);
        gateway.clock.advance({ seconds: 1 });
      }
      const list = async (query = '') => (await gateway.get(`/v1/configs${query}`, { key: elsewhere.adminKey })).body;
      const all = await list();
      expect(all).toMatchObject({ success: true, object: 'list', total: 3 });
      expect(all.data.map((row: Json) => row.id)).toEqual(made.toReversed());
      for (const absent of ['config', 'format', 'type', 'version_id']) expect(all.data[0]).not.toHaveProperty(absent);
      expect((await list(`?workspace_id=${second.slug}`)).total).toBe(2);
      const page = await list('?current_page=1&page_size=2');
      expect(page).toMatchObject({ total: 3, data: [{ id: made[0] }] });
      await gateway.delete(`/v1/configs/${made[0]}`, undefined, { key: elsewhere.adminKey });
      expect((await list()).total).toBe(2);
    });

    test('people see the configs of their workspaces', async () => {
      await saved(inTeam({ name: 'Of the team' }));
      const member = await addPerson(gateway, place.organisationId, 'member', { workspaces: { [team.id]: 'member' } });
      const { body } = await gateway.get('/v1/configs', { key: member.session });
      expect(body.total).toBeGreaterThan(0);
      expect(new Set(body.data.map((row: Json) => row.workspace_id))).toEqual(new Set([team.id]));
      expect((await save(inTeam(), member.session)).status).toBe(403);
      const manager = await addPerson(gateway, place.organisationId, 'member', {
        workspaces: { [team.id]: 'manager' },
      });
      expect((await save(inTeam(), manager.session)).status).toBe(200);
      // Without a workspace named it would go to the default one, where they are nobody.
      expect((await save({}, manager.session)).status).toBe(403);
    });
  });

  describe('changing', () => {
    test('a changed config is a new version, anything else is not', async () => {
      const made = await saved();
      const put = async (body: Json) => (await gateway.put(`/v1/configs/${made.slug}`, body)).body;
      const renamed = await put({ name: 'Renamed' });
      expect(renamed).toEqual({
        success: true,
        object: 'config',
        version_id: made.version_id,
        data: { version_id: made.version_id },
      });
      expect((await put({ config: { retry: { attempts: 3 } } })).version_id).toBe(made.version_id);
      gateway.clock.advance({ seconds: 1 });
      const changed = await put({ config: { cache: { mode: 'simple' } } });
      expect(changed.version_id).not.toBe(made.version_id);
      expect(await read(made.id)).toMatchObject({
        name: 'Renamed',
        slug: made.slug,
        config: { cache: { mode: 'simple' } },
        version_id: changed.version_id,
      });
      const { body } = await gateway.get(`/v1/configs/${made.slug}/versions`);
      expect(body).toMatchObject({
        object: 'list',
        total: 2,
        data: [
          { id: made.id, object: 'config', version_id: changed.version_id, config: '{"cache":{"mode":"simple"}}' },
          { id: made.id, object: 'config', version_id: made.version_id, config: '{"retry":{"attempts":3}}' },
        ],
      });
      const page = await gateway.get(`/v1/configs/${made.slug}/versions?page_size=1&current_page=1`);
      expect(page.body.data[0].version_id).toBe(made.version_id);
    });

    test('a config that was read can be sent back: its credentials stay', async () => {
      const made = await saved({ config: { provider: 'openai', api_key: 'sk-canary-0123456789' } });
      const { config } = await read(made.id);
      const same = await gateway.put(`/v1/configs/${made.id}`, { config });
      expect(same.body.version_id).toBe(made.version_id);
      const changed = await gateway.put(`/v1/configs/${made.id}`, { config: { ...config, request_timeout: 9 } });
      expect(changed.body.version_id).not.toBe(made.version_id);
      const { vault, store } = gateway.app.services;
      const row = await store.db
        .selectFrom('config_versions')
        .select('config_sealed')
        .where('id', '=', changed.body.version_id)
        .executeTakeFirstOrThrow();
      expect(JSON.parse(vault.open(row.config_sealed, 'config'))).toEqual({
        provider: 'openai',
        api_key: 'sk-canary-0123456789',
        request_timeout: 9,
      });
    });

    test('a workspace has one default', async () => {
      const first = await saved(inTeam({ isDefault: 1 }));
      const second = await saved(inTeam({ is_default: true }));
      expect([(await read(first.id)).is_default, (await read(second.id)).is_default]).toEqual([0, 1]);
      await gateway.put(`/v1/configs/${first.id}`, { isDefault: 1 });
      expect([(await read(first.id)).is_default, (await read(second.id)).is_default]).toEqual([1, 0]);
      await gateway.put(`/v1/configs/${first.id}`, { name: 'Still' });
      expect((await read(first.id)).is_default).toBe(1);
      await gateway.put(`/v1/configs/${first.id}`, { isDefault: 0 });
      expect((await read(first.id)).is_default).toBe(0);
    });

    test('an archived config is gone until its status is set back', async () => {
      const { id } = await saved({ isDefault: true });
      expect((await gateway.put(`/v1/configs/${id}`, { status: 'archived' })).status).toBe(200);
      expect((await gateway.get(`/v1/configs/${id}`)).status).toBe(404);
      expect((await gateway.put(`/v1/configs/${id}`, { name: 'x' })).status).toBe(404);
      expect((await gateway.put(`/v1/configs/${id}`, { status: 'active' })).status).toBe(200);
      expect(await read(id)).toMatchObject({ status: 'active', is_default: 0 });
      expect((await gateway.put(`/v1/configs/${id}`, { status: 'archived', isDefault: true })).status).toBe(400);
    });

    test('nothing to change, and wrong values, are refused', async () => {
      const { id, version_id } = await saved();
      expect((await gateway.put(`/v1/configs/${id}`, {})).status).toBe(400);
      expect((await gateway.put(`/v1/configs/${id}`, { unheard: 1 })).status).toBe(400);
      expect((await gateway.put(`/v1/configs/${id}`, { status: 'paused' })).status).toBe(400);
      const wrong = await gateway.put(`/v1/configs/${id}`, { name: 'Lost', config: { retry: { attempts: -1 } } });
      expect(wrong.status).toBe(400);
      expect(wrong.body.data.errors[0].path).toBe('config.retry.attempts');
      expect(await read(id)).toMatchObject({ name: 'A config', version_id });
    });
  });

  describe('deleting', () => {
    test('a deleted config is gone, its slug stays reserved', async () => {
      const { id, slug } = await saved();
      const { status, body } = await gateway.delete(`/v1/configs/${slug}`);
      expect([status, body]).toEqual([200, {}]);
      expect((await gateway.get(`/v1/configs/${id}`)).status).toBe(404);
      expect((await gateway.delete(`/v1/configs/${id}`)).status).toBe(404);
    });

    test('a config that user keys of the workspace start with stays', async () => {
      const { id, slug } = await saved(inTeam());
      const setDefault = (config: string | null) =>
        gateway.put(`/v1/workspaces/${team.id}`, { defaults: { user_api_key_config: config } });
      expect((await setDefault(id)).body.defaults.user_api_key_config).toBe(slug);
      for (const reply of [
        await gateway.delete(`/v1/configs/${slug}`),
        await gateway.put(`/v1/configs/${slug}`, { status: 'archived' }),
      ]) {
        expect(reply.status).toBe(409);
        expect(reply.body.data.errorCode).toBe('AB07');
      }
      await setDefault(null);
      expect((await gateway.delete(`/v1/configs/${slug}`)).status).toBe(200);
      expect((await setDefault(slug)).status).toBe(400);
    });

    test('a workspace with configs is deleted only by force, and they go with it', async () => {
      const doomed = await addWorkspace(gateway, place.organisationId, 'Doomed');
      const { id } = await saved({ workspace_id: doomed.id });
      const refused = await gateway.delete(`/v1/workspaces/${doomed.id}`, { name: 'Doomed' });
      expect(refused.status).toBe(409);
      expect(refused.body.data.message).toContain('configs (1)');
      const forced = await gateway.delete(`/v1/workspaces/${doomed.id}`, { name: 'Doomed', force_delete: true });
      expect(forced.status).toBe(200);
      expect((await gateway.get(`/v1/configs/${id}`)).status).toBe(404);
      expect((await gateway.put(`/v1/configs/${id}`, { status: 'active' })).status).toBe(400);
    });
  });

  test('every write tells the gateway which workspace changed, and leaves an audit row', async () => {
    const heard: string[] = [];
    gateway.app.services.feed.subscribe((changes) => {
      if (changes === 'all') return;
      for (const { topic, id } of changes) if (topic === 'catalog') heard.push(id);
    });
    const { id } = await saved(inTeam());
    await gateway.put(`/v1/configs/${id}`, { name: 'Other' });
    await gateway.delete(`/v1/configs/${id}`);
    expect(heard.filter((workspace) => workspace === team.id).length).toBeGreaterThanOrEqual(3);
    const rows = await gateway.app.services.store.db
      .selectFrom('audit_logs')
      .select(['resource_type', 'action', 'workspace_id'])
      .where('resource_id', '=', id)
      .orderBy('id')
      .execute();
    expect(rows).toEqual(
      ['create', 'update', 'delete'].map((action) => ({ resource_type: 'config', action, workspace_id: team.id })),
    );
  });

  test('without a credential or a scope nothing is served', async () => {
    expect((await gateway.get('/v1/configs', { key: '' })).status).toBe(401);
    const narrow = await addKey(gateway, {
      organisationId: place.organisationId,
      workspaceId: team.id,
      type: 'workspace-service',
      scopes: ['configs.list'],
    });
    const { id } = await saved(inTeam());
    expect((await gateway.get('/v1/configs', { key: narrow.secret })).status).toBe(200);
    expect((await gateway.get(`/v1/configs/${id}`, { key: narrow.secret })).status).toBe(403);
    expect((await save({}, narrow.secret)).status).toBe(403);
  });
});
