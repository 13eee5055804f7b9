/** Guardrails in the whole program: kept feedback, cached answers, defaults of three places, addresses that may not be called, tokens, batches. */
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'bun:test';
import { exportJWK, generateKeyPair, SignJWT } from 'jose';
import OpenAI, { toFile } from 'openai';
import type { Json } from '../harness.ts';
import * as openai from '../providers/openai.ts';
import { json, type SimulatedProvider, startProvider } from '../providers/simulated.ts';
import { startWorld, type World } from '../world.ts';

let a: SimulatedProvider;
let world: World;
let workspaceId: string;
let organisationId: string;

beforeAll(async () => {
  a = await startProvider();
  world = await startWorld({ a: { provider: 'openai', simulated: a } });
  workspaceId = (await world.gateway.get('/v1/workspaces')).body.data[0].id;
  organisationId = (await world.gateway.get('/v1/admin/organisation')).body.id;
});
afterAll(async () => {
  await world.stop();
  await a.stop();
});
beforeEach(() => {
  a.calls.length = 0;
  a.script(openai.says('the answer'));
});
afterEach(() => expect(world.gateway.faults).toEqual([]));

const ask = async (config: string, content: string, headers: Record<string, string> = {}) => {
  const answer = await world.call(
    '/v1/chat/completions',
    { model: 'gpt-4o-mini', messages: [{ role: 'user', content }] },
    { 'x-gw-config': config, 'x-gw-strict-open-ai-compliance': 'false', ...headers },
  );
  const body: Json = await answer.json();
  return { status: answer.status, cache: answer.headers.get('x-gw-cache-status'), body };
};

const guard = (check: object, more: object = {}) => [{ ...check, ...more }];
const secretWord = { 'default.contains': { words: ['secret'], operator: 'none' } };

describe('feedback', () => {
  test('of a guardrail is kept on the trace of its call', async () => {
    const config = await world.saveConfig({
      provider: '@a',
      input_guardrails: guard(secretWord, {
        on_success: { feedback: { value: 4, weight: 0.5, metadata: { team: 'sec' } } },
        on_fail: { feedback: { value: -4 } },
      }),
    });
    await ask(config, 'hello', { 'x-gw-trace-id': 'feedback-good' });
    await ask(config, 'a secret', { 'x-gw-trace-id': 'feedback-bad' });
    const keptOn = async (trace: string) => {
      for (;;) {
        const kept = await world.gateway.app.services.logs.feedbackOnTrace(workspaceId, trace);
        if (kept.length > 0) return kept;
        await new Promise((resolve) => setImmediate(resolve));
      }
    };
    expect(await keptOn('feedback-good')).toMatchObject([
      { value: 4, weight: 0.5, metadata: { team: 'sec', successfulChecks: 'default.contains', failedChecks: '' } },
    ]);
    expect(await keptOn('feedback-bad')).toMatchObject([
      { value: -4, weight: 1, metadata: { failedChecks: 'default.contains' } },
    ]);
  });
});

describe('a cached answer', () => {
  test('comes with 246 where the input fails its guardrail by now', async () => {
    const hook = await startProvider();
    let verdict = true;
    hook.script((call, response) => json(200, { verdict })(call, response));
    const config = await world.saveConfig({
      provider: '@a',
      cache: { mode: 'simple' },
      input_guardrails: guard({ 'default.webhook': { webhookURL: `${hook.url}/judge` } }),
    });
    const first = await ask(config, 'a question');
    expect([first.status, first.cache]).toEqual([200, 'MISS']);
    verdict = false;
    const second = await ask(config, 'a question');
    expect([second.status, second.cache, a.calls.length]).toEqual([246, 'HIT', 1]);
    await hook.stop();
  });
});

