/** Saved prompts on the data plane: rendering, running, versions and labels, partials, sharing, configs. */
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { startApp } from '../../src/app.ts';
import { readEnvironment } from '../../src/environment.ts';
import type { Json } from '../harness.ts';
import { says as anthropicSays } from '../providers/anthropic-api.ts';
import { says } from '../providers/openai.ts';
import { lastCall, type SimulatedProvider, startProvider } from '../providers/simulated.ts';
import { newMigratedDatabase, postgresInstalled } from '../servers/postgres.ts';
import { startWorld, type World } from '../world.ts';

let a: SimulatedProvider;
let claude: SimulatedProvider;
let world: World;
let collection: string;
beforeAll(async () => {
  a = await startProvider();
  claude = await startProvider();
  world = await startWorld({
    a: { provider: 'openai', simulated: a },
    claude: { provider: 'anthropic', simulated: claude },
  });
  const { body } = await world.gateway.get('/v1/collections', { key: world.gateway.workspaceKey });
  collection = body.data[0].id;
});
afterAll(async () => {
  await world.stop();
  await a.stop();
  await claude.stop();
});

const key = () => ({ key: world.gateway.workspaceKey });
const chat = JSON.stringify([
  { role: 'system', content: 'You are {{kind}}.' },
  { role: 'user', content: 'Hello {{name}}' },
]);

async function save(fields: object = {}): Promise<string> {
  const { status, body } = await world.gateway.post(
    '/v1/prompts',
    {
      name: 'Journey',
      collection_id: collection,
      string: chat,
      parameters: { max_tokens: 20, temperature: 0.5, stream: true },
      virtual_key: '@a',
      model: 'gpt-4o-mini',
      ...fields,
    },
    key(),
  );
  expect(status).toBe(200);
  return body.slug;
}

const render = async (address: string, body: object = {}): Promise<{ status: number; body: Json }> => {
  const answer = await world.call(`/v1/prompts/${address}/render`, body);
  return { status: answer.status, body: await answer.json() };
};

test('a prompt is rendered with its parameters and the overrides of the request', async () => {
  const slug = await save();
  const { body } = await render(slug, { variables: { kind: 'kind', name: 'Ada' }, temperature: 0, promptID: slug });
  expect(body).toEqual({
    success: true,
    data: {
      model: 'gpt-4o-mini',
      messages: [
        { role: 'system', content: 'You are kind.' },
        { role: 'user', content: 'Hello Ada' },
      ],
      max_tokens: 20,
      temperature: 0,
    },
  });
});

test('a prompt runs on its provider, and streams only where the request asks', async () => {
  const slug = await save();
  a.script(says('Hi ', 'Ada'), says('Hi ', 'Ada'));
  const whole = await world.call(`/v1/prompts/${slug}/completions`, { variables: { name: 'Ada' } });
  expect(whole.headers.get('x-gw-provider')).toBe('openai');
  expect(await whole.json()).toMatchObject({ choices: [{ message: { content: 'Hi Ada' } }] });
  expect(lastCall(a)).toMatchObject({
    path: '/v1/chat/completions',
    json: { model: 'gpt-4o-mini', max_tokens: 20, messages: [{ content: 'You are .' }, { content: 'Hello Ada' }] },
  });
  const streamed = await world.call(`/v1/prompts/${slug}/completions`, { variables: {}, stream: true });
  expect(streamed.headers.get('content-type')).toContain('text/event-stream');
  expect(await streamed.text()).toEndWith('data: [DONE]\n\n');
});

test('the record of a run names the prompt and the version that ran', async () => {
  const slug = await save();
  a.script(says('Hello'));
  const answer = await world.call(`/v1/prompts/${slug}/completions`, { variables: { name: 'Ada' } });
  await answer.text();
  const { body } = await world.gateway.get(`/v1/prompts/${slug}`, key());
  const [record] = await world.records(answer.headers.get('x-gw-trace-id') ?? '', 1);
  expect(record).toMatchObject({
    prompt_id: body.id,
    prompt_slug: slug,
    prompt_version_id: body.prompt_version_id,
  });
});

