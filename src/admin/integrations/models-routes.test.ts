/** The models of an integration over HTTP. */
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { onEachEngine, type TestGateway } from '../../../test/harness.ts';
import { addOrganisation } from '../../../test/people.ts';

onEachEngine('integration models', (start) => {
  let gateway: TestGateway;

  beforeAll(async () => {
    gateway = await start();
    await gateway.post('/v1/integrations', { name: 'Models', ai_provider_id: 'openai', key: 'sk-upstream-0123456789' });
  });
  afterAll(() => gateway.stopWithoutFaults());

  const path = '/v1/integrations/models/models';
  const put = (body: object) => gateway.put(path, body);
  const list = async () => (await gateway.get(path)).body;
  const modelOf = async (slug: string) => (await list()).models.find((model: { slug: string }) => model.slug === slug);

  test('the models of the catalogue are there from the beginning, and every one may be used', async () => {
    const { total, allow_all_models, models } = await list();
    expect(allow_all_models).toBe(true);
    expect(total).toBe(models.length);
    expect(total).toBeGreaterThan(20);
    expect(await modelOf('gpt-4o')).toEqual({
      slug: 'gpt-4o',
      name: expect.any(String),
      description: null,
      enabled: true,
      is_custom: false,
      is_finetune: false,
      base_model_slug: null,
      configurations: {},
      pricing_config: null,
    });
    const page = await gateway.get(`${path}?search=GPT-4O-M&page_size=1`);
    expect(page.body.models.map((model: { slug: string }) => model.slug)).toEqual(['gpt-4o-mini']);
  });

  test('a model that the catalogue does not know is custom or fine-tuned, and says so', async () => {
    const unknown = { slug: 'no-such-model', enabled: true };
    const refused = await put({ models: [unknown] });
    expect([refused.status, refused.body.data.errors[0].path]).toEqual([400, 'models.0.is_custom']);
    for (const base_model_slug of ['neither-this', undefined]) {
      const reply = await put({ models: [{ ...unknown, is_custom: true, base_model_slug }] });
      expect([reply.status, reply.body.data.errors[0].path]).toEqual([400, 'models.0.base_model_slug']);
    }
  });

  test('both spellings of the path set models, and those not listed stay', async () => {
    const first = await put({ models: [{ slug: 'gpt-4o', enabled: true }] });
    expect([first.status, first.body]).toEqual([200, {}]);
    const second = await gateway.put('/v1/integrations/models/integration-models', {
      models: [{ slug: 'gpt-4o-mini', enabled: 0 }],
      allow_all_models: false,
    });
    expect(second.status).toBe(200);
    const { models, allow_all_models } = await list();
    expect(allow_all_models).toBe(false);
    // What nothing is set for follows the switch.
    expect(models.filter((model: { enabled: boolean }) => model.enabled)).toHaveLength(1);
    expect((await modelOf('gpt-4o')).enabled).toBe(true);
    expect((await modelOf('gpt-4o-mini')).enabled).toBe(false);
    expect((await gateway.get('/v1/integrations/models')).body.allow_all_models).toBe(false);
  });

  test('a custom model has a base, an address, headers and a price of its own', async () => {
    const pricing_config = {
      type: 'static',
      pay_as_you_go: { request_token: { price: 0.1 }, additional_units: { web_search: { price: 1 } } },
    };
    const reply = await put({
      models: [
        {
          slug: 'ours/7b',
          enabled: true,
          is_custom: 'true',
          base_model_slug: 'gpt-4o',
          description: 'Tuned',
          configurations: { custom_host: 'https://a.example.com', custom_headers: { 'x-a': 'canary-header' } },
          pricing_config,
        },
      ],
    });
    expect(reply.status).toBe(200);
    expect(await modelOf('ours/7b')).toEqual({
      slug: 'ours/7b',
      name: 'ours/7b',
      description: 'Tuned',
      enabled: true,
      is_custom: true,
      is_finetune: false,
      base_model_slug: 'gpt-4o',
      configurations: { custom_host: 'https://a.example.com', masked_custom_headers: { 'x-a': 'ca*******er' } },
      pricing_config,
    });
  });

  test('what an update leaves out stays, null takes it away', async () => {
    await put({
      models: [{ slug: 'ours/7b', enabled: false, configurations: { custom_host: 'https://b.example.com' } }],
    });
    expect(await modelOf('ours/7b')).toMatchObject({
      enabled: false,
      is_custom: true,
      base_model_slug: 'gpt-4o',
      configurations: { custom_host: 'https://b.example.com', masked_custom_headers: { 'x-a': 'ca*******er' } },
      pricing_config: { type: 'static' },
    });
    await put({ models: [{ slug: 'ours/7b', enabled: true, configurations: null, pricing_config: null }] });
    expect(await modelOf('ours/7b')).toMatchObject({ configurations: {}, pricing_config: null, enabled: true });
  });

  test('wrong fields are named', async () => {
    const model = { slug: 'gpt-4.1', enabled: true };
    const wrong: [object, string][] = [
      [{}, 'models'],
      [{ models: [] }, 'models'],
      [{ models: [{ slug: 'gpt-4.1' }] }, 'models.0.enabled'],
      [{ models: [{ enabled: true }] }, 'models.0.slug'],
      [{ models: [model, model] }, 'models'],
      [{ models: [{ ...model, configurations: {} }] }, 'models.0.configurations'],
      [{ models: [{ ...model, configurations: { other: 1 } }] }, 'models.0.configurations.other'],
      [{ models: [{ ...model, configurations: { custom_host: 'no url' } }] }, 'models.0.configurations.custom_host'],
      [
        { models: [model, { ...model, slug: 'gpt-4.1-mini', configurations: { custom_host: 'http://127.0.0.1' } }] },
        'models.1.configurations.custom_host',
      ],
      [{ models: [{ ...model, is_custom: true }] }, 'models.0.base_model_slug'],
      [{ models: [{ ...model, is_finetune: true, base_model_slug: 'no-such-base' }] }, 'models.0.base_model_slug'],
      [
        { models: [{ ...model, pricing_config: { type: 'dynamic', pay_as_you_go: {} } }] },
        'models.0.pricing_config.type',
      ],
      [
        {
          models: [{ ...model, pricing_config: { type: 'static', pay_as_you_go: { request_token: { price: -1 } } } }],
        },
        'models.0.pricing_config.pay_as_you_go.request_token.price',
      ],
    ];
    for (const [body, place] of wrong) {
      const { status, body: answer } = await put(body);
      expect([status, answer.data.errors[0].path]).toEqual([400, place]);
    }
    expect((await modelOf('gpt-4.1')).enabled).toBe(false);
  });

  test('the models of a host of the customer are not held against the known ones', async () => {
    await gateway.post('/v1/integrations', {
      name: 'Hosted',
      ai_provider_id: 'openai',
      key: 'sk-upstream-0123456789',
      configurations: { custom_host: 'https://models.example.com/v1' },
    });
    const models = [{ slug: 'mine', enabled: true, is_custom: true, base_model_slug: 'also-mine' }];
    expect((await gateway.put('/v1/integrations/hosted/models', { models })).status).toBe(200);
  });

  test('custom models are removed, others disabled, unknown ones ignored', async () => {
    expect((await gateway.delete(path)).status).toBe(400);
    await put({ allow_all_models: true });
    expect((await modelOf('gpt-4.1-nano')).enabled).toBe(true);
    const reply = await gateway.delete(`${path}?slugs=gpt-4o,gpt-4.1-nano,never-seen`, { models: ['ours/7b'] });
    expect([reply.status, reply.body]).toEqual([200, {}]);
    expect(await modelOf('ours/7b')).toBeUndefined();
    expect((await modelOf('gpt-4o')).enabled).toBe(false);
    // One of the catalogue cannot be removed.
    expect((await modelOf('gpt-4.1-nano')).enabled).toBe(false);
    expect(await modelOf('never-seen')).toBeUndefined();
  });

  test('those of another tenant are not found, those of the organisation are closed to workspace keys', async () => {
    const { adminKey } = await addOrganisation(gateway);
    for (const [key, status] of [
      [adminKey, 404],
      [gateway.workspaceKey, 403],
      ['', 401],
    ] as const) {
      expect((await gateway.get(path, { key })).status).toBe(status);
      expect((await gateway.put(path, { allow_all_models: true }, { key })).status).toBe(status);
      expect((await gateway.delete(`${path}?slugs=gpt-4o`, undefined, { key })).status).toBe(status);
    }
  });
});