describe('defaults', () => {
  test('of the organisation, the workspace and the config that name one guardrail run it once', async () => {
    const saved = await world.gateway.post('/v1/guardrails', {
      name: 'No secrets',
      organisation_id: organisationId,
      checks: [{ id: 'default.contains', parameters: { words: ['secret'], operator: 'none' } }],
      actions: { deny: false },
    });
    expect(saved.status).toBe(200);
    const { slug } = saved.body;
    const wide = await world.gateway.put('/v1/admin/organisation/defaults', { input_guardrails: [slug] });
    const set = await world.gateway.put(`/v1/admin/workspaces/${workspaceId}`, {
      defaults: { input_guardrails: [slug] },
    });
    expect([wide.status, set.status, set.body.data?.message]).toEqual([200, 200, undefined]);
    const config = await world.saveConfig({ provider: '@a', input_guardrails: [slug] });
    const { status, body } = await ask(config, 'a secret');
    expect(status).toBe(246);
    expect(body.hook_results.before_request_hooks.map((hook: Json) => hook.id)).toEqual([slug]);
    await world.gateway.put('/v1/admin/organisation/defaults', { input_guardrails: [] });
    await world.gateway.put(`/v1/admin/workspaces/${workspaceId}`, { defaults: { input_guardrails: [] } });
  });
});

describe('private addresses', () => {
  const metadata = 'http://169.254.169.254/latest';

  for (const [id, parameters] of [
    ['default.webhook', { webhookURL: metadata }],
    ['default.log', { logURL: metadata }],
    ['default.jwt', { jwksUri: metadata }],
  ] as const) {
    test(`${id} to one is refused when it is saved`, async () => {
      const saved = await world.gateway.post('/v1/guardrails', {
        name: 'Hook',
        workspace_id: workspaceId,
        checks: [{ id, parameters }],
        actions: {},
      });
      expect(saved.status).toBe(400);
      expect(JSON.stringify(saved.body.data.errors)).toContain('checks.0.parameters');
    });
  }

  test('a picture and a link there are not fetched', async () => {
    const pictures = await world.saveConfig({
      provider: '@a',
      input_guardrails: guard({ 'default.inlineImageUrls': {} }),
    });
    const answer = await world.call(
      '/v1/chat/completions',
      {
        model: 'gpt-4o-mini',
        messages: [{ role: 'user', content: [{ type: 'image_url', image_url: { url: `${metadata}/a.png` } }] }],
      },
      { 'x-gw-config': pictures, 'x-gw-strict-open-ai-compliance': 'false' },
    );
    const { hook_results }: Json = await answer.json();
    expect(hook_results.before_request_hooks[0].checks[0].data).toMatchObject({
      inlined: 0,
      failed: [{ host: '169.254.169.254' }],
    });
    expect(a.calls[0]?.json?.messages[0].content[0].image_url.url).toBe(`${metadata}/a.png`);

    a.script(openai.says(`see ${metadata}`));
    const links = await world.saveConfig({ provider: '@a', output_guardrails: guard({ 'default.validUrls': {} }) });
    const { body } = await ask(links, 'a link?');
    expect(body.hook_results.after_request_hooks[0].checks[0].verdict).toBe(false);
  });
});

describe('a token', () => {
  test('is taken with a key that was rotated in, for one of several audiences, and never with a foreign one', async () => {
    const issuer = await startProvider();
    const pairs = await Promise.all(['one', 'two', 'foreign'].map(() => generateKeyPair('RS256')));
    const [first, second, foreign] = pairs;
    if (!first || !second || !foreign) throw new Error('no keys were made');
    const published = async (kid: string, key: CryptoKey) => ({
      ...(await exportJWK(key)),
      kid,
      alg: 'RS256',
      use: 'sig',
    });
    const keys = [await published('one', first.publicKey)];
    issuer.script((call, response) => json(200, { keys })(call, response));
    const config = await world.saveConfig({
      provider: '@a',
      input_guardrails: guard(
        {
          'default.jwt': {
            jwksUri: `${issuer.url}/jwks`,
            headerKey: 'x-user-token',
            claimValues: { aud: { values: ['chat', 'admin'], matchType: 'contains' } },
          },
        },
        { deny: true },
      ),
    });
    const signed = (kid: string, key: CryptoKey, audience: string[]) =>
      new SignJWT({})
        .setProtectedHeader({ alg: 'RS256', kid })
        .setAudience(audience)
        .setIssuedAt()
        .setExpirationTime('1h')
        .sign(key);
    const statusWith = async (token: string) => (await ask(config, 'hi', { 'x-user-token': token })).status;
    expect(await statusWith(await signed('one', first.privateKey, ['chat', 'mail']))).toBe(200);
    expect(await statusWith(await signed('one', first.privateKey, ['mail']))).toBe(446);
    const fetchedBefore = issuer.calls.length;
    keys.push(await published('two', second.publicKey));
    expect(await statusWith(await signed('two', second.privateKey, ['chat']))).toBe(200);
    expect(issuer.calls.length).toBe(fetchedBefore + 1);
    expect(await statusWith(await signed('one', foreign.privateKey, ['chat']))).toBe(446);
    await issuer.stop();
  });

  test('that says nothing is asked about, and refused where it is no longer active', async () => {
    const issuer = await startProvider();
    let active = true;
    issuer.script((call, response) => json(200, { active, sub: 'anna' })(call, response));
    const config = await world.saveConfig({
      provider: '@a',
      input_guardrails: guard(
        { 'default.jwt': { introspectEndpoint: `${issuer.url}/introspect`, headerKey: 'x-user-token' } },
        { deny: true },
      ),
    });
    expect((await ask(config, 'hi', { 'x-user-token': 'opaque' })).status).toBe(200);
    active = false;
    expect((await ask(config, 'hi', { 'x-user-token': 'opaque' })).status).toBe(446);
    expect((await ask(config, 'hi')).status).toBe(446);
    await issuer.stop();
  });
});