test('a prompt on a provider of another dialect is answered in OpenAI’s', async () => {
  const slug = await save({ virtual_key: 'claude', model: 'claude-sonnet-4-5' });
  claude.script(anthropicSays('Bonjour'));
  const answer = await world.call(`/v1/prompts/${slug}/completions`, { variables: { name: 'Ada' } });
  expect(await answer.json()).toMatchObject({
    object: 'chat.completion',
    choices: [{ message: { content: 'Bonjour' } }],
  });
  expect(lastCall(claude).json).toMatchObject({ system: [{ text: 'You are .' }], messages: [{ role: 'user' }] });
});

test('plain text of a text model goes to text completion', async () => {
  const slug = await save({ string: 'Once {{x}}', template_metadata: { template_type: 'text' } });
  a.script((_, response) => {
    response.writeHead(200, { 'content-type': 'application/json' });
    response.end(JSON.stringify({ object: 'text_completion', choices: [{ text: 'upon a time' }] }));
  });
  const answer = await world.call(`/v1/prompts/${slug}/completions`, { variables: { x: 'more' } });
  expect(await answer.json()).toMatchObject({ object: 'text_completion' });
  expect(lastCall(a)).toMatchObject({ path: '/v1/completions', json: { prompt: 'Once more' } });
});

test('a publication is seen by the next request; numbers, latest and labels stay', async () => {
  const slug = await save({ string: 'one' });
  const text = async (address: string) => (await render(address)).body.data?.messages[0].content;
  expect(await text(slug)).toBe('one');
  await world.gateway.put(`/v1/prompts/${slug}`, { patch: true, string: 'two' }, key());
  expect([await text(slug), await text(`${slug}@latest`), await text(`${slug}@2`)]).toEqual(['one', 'two', 'two']);
  await world.gateway.put(`/v1/prompts/${slug}/makeDefault`, { version: 2 }, key());
  expect([await text(slug), await text(`${slug}@1`)]).toEqual(['two', 'one']);
  const labels = await world.gateway.get('/v1/labels?search=staging', key());
  await world.gateway.put(`/v1/prompts/${slug}/versions/1`, { label_id: labels.body.data[0].id }, key());
  expect(await text(`${slug}@staging`)).toBe('one');
  for (const missing of [`${slug}@9`, `${slug}@production`, 'pp-nothing-000000']) {
    const answer = await render(missing);
    expect({ status: answer.status, code: answer.body.error.code }).toEqual({ status: 404, code: 'prompt_not_found' });
  }
});

test('a published partial changes every prompt that names it without a version', async () => {
  const partial = await world.gateway.post('/v1/prompts/partials', { name: 'Tone', string: 'Be {{how}}.' }, key());
  const { slug: tone } = partial.body;
  const slug = await save({ string: `{{>${tone}}} {{>${tone}@1}}` });
  const text = async () => (await render(slug, { variables: { how: 'kind' } })).body.data.messages[0].content;
  expect(await text()).toBe('Be kind. Be kind.');
  await world.gateway.put(`/v1/prompts/partials/${tone}`, { string: 'Stay {{how}}!' }, key());
  expect(await text()).toBe('Be kind. Be kind.');
  await world.gateway.put(`/v1/prompts/partials/${tone}/makeDefault`, { version: 2 }, key());
  expect(await text()).toBe('Stay kind! Be kind.');
  await world.gateway.delete(`/v1/prompts/partials/${tone}`, undefined, key());
  const gone = await render(slug);
  expect({ status: gone.status, code: gone.body.error.code }).toEqual({
    status: 404,
    code: 'prompt_partial_not_found',
  });
});

test('what cannot be rendered is 400 with the place', async () => {
  const slug = await save({ string: 'a\n{{>>part}}' });
  const wrong = await render(slug, { variables: { part: { an: 'object' } } });
  expect(wrong.status).toBe(400);
  expect(wrong.body.error).toMatchObject({
    code: 'invalid_prompt',
    message: expect.stringContaining('line 2, column 1'),
  });
  const list = Array.from({ length: 5_000 }, () => 1);
  const loops = await save({ string: '{{#l}}{{#l}}{{#l}}x{{/l}}{{/l}}{{/l}}' });
  expect((await render(loops, { variables: { l: list } })).status).toBe(400);
  expect((await render(slug, { variables: 'none' })).status).toBe(400);
});

