/** Anthropic's own SDK at OpenAI: models without chat are served by its responses, and so is a client that asks for it. */
import { beforeAll, beforeEach, expect, test } from 'bun:test';
import { type Anthropic, APIError } from '@anthropic-ai/sdk';
import { anthropicClient } from '../clients.ts';
import type { Json } from '../harness.ts';
import { sharedByTests } from '../journey.ts';
import { respondsWith, responseEvents } from '../providers/responses.ts';
import { json, type SimulatedProvider, startProvider, stream } from '../providers/simulated.ts';
import { startWorld, type World } from '../world.ts';

let provider: SimulatedProvider;
let world: World;
let client: Anthropic;

beforeAll(async () => {
  provider = await startProvider(respondsWith('Hello'));
  world = await startWorld({ oai: { provider: 'openai', simulated: provider } });
  client = anthropicClient(world, { 'x-gw-provider': '@oai' });
});
sharedByTests(
  () => world.gateway,
  () => [provider],
);
beforeEach(() => {
  provider.script(respondsWith('Hello', ' there'));
});

const question = { model: 'gpt-5-pro', max_tokens: 100, messages: [{ role: 'user' as const, content: 'Say hello.' }] };
const asked = {
  model: 'gpt-5-pro',
  input: [{ role: 'user', content: 'Say hello.' }],
  max_output_tokens: 100,
  store: false,
  include: ['reasoning.encrypted_content'],
};

test('a message is asked as a response that is not kept', async () => {
  const { data, response } = await client.messages.create(question).withResponse();
  expect(data as Json).toMatchObject({
    id: expect.stringMatching(/^msg_/),
    content: [{ type: 'text', text: 'Hello there' }],
    stop_reason: 'end_turn',
    usage: { input_tokens: 12, output_tokens: 6 },
  });
  expect(provider.calls[0]).toMatchObject({ path: '/v1/responses', json: asked });
  const [record] = await world.records(response.headers.get('x-gw-trace-id') ?? '', 1);
  expect(record).toMatchObject({ endpoint_type: 'messages', req_units: 12, res_units: 6, reasoning_units: 2 });
});

test('a stream is put together by the SDK’s helper', async () => {
  const final = await client.messages.stream(question).finalMessage();
  expect(final.content as Json).toEqual([{ type: 'text', text: 'Hello there' }]);
  expect(provider.calls[0]?.json).toEqual({ ...asked, stream: true });
});

test('a client may ask for it by a beta', async () => {
  const headers = { 'x-gw-beta': 'use-responses-api-2026-07-30' };
  await client.messages.create({ ...question, model: 'gpt-4o' }, { headers });
  expect(provider.calls[0]?.path).toBe('/v1/responses');
});

test('what fails, fails in the SDK’s own form', async () => {
  provider.script(json(429, { error: { message: 'Slow down', type: 'requests', code: 'rate_limit_exceeded' } }));
  const refused = await client.messages.create(question).catch((thrown) => thrown);
  expect(refused).toBeInstanceOf(APIError);
  expect([refused.status, refused.type]).toEqual([429, 'rate_limit_error']);
  const failure = {
    type: 'response.failed',
    sequence_number: 5,
    response: { error: { code: 'server_error', message: 'Oh' } },
  };
  const begun = responseEvents(['Hel']).slice(0, 5);
  provider.script(stream([...begun, `event: response.failed\ndata: ${JSON.stringify(failure)}\n\n`]));
  const broken = await client.messages
    .stream(question)
    .finalMessage()
    .catch((thrown) => thrown);
  expect(broken).toBeInstanceOf(APIError);
  expect(broken.error.error.message).toBe('openai error: Oh');
});
