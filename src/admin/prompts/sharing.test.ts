/** Sharing prompts and partials between workspaces, and forking them. */
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { type Json, onEachEngine, type TestGateway } from '../../../test/harness.ts';

onEachEngine('shared prompts', (start) => {
  let gateway: TestGateway;
  let other: { id: string; slug: string; key: string };
  let owner: string;
  const own = () => ({ key: gateway.workspaceKey });
  const theirs = () => ({ key: other.key });
  beforeAll(async () => {
    gateway = await start();
    owner = (await gateway.get('/v1/workspaces')).body.data[0].id;
    const made = await gateway.post('/v1/admin/workspaces', { name: 'Other' });
    const key = await gateway.post('/v1/api-keys/workspace/service', {
      name: 'theirs',
      workspace_id: made.body.id,
      scopes: ['prompts.create', 'prompts.read', 'prompts.list', 'prompts.update', 'prompts.publish', 'prompts.delete'],
    });
    expect(key.status).toBe(200);
    other = { id: made.body.id, slug: made.body.slug, key: key.body.key };
    await gateway.post('/v1/integrations', { name: 'Sandbox', slug: 'everybodys', ai_provider_id: 'sandbox' });
    await gateway.put('/v1/integrations/everybodys/workspaces', {
      create_default_provider: false,
      workspaces: [owner, other.id].map((id) => ({ id, enabled: true })),
    });
    const provider = { name: 'Ours', slug: 'our-sandbox', integration_id: 'everybodys' };
    expect((await gateway.post('/v1/providers', provider, own())).status).toBe(200);
  });
  afterAll(() => gateway.stopWithoutFaults());

  const collectionOf = async (ask: { key: string }) => (await gateway.get('/v1/collections', ask)).body.data.at(-1).id;
  const makePrompt = async (string: string): Promise<Json> =>
    (
      await gateway.post(
        '/v1/prompts',
        {
          name: 'Shared',
          collection_id: await collectionOf(own()),
          string,
          parameters: {},
          virtual_key: 'our-sandbox',
          model: 'sandbox-1',
        },
        own(),
      )
    ).body;
  const makePartial = async (string: string): Promise<Json> =>
    (await gateway.post('/v1/prompts/partials', { name: 'Part', string }, own())).body;

  test('a prompt is unknown to other workspaces until it is shared, and then read-only', async () => {
    const { slug, id } = await makePrompt('Hello {{name}}');
    expect((await gateway.get(`/v1/prompts/${slug}`, theirs())).status).toBe(403);
    const shared = await gateway.post(
      `/v2/prompts/${slug}/share`,
      { type: 'workspaces', workspaces: [other.slug] },
      own(),
    );
    expect(shared.body).toEqual({ id, type: 'workspaces', workspaces: [other.id], object: 'prompt-share' });
    expect((await gateway.get(`/v1/prompts/${slug}`, theirs())).body).toMatchObject({
      slug,
      read_only: true,
      owner_workspace_id: owner,
    });
    const list = await gateway.get('/v1/prompts?type=shared', theirs());
    expect(list.body).toMatchObject({ total: 1, data: [{ slug, read_only: true }] });
    expect((await gateway.get('/v1/prompts', theirs())).body.total).toBe(0);
    const told = await gateway.get('/v1/prompts?show_prompt_share=true', own());
    expect(told.body.data[0].share).toEqual({ type: 'workspaces', workspaces: [other.id] });
    for (const refused of [
      await gateway.put(`/v1/prompts/${slug}`, { name: 'x' }, theirs()),
      await gateway.put(`/v1/prompts/${slug}/makeDefault`, { version: 1 }, theirs()),
      await gateway.delete(`/v1/prompts/${slug}`, undefined, theirs()),
      await gateway.post(`/v2/prompts/${slug}/share`, { type: 'organisation' }, theirs()),
    ]) {
      expect(refused.status).toBe(403);
    }
    const again = await gateway.post(
      `/v2/prompts/${slug}/share`,
      { type: 'workspaces', workspaces: [other.id] },
      own(),
    );
    expect(again.status).toBe(409);
    expect((await gateway.put(`/v2/prompts/${slug}/share`, { type: 'organisation' }, own())).status).toBe(200);
    expect((await gateway.delete(`/v2/prompts/${slug}/unshare`, undefined, own())).body).toEqual({});
    expect((await gateway.get(`/v1/prompts/${slug}`, theirs())).status).toBe(403);
    expect((await gateway.get('/v1/prompts?type=shared', theirs())).body.total).toBe(0);
  });

  test('a prompt is shared together with its partials or not at all', async () => {
    const inner = await makePartial('deep');
    const outer = await makePartial(`{{>${inner.slug}}}`);
    const { slug } = await makePrompt(`{{>${outer.slug}}}`);
    const audience = { type: 'workspaces', workspaces: [other.id] };
    const refused = await gateway.post(`/v2/prompts/${slug}/share`, audience, own());
    expect(refused.status).toBe(400);
    expect(refused.body.data.message).toContain(outer.slug);
    expect(refused.body.data.message).toContain(inner.slug);
    const both = await gateway.post(`/v2/prompts/${slug}/share`, { ...audience, include_partials: true }, own());
    expect(both.status).toBe(200);
    expect((await gateway.get('/v1/prompts/partials?type=shared', theirs())).body.total).toBe(2);
    expect((await gateway.get(`/v1/prompts/partials/${inner.slug}`, theirs())).body).toMatchObject({
      string: 'deep',
      read_only: true,
    });
    expect((await gateway.delete(`/v2/prompts/partials/${inner.slug}/share`, undefined, own())).status).toBe(200);
    expect((await gateway.get(`/v1/prompts/partials/${inner.slug}`, theirs())).status).toBe(403);
  });

  test('text that a caller sends names the partials of its own workspace, not those of the prompt’s', async () => {
    const kept = await makePartial('a secret of the owner');
    const named = await makePartial('told to everybody');
    const { slug } = await makePrompt(`{{>${named.slug}}}: {{>>addition}}`);
    const shared = { type: 'organisation', include_partials: true };
    expect((await gateway.post(`/v2/prompts/${slug}/share`, shared, own())).status).toBe(200);
    const scopes = ['prompts.render'];
    const reader = await gateway.post('/v1/api-keys/workspace/service', { name: 'r', workspace_id: other.id, scopes });
    const owners = await gateway.post('/v1/api-keys/workspace/service', { name: 'o', workspace_id: owner, scopes });
    const render = async (key: string, addition: string) => {
      const { status, body } = await gateway.post(`/v1/prompts/${slug}/render`, { variables: { addition } }, { key });
      return { status, text: JSON.stringify(body) };
    };
    const refused = await render(reader.body.key, `{{>${kept.slug}}}`);
    expect([refused.status, refused.text.includes('secret of the owner')]).toEqual([404, false]);
    expect((await render(reader.body.key, `{{>${named.slug}}}`)).text).toContain(
      'told to everybody: told to everybody',
    );
    const mine = await gateway.post('/v1/prompts/partials', { name: 'Mine', string: 'of the reader' }, theirs());
    expect((await render(reader.body.key, `{{>${mine.body.slug}}}`)).text).toContain('of the reader');
    expect((await render(owners.body.key, `{{>${kept.slug}}}`)).text).toContain('a secret of the owner');
    expect((await render(owners.body.key, `{{>${mine.body.slug}}}`)).status).toBe(404);
  });

  test('a fork needs the integration and the partials, and has a history of its own', async () => {
    const partial = await makePartial('x');
    const { slug } = await makePrompt(`Hello {{>${partial.slug}}}`);
    await gateway.post(`/v2/prompts/${slug}/share`, { type: 'organisation', include_partials: true }, own());
    const without = await gateway.post(`/v2/prompts/${slug}/fork`, {}, theirs());
    expect({ status: without.status, message: without.body.data.message }).toEqual({
      status: 403,
      message: expect.stringContaining('our-sandbox'),
    });
    const provider = await gateway.post('/v1/providers', {
      name: 'Theirs',
      slug: 'their-sandbox',
      integration_id: 'everybodys',
      workspace_id: other.id,
    });
    expect(provider.status).toBe(200);
    await gateway.delete(`/v2/prompts/partials/${partial.slug}/share`, undefined, own());
    const hidden = await gateway.post(`/v2/prompts/${slug}/fork`, {}, theirs());
    expect({ status: hidden.status, message: hidden.body.data.message }).toEqual({
      status: 400,
      message: expect.stringContaining(partial.slug),
    });
    await gateway.post(`/v2/prompts/partials/${partial.slug}/share`, { type: 'organisation' }, own());
    const forked = await gateway.post(`/v2/prompts/${slug}/fork`, { name: 'Mine' }, theirs());
    expect(forked.status).toBe(200);
    expect((await gateway.get(`/v1/prompts/${forked.body.slug}`, theirs())).body).toMatchObject({
      name: 'Mine',
      virtual_key: 'their-sandbox',
      prompt_version: 1,
      workspace_id: other.id,
    });
    expect((await gateway.post(`/v2/prompts/${slug}/fork`, {})).status).toBe(400);
    const copied = await gateway.post(`/v2/prompts/partials/${partial.slug}/fork`, {}, theirs());
    expect((await gateway.get(`/v1/prompts/partials/${copied.body.slug}`, theirs())).body.string).toBe('x');
  });

  test('partials that would contain themselves are refused with the place', async () => {
    const first = await makePartial('first');
    const second = await makePartial(`second {{>${first.slug}}}`);
    const itself = await gateway.put(`/v1/prompts/partials/${first.slug}`, { string: `a\n {{>${first.slug}}}` }, own());
    expect(itself.body.data.message).toContain('string: line 2, column 2');
    const round = await gateway.put(`/v1/prompts/partials/${first.slug}`, { string: `{{>${second.slug}}}` }, own());
    expect(round.status).toBe(400);
    expect(round.body.data.message).toContain(`leads back to ${first.slug} through ${second.slug}`);
  });

  test('a partial has versions, and only another text makes one', async () => {
    const { slug, version_id } = await makePartial('one');
    const same = await gateway.put(`/v1/prompts/partials/${slug}`, { string: 'one', description: 'told' }, own());
    expect(same.body.prompt_partial_version_id).toBe(version_id);
    await gateway.put(`/v1/prompts/partials/${slug}`, { string: 'two' }, own());
    expect((await gateway.get(`/v1/prompts/partials/${slug}`, own())).body).toMatchObject({
      string: 'one',
      version: 1,
    });
    expect((await gateway.get(`/v1/prompts/partials/${slug}?version=latest`, own())).body.string).toBe('two');
    expect((await gateway.put(`/v1/prompts/partials/${slug}/makeDefault`, { version: 2 }, own())).body).toEqual({});
    expect((await gateway.get(`/v1/prompts/partials/${slug}`, own())).body).toMatchObject({
      string: 'two',
      version: 2,
    });
    const { body } = await gateway.get(`/v1/prompts/partials/${slug}/versions`, own());
    expect(body.data.map(({ version, prompt_version_status }: Json) => [version, prompt_version_status])).toEqual([
      [2, 'active'],
      [1, 'archived'],
    ]);
    expect((await gateway.delete(`/v1/prompts/partials/${slug}`, undefined, own())).body).toEqual({});
    expect((await gateway.get(`/v1/prompts/partials/${slug}`, own())).status).toBe(404);
    expect((await gateway.post('/v1/prompts/partials', { name: 'x', string: 'y' })).status).toBe(400);
  });

  test('a workspace that shares something is not archived, even by force', async () => {
    const made = (await gateway.post('/v1/admin/workspaces', { name: 'Leaving' })).body;
    const partial = await gateway.post('/v1/prompts/partials', { name: 'p', string: 'x', workspace_id: made.id });
    await gateway.post(`/v2/prompts/partials/${partial.body.slug}/share`, { type: 'organisation' });
    const archive = () => gateway.delete(`/v1/admin/workspaces/${made.id}`, { name: 'Leaving', force_delete: true });
    expect((await archive()).status).toBe(409);
    await gateway.post(`/v2/prompts/partials/${partial.body.slug}/unshare`);
    expect((await archive()).status).toBe(200);
  });
});