test('a config sent along brings its retries, its provider and its own prompt', async () => {
  const slug = await save({ string: 'first' });
  const other = await save({ string: 'second {{name}}', model: 'gpt-4o' });
  const config = await world.saveConfig({ strategy: { mode: 'single' }, targets: [{ prompt_id: other }] });
  a.script(says('x'));
  await world.call(`/v1/prompts/${slug}/completions`, { variables: { name: 'Ada' } }, { 'x-gw-config': config });
  expect(lastCall(a).json).toMatchObject({ model: 'gpt-4o', messages: [{ content: 'second Ada' }] });
  claude.script(anthropicSays('y'));
  const elsewhere = await world.saveConfig({ provider: '@claude', override_params: { model: 'claude-sonnet-4-5' } });
  const answer = await world.call(`/v1/prompts/${slug}/completions`, {}, { 'x-gw-config': elsewhere });
  expect(answer.headers.get('x-gw-provider')).toBe('anthropic');
  await answer.text();
});

test('a shared prompt runs on the provider of the workspace that shares it', async () => {
  const slug = await save({ string: 'shared' });
  const { gateway } = world;
  const other = await gateway.post('/v1/admin/workspaces', { name: 'Reader' });
  const made = await gateway.post('/v1/api-keys/workspace/service', {
    name: 'reader',
    workspace_id: other.body.id,
    scopes: ['completions.write', 'prompts.render'],
  });
  const run = () => world.call(`/v1/prompts/${slug}/completions`, {}, { 'x-gw-api-key': made.body.key });
  expect((await run()).status).toBe(404);
  await gateway.post(`/v2/prompts/${slug}/share`, { type: 'workspaces', workspaces: [other.body.id] }, key());
  a.script(says('shared'));
  expect(await (await run()).json()).toMatchObject({ choices: [{ message: { content: 'shared' } }] });
  await gateway.delete(`/v2/prompts/${slug}/share`, undefined, key());
  expect((await run()).status).toBe(404);
});

test('rendering needs its own scope, and old names of the routes are gone', async () => {
  const slug = await save();
  const made = await world.gateway.post(
    '/v1/api-keys/workspace/service',
    { name: 'no render', scopes: ['completions.write'] },
    key(),
  );
  const answer = await world.call(`/v1/prompts/${slug}/render`, {}, { 'x-gw-api-key': made.body.key ?? '' });
  expect(answer.status).toBe(403);
  expect((await world.call(`/v1/prompts/${slug}/generate`, {})).status).toBe(404);
});

test.if(postgresInstalled)('a publication on one node is served by the other', async () => {
  const env = { DATABASE_URL: await newMigratedDatabase(), GW_MASTER_KEY: Buffer.alloc(32, 7).toString('base64') };
  const first = await startWorld({ a: { provider: 'openai', simulated: a } }, env);
  const { gateway } = first;
  const place = { PORT: '0', GW_DATA_DIR: `${gateway.dataDir}-2`, TRUSTED_CUSTOM_HOSTS: '127.0.0.1' };
  const second = await startApp(readEnvironment({ ...env, ...place }), { clock: gateway.clock });
  try {
    const own = { key: gateway.workspaceKey };
    const collections = await gateway.get('/v1/collections', own);
    const fields = { name: 'Shared', collection_id: collections.body.data[0].id, virtual_key: '@a', model: 'm' };
    const { body } = await gateway.post('/v1/prompts', { ...fields, string: 'one', parameters: {} }, own);
    const seen = async () => {
      const answer = await fetch(`${second.url}/v1/prompts/${body.slug}/render`, {
        method: 'POST',
        headers: { 'x-gw-api-key': gateway.workspaceKey, 'content-type': 'application/json' },
        body: '{}',
      });
      return (await answer.json()).data?.messages[0].content;
    };
    while ((await seen()) !== 'one') await Bun.sleep(10);
    await gateway.put(`/v1/prompts/${body.slug}`, { patch: true, string: 'two' }, own);
    await gateway.put(`/v1/prompts/${body.slug}/makeDefault`, { version: 2 }, own);
    while ((await seen()) !== 'two') await Bun.sleep(10);
    expect(await seen()).toBe('two');
  } finally {
    await second.stop();
    await first.stop();
  }
});
