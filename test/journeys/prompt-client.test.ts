/** The unchanged client library of the reference product, under its own header prefix: it creates, updates, publishes, renders and runs prompts. */
import { afterAll, beforeAll, expect, test } from 'bun:test';
import Portkey from 'portkey-ai';
import { says } from '../providers/openai.ts';
import { lastCall, type SimulatedProvider, startProvider } from '../providers/simulated.ts';
import { startWorld, type World } from '../world.ts';

let a: SimulatedProvider;
let world: World;
let client: Portkey;
let collection: string;
beforeAll(async () => {
  a = await startProvider();
  world = await startWorld({ a: { provider: 'openai', simulated: a } }, { HEADER_PREFIX_ALIASES: 'x-portkey-' });
  const { workspaceKey, url } = world.gateway;
  client = new Portkey({ apiKey: workspaceKey, Authorization: `Bearer ${workspaceKey}`, baseURL: `${url}/v1` });
  const { body } = await world.gateway.get('/v1/collections', { key: workspaceKey });
  collection = body.data[0].id;
});
afterAll(async () => {
  await world.stop();
  await a.stop();
});

test('a prompt from its making to its answer', async () => {
  const made = await client.prompts.create({
    name: 'By the client',
    collection_id: collection,
    string: JSON.stringify([{ role: 'user', content: 'Hello {{name}}' }]),
    parameters: { max_tokens: 5 },
    virtual_key: 'a',
    model: 'gpt-4o-mini',
  });
  const slug = made.slug ?? '';
  expect(slug).toStartWith('pp-by-the-cli');
  const updated = await client.prompts.update(slug, {
    string: JSON.stringify([{ role: 'user', content: 'Bye {{name}}' }]),
    parameters: { max_tokens: 6 },
    virtual_key: 'a',
    model: 'gpt-4o-mini',
  });
  expect(updated.prompt_version_id).toBeString();
  const before = await client.prompts.render({ promptID: slug, variables: { name: 'Ada' } });
  expect(before.data).toMatchObject({ max_tokens: 5, messages: [{ content: 'Hello Ada' }] });
  await client.prompts.publish(slug, { version: 2 });
  const after = await client.prompts.render({ promptID: slug, variables: { name: 'Ada' } });
  expect(after.data).toMatchObject({ max_tokens: 6, messages: [{ content: 'Bye Ada' }] });

  a.script(says('Bye ', 'bye'));
  const whole = await client.prompts.completions.create({ promptID: slug, variables: { name: 'Ada' }, stream: false });
  expect(whole).toMatchObject({ choices: [{ message: { content: 'Bye bye' } }] });
  expect(lastCall(a).json).toMatchObject({ messages: [{ content: 'Bye Ada' }] });

  const stream = await client.prompts.completions.create({ promptID: `${slug}@1`, variables: {}, stream: true });
  let text = '';
  for await (const chunk of stream as AsyncIterable<{ choices: { delta?: { content?: string } }[] }>) {
    text += chunk.choices[0]?.delta?.content ?? '';
  }
  expect(text).toBe('Bye bye');

  const read = await client.prompts.retrieve(slug);
  expect(read).toMatchObject({ slug, prompt_version: 2 });
  const versions = await client.prompts.versions.list(slug);
  expect(versions).toMatchObject({ total: 2 });
  await client.prompts.delete(slug);
  expect((await world.gateway.get(`/v1/prompts/${slug}`, { key: world.gateway.workspaceKey })).status).toBe(404);
});
