/** The edge cases of guardrails that need the whole program (cached answers, saved defaults, addresses, tokens, batches), each in every dialect, whole and streamed, with what the provider saw of them. */
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'bun:test';
import { exportJWK, generateKeyPair, SignJWT } from 'jose';
import OpenAI, { toFile } from 'openai';
import { eventsIn, jsonIn, noSecret, type Spoken, spoken } from '../guardrail-dialects.ts';
import type { Json } from '../harness.ts';
import { json, type SimulatedProvider, startProvider } from '../providers/simulated.ts';
import { startWorld, type World } from '../world.ts';

let a: SimulatedProvider;
let hook: SimulatedProvider;
let world: World;
let workspaceId: string;
let organisationId: string;

beforeAll(async () => {
  a = await startProvider();
  hook = await startProvider(json(200, { verdict: true }));
  world = await startWorld({
    a: { provider: 'openai', simulated: a },
    claude: { provider: 'anthropic', simulated: a },
  });
  await world.gateway.app.jobs.stop();
  workspaceId = (await world.gateway.get('/v1/workspaces')).body.data[0].id;
  organisationId = (await world.gateway.get('/v1/admin/organisation')).body.id;
});
afterAll(async () => {
  await world.stop();
  await a.stop();
  await hook.stop();
});
beforeEach(() => {
  a.calls.length = 0;
  hook.calls.length = 0;
});
afterEach(() => expect(world.gateway.faults).toEqual([]));

const embeddings: Spoken = {
  path: '/v1/embeddings',
  target: { provider: '@a' },
  ask: (input) => ({ model: 'text-embedding-3-small', input }),
  says: () =>
    json(200, {
      object: 'list',
      model: 'text-embedding-3-small',
      data: [{ object: 'embedding', index: 0, embedding: [0.1, 0.2] }],
      usage: { prompt_tokens: 1, total_tokens: 1 },
    }),
  text: () => '',
  part: () => '',
  sent: (body) => body.input,
};

/** The prompt puts what it is asked into a message of a chat. */
let prompt = '';
const prompts: Spoken = {
  ...(spoken.chat as Spoken),
  get path() {
    return `/v1/prompts/${prompt}/completions`;
  },
  ask: (text) => ({ variables: { text } }),
};
beforeAll(async () => {
  const key = { key: world.gateway.workspaceKey };
  const saved = await world.gateway.post(
    '/v1/prompts',
    {
      name: 'Guarded',
      collection_id: (await world.gateway.get('/v1/collections', key)).body.data[0].id,
      string: JSON.stringify([{ role: 'user', content: '{{text}}' }]),
      parameters: {},
      model: 'gpt-4o-mini',
      virtual_key: '@a',
    },
    key,
  );
  expect(saved.status).toBe(200);
  prompt = saved.body.slug;
});

const routes: [string, Spoken, boolean][] = [
  ...Object.entries(spoken).flatMap(([name, dialect]) =>
    [false, true].map((stream): [string, Spoken, boolean] => [name, dialect, stream]),
  ),
  ['prompts', prompts, false],
  ['prompts', prompts, true],
  ['embeddings', embeddings, false],
];

const lax = { 'x-gw-strict-open-ai-compliance': 'false' };

