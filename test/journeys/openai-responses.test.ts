/** OpenAI's own SDK on the responses route: made, streamed, kept, read again and deleted. */
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'bun:test';
import { APIError, type OpenAI } from 'openai';
import { openaiClient } from '../clients.ts';
import { inputItems, modelResponse, respondsWith, responseEvents } from '../providers/responses.ts';
import { type SimulatedProvider, startProvider, stream } from '../providers/simulated.ts';
import { startWorld, type World } from '../world.ts';

let a: SimulatedProvider;
let b: SimulatedProvider;
let world: World;
let client: OpenAI;

beforeAll(async () => {
  a = await startProvider(respondsWith('Hello'));
  b = await startProvider(respondsWith('Hello'));
  world = await startWorld({ a: { provider: 'openai', simulated: a }, b: { provider: 'openai', simulated: b } });
  client = openaiClient(world, { 'x-gw-provider': '@a' });
});
afterAll(async () => {
  await world.stop();
  await a.stop();
  await b.stop();
});
beforeEach(() => {
  for (const provider of [a, b]) {
    provider.calls.length = 0;
    provider.script(respondsWith('Hello', ' there'));
  }
});
afterEach(() => {
  expect(world.gateway.faults).toEqual([]);
});

const question = { model: 'gpt-4o-mini', input: 'Say hello.', store: true, metadata: { team: 'search' } };

test('an answer is what the provider sent, and what it cost is known', async () => {
  const { data, response } = await client.responses.create(question).withResponse();
  expect(data.output_text).toBe('Hello there');
  expect(JSON.parse(JSON.stringify(data))).toMatchObject(modelResponse('Hello there'));
  expect(a.calls[0]).toMatchObject({ method: 'POST', path: '/v1/responses', json: question });
  const [record] = await world.records(response.headers.get('x-gw-trace-id') ?? '', 1);
  expect(record).toMatchObject({
    req_units: 12,
    res_units: 6,
    reasoning_units: 2,
    endpoint_type: 'createModelResponse',
  });
});

test('a kept response is read, followed by its input, cancelled and deleted', async () => {
  expect((await client.responses.retrieve('resp_1', { include: ['message.output_text.logprobs'] })).id).toBe('resp_1');
  const pages = await client.responses.inputItems.list('resp_1', { limit: 2, order: 'asc' });
  expect(pages.data as unknown).toEqual(inputItems.data);
  expect((await client.responses.cancel('resp_1')).status).toBe('cancelled');
  await client.responses.delete('resp_1');
  expect(a.calls.map(({ method, path }) => `${method} ${path}`)).toEqual([
    'GET /v1/responses/resp_1?include%5B%5D=message.output_text.logprobs',
    'GET /v1/responses/resp_1/input_items?limit=2&order=asc',
    'POST /v1/responses/resp_1/cancel',
    'DELETE /v1/responses/resp_1',
  ]);
});

describe('a stream', () => {
  test('arrives event by event in its own order and is put together by the SDK', async () => {
    const events = client.responses.stream(question);
    const types: string[] = [];
    const numbers: number[] = [];
    for await (const event of events) {
      types.push(event.type);
      numbers.push(event.sequence_number);
    }
    expect(types).toEqual([
      'response.created',
      'response.in_progress',
      'response.output_item.added',
      'response.content_part.added',
      'response.output_text.delta',
      'response.output_text.delta',
      'response.output_text.done',
      'response.content_part.done',
      'response.output_item.done',
      'response.completed',
    ]);
    expect(numbers).toEqual(types.map((_, index) => index));
    expect((await events.finalResponse()).output_text).toBe('Hello there');
  });

  test('that breaks ends with a failure that carries its id and the next number', async () => {
    const half = Promise.withResolvers<void>();
    a.script(stream(responseEvents(['Half', ' of it']).slice(0, 5), 'cut', half.promise));
    const events = await client.responses.create({ ...question, stream: true });
    const seen = [];
    for await (const event of events) if (seen.push(event) === 5) half.resolve();
    expect(seen.at(-1) as unknown).toMatchObject({
      type: 'response.failed',
      sequence_number: 5,
      response: { id: 'resp_1', status: 'failed', error: { code: 'stream_incomplete' } },
    });
  });

  test('that breaks before its first event is taken over by the next target', async () => {
    a.script(stream([], 'cut'));
    const config = await world.saveConfig({
      strategy: { mode: 'fallback' },
      targets: [{ provider: '@a' }, { provider: '@b' }],
    });
    const answer = await openaiClient(world, { 'x-gw-config': config }).responses.stream(question).finalResponse();
    expect([answer.output_text, a.calls.length, b.calls.length]).toEqual(['Hello there', 1, 1]);
  });
});

test('a provider that has no responses is refused with what to do', async () => {
  await world.saveProvider('claude', 'anthropic', a);
  const error = await openaiClient(world, { 'x-gw-provider': '@claude' })
    .responses.retrieve('resp_1')
    .catch((fault: unknown) => fault);
  expect(error).toBeInstanceOf(APIError);
  expect(error).toMatchObject({ status: 400, code: 'unsupported_endpoint' });
});