describe('batches', () => {
  test('run each line through the guardrails of their config: denied lines are in the error file, others are rewritten', async () => {
    const config = await world.saveConfig({
      provider: '@a',
      input_guardrails: [
        ...guard({ 'default.contains': { words: ['forbidden'], operator: 'none' } }, { deny: true }),
        ...guard({ 'gw.pii': { categories: ['EMAIL_ADDRESS'], redact: true } }),
      ],
    });
    const client = new OpenAI({
      apiKey: world.gateway.workspaceKey,
      baseURL: `${world.gateway.url}/v1`,
      maxRetries: 0,
    });
    const line = (id: string, content: string) =>
      JSON.stringify({
        custom_id: id,
        method: 'POST',
        url: '/v1/chat/completions',
        body: { model: 'gpt-4o-mini', messages: [{ role: 'user', content }] },
      });
    const lines = [line('good', 'write to anna@example.com'), line('bad', 'the forbidden word')];
    const file = await client.files.create({
      purpose: 'batch',
      file: await toFile(Buffer.from(lines.join('\n')), 'rows.jsonl'),
    });
    const batch = await client.batches.create({
      input_file_id: file.id,
      endpoint: '/v1/chat/completions',
      completion_window: '24h',
      ...({ gw_options: { 'x-gw-config': config } } as object),
    });
    let now = batch;
    while (now.status !== 'completed' && now.status !== 'failed') {
      await world.gateway.app.jobs.runOnce('managed-batches');
      now = await client.batches.retrieve(batch.id);
    }
    const contentOf = async (id: string | undefined) => (await client.files.content(id ?? '')).text();
    const failed = JSON.parse((await contentOf(now.error_file_id)).trim());
    expect([failed.custom_id, failed.response.status_code]).toEqual(['bad', 446]);
    expect(JSON.parse((await contentOf(now.output_file_id)).trim()).custom_id).toBe('good');
    expect(a.calls.map((call) => call.json?.messages[0].content)).toEqual(['write to {{EMAIL_ADDRESS_1}}']);
  });
});

describe('switched off by the operator', () => {
  test('no guardrail runs, and the routes of guardrails are not there', async () => {
    const off = await startWorld({ a: { provider: 'openai', simulated: a } }, { GUARDRAILS_ENABLED: 'OFF' });
    const config = await off.saveConfig({ provider: '@a', input_guardrails: guard(secretWord, { deny: true }) });
    const answer = await off.call(
      '/v1/chat/completions',
      { model: 'gpt-4o-mini', messages: [{ role: 'user', content: 'a secret' }] },
      { 'x-gw-config': config },
    );
    expect([answer.status, (await answer.text()).includes('hook_results'), a.calls.length]).toEqual([200, false, 1]);
    const routes = [await off.gateway.get('/v1/guardrails'), await off.gateway.get('/v1/guardrails/checks')];
    expect(routes.map(({ status }) => status)).toEqual([404, 404]);
    expect(off.gateway.lines.join()).toContain('Guardrails are switched off');
    await off.stop();
  });
});