for (const [name, dialect, stream] of routes) {
  const ask = async (config: string, text: string, headers: Record<string, string> = {}) => {
    const asked = { ...dialect.ask(text), ...(stream && { stream }) };
    const answer = await world.call(dialect.path, asked, { 'x-gw-config': config, ...lax, ...headers });
    const body = await answer.text();
    const parts = body.startsWith('{') ? [JSON.parse(body)] : eventsIn(body).map(jsonIn);
    const results: Json[] = parts.flatMap(({ hook_results }) => hook_results ?? []);
    return {
      status: answer.status,
      cache: answer.headers.get('x-gw-cache-status'),
      before: results.flatMap(({ before_request_hooks }) => before_request_hooks ?? []),
      after: results.flatMap(({ after_request_hooks }) => after_request_hooks ?? []),
    };
  };
  const { provider } = dialect.target as { provider: string };

  describe(`${name}, ${stream ? 'streamed' : 'whole'}`, () => {
    beforeEach(() => a.script(dialect.says('the ', 'answer')));

    test('9: a cached answer comes with 246 where the input fails its guardrail by now', async () => {
      hook.script(json(200, { verdict: true }));
      const config = await world.saveConfig({
        provider,
        cache: { mode: 'simple' },
        input_guardrails: [{ 'default.webhook': { webhookURL: `${hook.url}/${name}-${stream}` } }],
      });
      const first = await ask(config, `a question of ${name} ${stream}`);
      expect([first.status, first.cache]).toEqual([200, 'MISS']);
      hook.script(json(200, { verdict: false }));
      const second = await ask(config, `a question of ${name} ${stream}`);
      expect([second.status, second.cache, a.calls.length]).toEqual([246, 'HIT', 1]);
      expect(second.before.map(({ verdict }) => verdict)).toEqual([false]);
      expect(second.after).toEqual([]);
    });

    test('16: one guardrail that the organisation, the workspace and the config name runs once', async () => {
      const saved = await world.gateway.post('/v1/guardrails', {
        name: 'Watched',
        organisation_id: organisationId,
        checks: [{ id: 'default.webhook', parameters: { webhookURL: `${hook.url}/judge` } }],
        actions: {},
      });
      hook.script(json(200, { verdict: true }));
      const { slug } = saved.body;
      const set = async (input_guardrails: string[]) => [
        (await world.gateway.put('/v1/admin/organisation/defaults', { input_guardrails })).status,
        (await world.gateway.put(`/v1/admin/workspaces/${workspaceId}`, { defaults: { input_guardrails } })).status,
      ];
      expect(await set([slug])).toEqual([200, 200]);
      const config = await world.saveConfig({ provider, input_guardrails: [slug] });
      const { status, before } = await ask(config, 'hello');
      expect(await set([])).toEqual([200, 200]);
      expect([status, before.map(({ id }) => id), hook.calls.length, a.calls.length]).toEqual([200, [slug], 1, 1]);
    });

    test('20: a token is taken with a key that was rotated in and for one of its audiences, and refused when it is no longer active', async () => {
      const [first, second] = await Promise.all([generateKeyPair('RS256'), generateKeyPair('RS256')]);
      const published = async (kid: string, key: CryptoKey) => ({ ...(await exportJWK(key)), kid, alg: 'RS256' });
      const keys = [await published('one', first.publicKey)];
      const state = { active: true };
      hook.script((call, response) =>
        json(200, call.method === 'GET' ? { keys } : { active: state.active })(call, response),
      );
      const tokens = { jwksUri: `${hook.url}/${name}-${stream}/jwks`, headerKey: 'x-user-token' };
      const claimValues = { aud: { values: ['chat'], matchType: 'contains' } };
      const config = await world.saveConfig({
        provider,
        input_guardrails: [{ 'default.jwt': { ...tokens, claimValues }, deny: true }],
      });
      const signed = (kid: string, key: CryptoKey, audience: string[]) =>
        new SignJWT({})
          .setProtectedHeader({ alg: 'RS256', kid })
          .setAudience(audience)
          .setIssuedAt()
          .setExpirationTime('1h')
          .sign(key);
      const statusWith = async (token: string) => (await ask(config, 'hi', { 'x-user-token': token })).status;
      expect(await statusWith(await signed('one', first.privateKey, ['mail', 'chat']))).toBe(200);
      keys.push(await published('two', second.publicKey));
      expect(await statusWith(await signed('two', second.privateKey, ['chat']))).toBe(200);
      expect(await statusWith(await signed('two', second.privateKey, ['mail']))).toBe(446);
      expect([hook.calls.length, a.calls.length]).toEqual([2, 2]);
      const opaque = await world.saveConfig({
        provider,
        input_guardrails: [
          {
            'default.jwt': { introspectEndpoint: `${hook.url}/introspect`, headerKey: 'x-user-token' },
            deny: true,
          },
        ],
      });
      expect((await ask(opaque, 'hi', { 'x-user-token': 'opaque' })).status).toBe(200);
      state.active = false;
      expect((await ask(opaque, 'hi', { 'x-user-token': 'opaque' })).status).toBe(446);
      expect(a.calls).toHaveLength(3);
    });

    // Vectors hold no links.
    if (name === 'embeddings') return;
    test('19: a link to a private address in an answer is not fetched', async () => {
      const metadata = 'http://169.254.169.254/latest';
      a.script(dialect.says('see ', metadata));
      const config = await world.saveConfig({ provider, output_guardrails: [{ 'default.validUrls': {} }] });
      const { after } = await ask(config, 'a link?');
      expect(after[0].checks[0]).toMatchObject({ verdict: false, data: { invalidUrls: [metadata] } });
    });
  });
}

