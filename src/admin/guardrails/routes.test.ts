/** Guardrails over HTTP. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { onEachEngine, type TestGateway } from '../../../test/harness.ts';

const words = { id: 'default.contains', parameters: { words: ['secret'], operator: 'none' } };

onEachEngine('guardrails', (start) => {
  let gateway: TestGateway;
  beforeAll(async () => {
    gateway = await start();
  });
  afterAll(() => gateway.stopWithoutFaults());

  const byKey = () => ({ key: gateway.workspaceKey });
  const make = async (more: object = {}, options = {}) =>
    gateway.post('/v1/guardrails', { name: 'No secrets', checks: [words], actions: { deny: true }, ...more }, options);
  const faultOf = async (more: object) => {
    const { status, body } = await make(more, byKey());
    return [status, body.data?.errors?.[0]?.path];
  };

  test('a workspace key saves one of its workspace, an admin key one of the organisation', async () => {
    const own = await make({}, byKey());
    expect(own.body.slug).toMatch(/^guard-no-sec-[0-9a-f]{6}$/);
    const { body } = await gateway.get(`/v1/guardrails/${own.body.slug}`, byKey());
    expect(body).toMatchObject({
      object: 'guardrail',
      version_id: own.body.version_id,
      checks: [{ ...words, is_enabled: true }],
      actions: { deny: true },
    });
    expect(body.workspace_id).not.toBeNull();
    const shared = await make();
    const read = await gateway.get(`/v1/guardrails/${shared.body.id}`, byKey());
    expect(read.body.workspace_id).toBeNull();
    const change = await gateway.put(`/v1/guardrails/${shared.body.id}`, { name: 'mine' }, byKey());
    expect(change.status).toBe(403);
  });

  test('the list has pages and takes ids and slugs', async () => {
    const a = (await make({ name: 'a' }, byKey())).body;
    const b = (await make({ name: 'b' }, byKey())).body;
    const { body } = await gateway.get(`/v1/guardrails?ids=${a.id},${b.slug},unknown`, byKey());
    expect(body).toMatchObject({ object: 'list', total: 2, has_more: false });
    expect(body.data.map((row: { id: string }) => row.id)).toEqual([b.id, a.id]);
    expect(body.data[0]).not.toHaveProperty('checks');
    const page = await gateway.get('/v1/guardrails?current_page=0&page_size=1', byKey());
    expect([page.body.data.length, page.body.has_more]).toEqual([1, true]);
  });

  test('changed checks are a new version, and every version is kept', async () => {
    const { body } = await make({}, byKey());
    const renamed = await gateway.put(`/v1/guardrails/${body.slug}`, { name: 'other' }, byKey());
    expect(renamed.body.version_id).toBe(body.version_id);
    const changed = await gateway.put(`/v1/guardrails/${body.slug}`, { checks: [{ id: 'default.notNull' }] }, byKey());
    expect(changed.body.version_id).not.toBe(body.version_id);
    const versions = await gateway.get(`/v1/guardrails/${body.slug}/versions`, byKey());
    expect(versions.body.data.map((version: { version_id: string }) => version.version_id)).toEqual([
      changed.body.version_id,
      body.version_id,
    ]);
  });

  describe('what the engine could not run is refused with its place', () => {
    const cases: [what: string, more: object, path: string][] = [
      ['an unknown check', { checks: [{ id: 'default.unknown' }] }, 'checks.0.id'],
      [
        'a parameter of the wrong type',
        { checks: [words, { id: 'default.wordCount', parameters: { minWords: 'x' } }] },
        'checks.1.parameters.minWords',
      ],
      [
        'an unknown parameter',
        { checks: [{ id: 'default.notNull', parameters: { nought: 1 } }] },
        'checks.0.parameters.nought',
      ],
      [
        'a pattern that does not compile',
        { checks: [{ id: 'default.regexMatch', parameters: { rule: '(' } }] },
        'checks.0.parameters.rule',
      ],
      [
        'a private address',
        { checks: [{ id: 'default.webhook', parameters: { webhookURL: 'http://169.254.169.254/x' } }] },
        'checks.0.parameters.webhookURL',
      ],
      [
        'a header that is never forwarded',
        {
          checks: [
            {
              id: 'default.webhook',
              parameters: { webhookURL: 'https://a.example', forwardHeaders: ['authorization'] },
            },
          ],
        },
        'checks.0.parameters.forwardHeaders.0',
      ],
      [
        'types that are allowed and blocked',
        {
          checks: [
            { id: 'default.allowedRequestTypes', parameters: { allowedTypes: ['embed'], blockedTypes: ['embed'] } },
          ],
        },
        'checks.0.parameters.blockedTypes',
      ],
      ['no check at all', { checks: [] }, 'checks'],
      ['an unknown action', { actions: { dany: true } }, 'actions.dany'],
      [
        'a window for a check that needs all',
        { checks: [{ id: 'default.jsonKeys', parameters: { keys: ['a'] } }], actions: { stream_window: true } },
        'checks.0.id',
      ],
      ['a window that would hold nothing', { actions: { stream_window: true, async: true } }, 'actions.stream_window'],
      [
        'feedback beyond its bounds',
        { actions: { on_fail: { feedback: { value: 11 } } } },
        'actions.on_fail.feedback.value',
      ],
    ];
    for (const [what, more, path] of cases) {
      test(what, async () => expect(await faultOf(more)).toEqual([400, path]));
    }
  });

  test('credentials in checks are masked when read and kept when the mask is sent back', async () => {
    const check = {
      id: 'default.webhook',
      parameters: { webhookURL: 'https://hooks.example.com/a', headers: { authorization: 'Bearer very-secret-token' } },
    };
    const { body } = await make({ checks: [check] }, byKey());
    const read = await gateway.get(`/v1/guardrails/${body.slug}`, byKey());
    expect(JSON.stringify(read.body)).not.toContain('very-secret');
    const again = await gateway.put(
      `/v1/guardrails/${body.slug}`,
      { checks: read.body.checks, actions: { deny: false } },
      byKey(),
    );
    expect(again.status).toBe(200);
    const lost = await gateway.put(
      `/v1/guardrails/${body.slug}`,
      { checks: [{ ...check, parameters: { ...check.parameters, headers: { 'x-other': 'zz*******zz' } } }] },
      byKey(),
    );
    expect([lost.status, lost.body.data.errors[0].path]).toEqual([400, 'checks.0.parameters.headers.x-other']);
  });

  test('the words of older clients for actions are understood and read back as they were sent', async () => {
    const { body } = await make({ actions: { onFail: 'block', message: 'no' } }, byKey());
    const read = await gateway.get(`/v1/guardrails/${body.slug}`, byKey());
    expect(read.body.actions).toEqual({ onFail: 'block', message: 'no' });
  });

  test('one that is a default is not deleted, one that is not is gone', async () => {
    const { body } = await make();
    await gateway.put('/v1/admin/organisation/defaults', { input_guardrails: [body.slug] });
    expect((await gateway.delete(`/v1/guardrails/${body.id}`)).status).toBe(400);
    await gateway.put('/v1/admin/organisation/defaults', { input_guardrails: [] });
    expect((await gateway.delete(`/v1/guardrails/${body.id}`)).status).toBe(200);
    expect((await gateway.get(`/v1/guardrails/${body.id}`)).status).toBe(404);
  });

  test('a config may name only guardrails that are there', async () => {
    const config = { provider: '@sandbox', input_guardrails: ['guard-nobody-000000'] };
    const refused = await gateway.post('/v1/configs', { name: 'c', config }, byKey());
    expect([refused.status, refused.body.data.errors[0].path]).toEqual([400, 'config.input_guardrails.0']);
    const inline = {
      provider: '@sandbox',
      before_request_hooks: [{ checks: [{ id: 'default.regexMatch', parameters: { rule: '[' } }] }],
    };
    const broken = await gateway.post('/v1/configs', { name: 'c', config: inline }, byKey());
    expect([broken.status, broken.body.data.errors[0].path]).toEqual([
      400,
      'config.before_request_hooks.0.checks.0.parameters.rule',
    ]);
    const { body } = await make({}, byKey());
    const saved = await gateway.post(
      '/v1/configs',
      { name: 'c', config: { provider: '@sandbox', input_guardrails: [body.slug] } },
      byKey(),
    );
    expect(saved.status).toBe(200);
  });

  test('the catalogue names every check with the schema of its parameters', async () => {
    const { body } = await gateway.get('/v1/guardrails/checks', byKey());
    const regex = body.data.find(({ id }: { id: string }) => id === 'default.regexMatch');
    expect(regex).toMatchObject({
      category: 'BASIC',
      stream: 'exact',
      parameters: { type: 'object', required: ['rule'] },
    });
    expect(body.total).toBeGreaterThan(25);
  });

  test('a guardrail runs by hand, on a text or on a whole body', async () => {
    const { body } = await make({}, byKey());
    const invoke = (asked: object) => gateway.post(`/v1/guardrails/${body.slug}/invoke`, asked, byKey());
    expect(await invoke({ input: 'a secret' })).toMatchObject({
      status: 200,
      body: { verdict: false, deny: true, id: body.slug, transformed_data: null },
    });
    expect((await invoke({ input: 'nothing' })).body.verdict).toBe(true);
    const whole = {
      event_type: 'afterRequestHook',
      request_type: 'messages',
      response: { json: { content: [{ type: 'text', text: 'a secret' }] } },
    };
    expect((await invoke(whole)).body.verdict).toBe(false);
    expect((await invoke({})).status).toBe(400);
    expect((await gateway.post(`/v1/guardrails/${body.slug}/invoke`, { input: 'x' })).status).toBe(403);
  });

  test('a plugin takes credentials, shows them masked and merges changes', async () => {
    const made = await gateway.post('/v1/plugins', {
      id: 'gw',
      credentials: { baseURL: 'https://checks.example.com', apiKey: 'very-secret-key' },
    });
    expect(made).toMatchObject({ status: 200, body: { id: 'gw', enabled: true } });
    expect(JSON.stringify(made.body)).not.toContain('very-secret');
    const merged = await gateway.put('/v1/plugins/gw', {
      credentials: { apiKey: made.body.credentials.apiKey, baseURL: 'https://other.example.com' },
    });
    expect(merged.body.credentials.apiKey).toBe(made.body.credentials.apiKey);
    const refused = await gateway.put('/v1/plugins/gw', { credentials: { baseURL: 'http://10.0.0.1' } });
    expect([refused.status, refused.body.data.errors[0].path]).toEqual([400, 'credentials.baseURL']);
    expect((await gateway.get('/v1/plugins')).body.total).toBe(1);
    expect((await gateway.post('/v1/plugins', { id: 'nobody', credentials: {} })).status).toBe(400);
    expect((await gateway.get('/v1/plugins', byKey())).status).toBe(403);
    expect((await gateway.delete('/v1/plugins/gw')).status).toBe(200);
    expect((await gateway.get('/v1/plugins/gw')).status).toBe(404);
  });
});
