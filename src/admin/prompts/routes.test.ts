/** Prompts over HTTP: versions, labels, publication, addressing. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { type Json, onEachEngine, type TestGateway } from '../../../test/harness.ts';

const chat = JSON.stringify([{ role: 'user', content: 'Hello {{name}}' }]);

onEachEngine('prompts', (start) => {
  let gateway: TestGateway;
  let collection: string;
  const base = () => ({
    name: 'Greeting',
    collection_id: collection,
    string: chat,
    parameters: { max_tokens: 10 },
    virtual_key: '@sandbox',
    model: 'sandbox-1',
  });
  const key = () => ({ key: gateway.workspaceKey });
  const make = async (fields: object = {}): Promise<Json> => {
    const { status, body } = await gateway.post('/v1/prompts', { ...base(), ...fields }, key());
    expect({ status, body }).toMatchObject({ status: 200, body: { object: 'prompt' } });
    return body;
  };
  beforeAll(async () => {
    gateway = await start();
    const { body } = await gateway.get('/v1/collections', key());
    expect(body).toMatchObject({ total: 1, data: [{ name: 'Default', is_default: 1 }] });
    collection = body.data[0].slug;
  });
  afterAll(() => gateway.stopWithoutFaults());

  test('the first version of a new prompt is published, with its variables', async () => {
    const { id, slug, version_id } = await make({ version_description: 'first' });
    expect(slug).toMatch(/^pp-greeting-[0-9a-f]{6}$/);
    const { body } = await gateway.get(`/v1/prompts/${slug}`, key());
    expect(body).toMatchObject({
      id,
      slug,
      name: 'Greeting',
      string: chat,
      parameters: { max_tokens: 10 },
      model: 'sandbox-1',
      virtual_key: 'sandbox',
      is_raw_template: 0,
      prompt_version: 1,
      prompt_version_id: version_id,
      prompt_version_status: 'active',
      prompt_version_description: 'first',
      prompt_version_label_id: null,
      labels: [],
      variables: [
        { name: 'name', type: 'text', required: true, uses: [{ within: '[0].content', line: 1, column: 7 }] },
      ],
    });
    expect((await gateway.get(`/v2/prompts/${id}`)).body.slug).toBe(slug);
  });

  test('content without patch must be complete; with patch the latest version fills the gaps', async () => {
    const { slug } = await make();
    const partly = await gateway.put(`/v1/prompts/${slug}`, { string: 'Hi' }, key());
    expect(partly.status).toBe(400);
    expect(partly.body.data.errors.map(({ path }: Json) => path)).toEqual(['parameters', 'model', 'virtual_key']);

    const second = await gateway.put(`/v1/prompts/${slug}`, { patch: true, string: 'Second' }, key());
    const third = await gateway.put(`/v1/prompts/${slug}?patch=true`, { parameters: { top_p: 1 } }, key());
    expect([second.status, third.status]).toEqual([200, 200]);
    const latest = await gateway.get(`/v1/prompts/${slug}?version=latest`, key());
    expect(latest.body).toMatchObject({
      prompt_version: 3,
      prompt_version_id: third.body.prompt_version_id,
      prompt_version_status: 'archived',
      string: 'Second',
      parameters: { top_p: 1 },
      model: 'sandbox-1',
    });
    expect((await gateway.get(`/v1/prompts/${slug}`, key())).body).toMatchObject({ prompt_version: 1, string: chat });

    expect((await gateway.put(`/v1/prompts/${slug}/makeDefault`, { version: 3 }, key())).body).toEqual({});
    expect((await gateway.get(`/v1/prompts/${slug}`, key())).body.prompt_version).toBe(3);
    const { body } = await gateway.get(`/v1/prompts/${slug}/versions`, key());
    expect(body.data.map((row: Json) => [row.prompt_version, row.status])).toEqual([
      [3, 'active'],
      [2, 'archived'],
      [1, 'archived'],
    ]);
    expect(body.data[0].prompt_template).toMatchObject({ string: 'Second', virtual_key: 'sandbox' });
  });

  test('name, collection, description and provider alone make no version', async () => {
    const { slug } = await make();
    const made = await gateway.post('/v1/collections', { name: 'Other' }, key());
    const renamed = await gateway.put(
      `/v1/prompts/${slug}`,
      { name: 'Renamed', collection_id: made.body.id, version_description: 'told', virtual_key: 'sandbox' },
      key(),
    );
    expect(renamed.body).toMatchObject({ slug });
    expect(renamed.body.prompt_version_id).toBeUndefined();
    expect((await gateway.get(`/v1/prompts/${slug}?version=latest`, key())).body).toMatchObject({
      name: 'Renamed',
      collection_id: made.body.id,
      prompt_version: 1,
      prompt_version_description: 'told',
    });
    const listed = await gateway.get(`/v1/prompts?collection_id=${made.body.slug}`, key());
    expect(listed.body).toMatchObject({ total: 1, data: [{ slug, model: 'sandbox-1' }] });
    expect((await gateway.get('/v1/prompts?search=rENam', key())).body.total).toBe(1);
    expect((await gateway.delete(`/v1/collections/${made.body.id}`, undefined, key())).status).toBe(409);
  });

  test('labels move between versions, and a deleted label is gone from them', async () => {
    const { slug } = await make();
    await gateway.put(`/v1/prompts/${slug}`, { patch: true, string: 'Two' }, key());
    const labels = await gateway.get('/v1/labels?search=prod', key());
    expect(labels.body).toMatchObject({ total: 1, data: [{ name: 'production', is_universal: true }] });
    const production = labels.body.data[0].id;
    const own = await gateway.post('/v1/labels', { name: `beta-${slug}` }, key());
    const put = (version: number, label_id: string | null) =>
      gateway.put(`/v1/prompts/${slug}/versions/${version}`, { label_id }, key());
    expect((await put(1, production)).body).toEqual({});
    await put(1, own.body.id);
    await put(2, production);
    const at = async (suffix: string) =>
      (await gateway.get(`/v1/prompts/${slug}@${suffix}`, key())).body.prompt_version;
    expect([await at('production'), await at(`beta-${slug}`), await at('latest'), await at('1')]).toEqual([2, 1, 2, 1]);
    await gateway.delete(`/v1/labels/${own.body.id}`, undefined, key());
    expect((await gateway.get(`/v1/prompts/${slug}@beta-${slug}`, key())).status).toBe(404);
    await put(2, null);
    expect((await gateway.get(`/v1/prompts/${slug}@production`, key())).status).toBe(404);
  });

  test('a deleted prompt is gone', async () => {
    const { slug } = await make();
    expect((await gateway.delete(`/v1/prompts/${slug}`, undefined, key())).body).toEqual({});
    expect((await gateway.get(`/v1/prompts/${slug}`, key())).status).toBe(404);
    expect((await gateway.delete(`/v1/prompts/${slug}`, undefined, key())).status).toBe(404);
  });

  describe('refusals', () => {
    const cases: [what: string, fields: object, status: number, path: string, says: RegExp][] = [
      ['a template that does not parse', { string: 'a\n{{#b}}' }, 400, 'string', /line 2, column 1/],
      [
        'a message that does not parse',
        { string: JSON.stringify([{ role: 'user', content: '{{x' }]) },
        400,
        'string',
        /\[0\]\.content, line 1, column 1/,
      ],
      ['a megabyte of tags', { string: '{{a}}'.repeat(190_000) }, 400, 'string', /10000 tags/],
      ['deep nesting', { string: '{{#a}}'.repeat(50_000) }, 400, 'string', /nested at most/],
      ['an unknown provider', { virtual_key: 'nobody' }, 404, 'virtual_key', /no provider/],
      ['parameters that are no object', { parameters: 'x' }, 400, 'parameters', /./],
      ['a tool that is no object', { tools: ['x'] }, 400, 'tools.0', /./],
    ];
    for (const [what, fields, status, path, says] of cases) {
      test(`${what} is refused with ${status} that names the place`, async () => {
        const answer = await gateway.post('/v1/prompts', { ...base(), ...fields }, key());
        expect({ status: answer.status, path: answer.body.data.errors?.[0]?.path }).toEqual({ status, path });
        expect(answer.body.data.errors[0].message).toMatch(says);
      });
    }

    test('an unknown collection, version or label is 404', async () => {
      const { slug } = await make();
      expect((await gateway.post('/v1/prompts', { ...base(), collection_id: 'nowhere' }, key())).status).toBe(404);
      expect((await gateway.put(`/v1/prompts/${slug}/makeDefault`, { version: 9 }, key())).status).toBe(404);
      expect((await gateway.get(`/v1/prompts/${slug}@9`, key())).status).toBe(404);
      expect((await gateway.get(`/v1/prompts/${slug}@nothing`, key())).status).toBe(404);
      const put = (label_id: unknown) => gateway.put(`/v1/prompts/${slug}/versions/1`, { label_id }, key());
      expect((await put('0199aaaa-0000-7000-8000-000000000000')).status).toBe(404);
      expect((await put(7)).status).toBe(400);
    });

    test('a patch with nothing to patch is 400', async () => {
      const { slug } = await make();
      expect((await gateway.put(`/v1/prompts/${slug}`, { patch: true, name: 'x' }, key())).status).toBe(400);
      expect((await gateway.put(`/v1/prompts/${slug}`, {}, key())).status).toBe(400);
    });
  });

  test('labels have names of their own kind', async () => {
    for (const name of ['12', 'latest', 'Default', 'a b', 'a@b', '']) {
      expect((await gateway.post('/v1/labels', { name }, key())).status).toBe(400);
    }
    expect((await gateway.post('/v1/labels', { name: 7 }, key())).status).toBe(400);
    expect((await gateway.post('/v1/labels', { name: 'production' }, key())).status).toBe(409);
    const made = await gateway.post('/v1/labels', { name: 'canary', color_code: '#fff' }, key());
    expect((await gateway.post('/v1/labels', { name: 'canary' }, key())).status).toBe(409);
    expect((await gateway.put(`/v1/labels/${made.body.id}`, { name: 'kite' }, key())).body).toEqual({});
    expect((await gateway.get(`/v1/labels/${made.body.id}`, key())).body).toMatchObject({
      name: 'kite',
      color_code: '#fff',
      is_universal: false,
    });
    const { body } = await gateway.get('/v1/labels?page_size=2&current_page=1', key());
    expect(body.data.every((label: Json) => label.is_universal)).toBe(true);
    const universal = body.data[0].id;
    expect((await gateway.put(`/v1/labels/${universal}`, { name: 'x' }, key())).status).toBe(403);
    expect((await gateway.delete(`/v1/labels/${universal}`, undefined, key())).status).toBe(403);
  });

  test('collections nest, and the default one stays', async () => {
    const outer = await gateway.post('/v1/collections', { name: 'Outer' }, key());
    const inner = await gateway.post(
      '/v1/collections',
      { name: 'Inner', parent_collection_id: outer.body.slug },
      key(),
    );
    const { body } = await gateway.get(`/v1/collections/${outer.body.id}`, key());
    expect(body).toMatchObject({
      name: 'Outer',
      collection_details: { child_collections_count: 1, prompts_count: 0 },
      child_collections: [{ id: inner.body.id, name: 'Inner' }],
    });
    expect((await gateway.delete(`/v1/collections/${outer.body.id}`, undefined, key())).status).toBe(409);
    expect((await gateway.put(`/v1/collections/${inner.body.id}`, { name: 'Changed' }, key())).body).toEqual({});
    expect((await gateway.delete(`/v1/collections/${inner.body.id}`, undefined, key())).body).toEqual({});
    expect((await gateway.delete(`/v1/collections/${collection}`, undefined, key())).status).toBe(404);
    expect((await gateway.get('/v1/collections')).status).toBe(400);
    const nowhere = await gateway.post('/v1/collections', { name: 'x', parent_collection_id: 'nowhere' }, key());
    expect(nowhere.status).toBe(404);
  });
});