describe('pictures at private addresses', () => {
  const url = 'http://169.254.169.254/a.png';
  const asked: Record<string, { body: object; sent(call: Json): unknown }> = {
    chat: {
      body: { messages: [{ role: 'user', content: [{ type: 'image_url', image_url: { url } }] }] },
      sent: (body) => body.messages[0].content[0].image_url.url,
    },
    messages: {
      body: { messages: [{ role: 'user', content: [{ type: 'image', source: { type: 'url', url } }] }] },
      sent: (body) => body.messages[0].content[0].source.url,
    },
    responses: {
      body: { input: [{ role: 'user', content: [{ type: 'input_image', image_url: url }] }] },
      sent: (body) => body.input[0].content[0].image_url,
    },
  };
  for (const [name, { body, sent }] of Object.entries(asked)) {
    test.each([false, true])(`19: are not fetched (${name}, streamed: %p)`, async (stream) => {
      const dialect = spoken[name] as Spoken;
      a.script(dialect.says('fine'));
      const config = await world.saveConfig({
        ...dialect.target,
        input_guardrails: [{ 'default.inlineImageUrls': { failOnError: true }, deny: true }],
      });
      const passing = await world.saveConfig({
        ...dialect.target,
        input_guardrails: [{ 'default.inlineImageUrls': {} }],
      });
      const call = (by: string) =>
        world.call(dialect.path, { ...dialect.ask(''), ...body, stream }, { 'x-gw-config': by, ...lax });
      expect((await call(config)).status).toBe(446);
      expect(a.calls).toEqual([]);
      await (await call(passing)).text();
      expect(sent(a.calls[0]?.json)).toBe(url);
    });
  }
});

describe('batches that the gateway runs', () => {
  const urls: Record<string, Spoken> = { ...spoken, embeddings };
  for (const [name, dialect] of Object.entries(urls)) {
    test(`23: rows of ${name} are denied, rewritten, and their answers judged`, async () => {
      const client = new OpenAI({
        apiKey: world.gateway.workspaceKey,
        baseURL: `${world.gateway.url}/v1`,
        maxRetries: 0,
      });
      a.script(dialect.says('the ', 'answer'));
      const config = await world.saveConfig({
        ...dialect.target,
        input_guardrails: [
          noSecret({ deny: true }),
          { 'default.regexReplace': { rule: 'anna', redactText: '[NAME]' } },
        ],
        output_guardrails: [{ 'default.contains': { words: ['nothing like it'] } }],
      });
      const line = (custom_id: string, text: string) =>
        JSON.stringify({ custom_id, method: 'POST', url: dialect.path, body: dialect.ask(text) });
      const file = await client.files.create({
        purpose: 'batch',
        file: await toFile(Buffer.from([line('good', 'anna'), line('bad', 'a secret')].join('\n')), 'rows.jsonl'),
      });
      const batch: Json = await client.post('/batches', {
        body: {
          input_file_id: file.id,
          endpoint: dialect.path,
          completion_window: '24h',
          gw_options: { 'x-gw-config': config },
        },
      });
      await world.gateway.app.jobs.runOnce('managed-batches');
      const done: Json = await client.batches.retrieve(batch.id);
      const linesOf = async (id: string) =>
        (await (await client.files.content(id)).text())
          .trimEnd()
          .split('\n')
          .map((text) => JSON.parse(text));
      expect(
        (await linesOf(done.error_file_id)).map(({ custom_id, response }) => [custom_id, response.status_code]),
      ).toEqual([['bad', 446]]);
      const [good] = await linesOf(done.output_file_id);
      // Vectors cannot be redacted or judged.
      const isText = name !== 'embeddings';
      expect([good.custom_id, good.response.status_code]).toEqual(['good', isText ? 246 : 200]);
      expect(a.calls.map((call) => dialect.sent(call.json))).toEqual([isText ? '[NAME]' : 'anna']);
    });
  }
});

describe('the log of a call that is translated', () => {
  test('shows the request as parameters and guardrails left it, before it was put into the words of the provider', async () => {
    a.script((spoken.messages as Spoken).says('fine'));
    const config = await world.saveConfig({
      provider: '@claude',
      override_params: { max_tokens: 7 },
      input_guardrails: [{ 'default.regexReplace': { rule: 'anna', redactText: '[NAME]' } }],
    });
    const ask = async (content: string, by: string) => {
      const answer = await world.call(
        '/v1/chat/completions',
        { model: 'claude-sonnet-4-5', max_tokens: 9, messages: [{ role: 'user', content }] },
        { 'x-gw-config': by },
      );
      await answer.text();
      const [record] = await world.records(answer.headers.get('x-gw-trace-id') ?? '', 1);
      const log = await world.gateway.get(`/v1/logs/${record?.id}`, { key: world.gateway.workspaceKey });
      expect(log.status).toBe(200);
      return log.body;
    };
    const log: Json = await ask('anna', config);
    expect(log.request.body.messages[0].content).toBe('anna');
    expect(log.finalUntransformedRequest.body).toEqual({
      model: 'claude-sonnet-4-5',
      max_tokens: 7,
      messages: [{ role: 'user', content: '[NAME]' }],
    });
    expect(log.transformedRequest.body.messages[0].content).toBe('[NAME]');
    expect(JSON.stringify(log.finalUntransformedRequest.headers)).not.toContain(world.gateway.workspaceKey);
    const plain = await world.saveConfig({ provider: '@claude' });
    // Where nothing was changed before it was translated, it is the request itself.
    expect(await ask('anna', plain)).not.toHaveProperty('finalUntransformedRequest');
  });
});
