/** The simulated host is one that OpenAI's own SDK can talk to. */
import { afterAll, beforeAll, expect, test } from 'bun:test';
import OpenAI, { APIError } from 'openai';
import { answers, breaksAfter, chatUsage } from './chat-api.ts';
import { type SimulatedProvider, startProvider } from './simulated.ts';

let host: SimulatedProvider;
let client: OpenAI;
beforeAll(async () => {
  host = await startProvider(answers({ content: 'Hello there', reasoning: 'Hm.' }));
  client = new OpenAI({ apiKey: 'sk-test', baseURL: host.url, maxRetries: 0 });
});
afterAll(() => host.stop());

const question = { model: 'llama-3.3-70b', messages: [{ role: 'user' as const, content: 'Hi' }] };

test('it answers whole and streamed', async () => {
  const { choices, usage } = await client.chat.completions.create(question);
  expect(choices[0]?.message.content).toBe('Hello there');
  const stream = client.chat.completions.stream({ ...question, stream_options: { include_usage: true } });
  expect(await stream.finalContent()).toBe('Hello there');
  expect(await stream.totalUsage()).toMatchObject({ prompt_tokens: usage?.prompt_tokens ?? 0 });
  expect(usage as unknown).toEqual(chatUsage);
});

test('its calls come in pieces that the SDK puts together', async () => {
  host.script(
    answers({
      tool_calls: [
        { id: 'c1', name: 'f', arguments: '{"city":"Rome"}' },
        { id: 'c2', name: 'g', arguments: '{}' },
      ],
    }),
  );
  const { choices } = await client.chat.completions.stream(question).finalChatCompletion();
  expect(choices[0]?.finish_reason).toBe('tool_calls');
  expect(choices[0]?.message.tool_calls).toMatchObject([
    { id: 'c1', function: { name: 'f', arguments: '{"city":"Rome"}' } },
    { id: 'c2', function: { name: 'g', arguments: '{}' } },
  ]);
});

test.each([
  [{ ...question, thinking: {} }, "property 'thinking' is unsupported"],
  [{ ...question, messages: [{ role: 'tool' as const, tool_call_id: 'x', content: '' }] }, 'was not asked for'],
  [{ ...question, tools: [{ type: 'function' as const, function: { name: 'x'.repeat(65) } }] }, 'Invalid'],
])('it refuses what such hosts refuse: %j', async (body, message) => {
  const fault = await client.chat.completions.create(body).catch((thrown) => thrown);
  expect(fault).toBeInstanceOf(APIError);
  expect(fault).toMatchObject({ status: 400, message: expect.stringContaining(message) });
});

test('it refuses a wrong key, other paths, and may fail in the middle', async () => {
  const stranger = new OpenAI({ apiKey: 'sk-wrong', baseURL: host.url, maxRetries: 0 });
  expect(await stranger.chat.completions.create(question).catch(({ status }) => status)).toBe(401);
  expect(await client.responses.create({ model: 'm', input: 'Hi' }).catch(({ status }) => status)).toBe(404);
  host.script(breaksAfter(3, { content: 'Hello there' }, { message: 'Out of capacity', code: 503 }));
  const broken = await client.chat.completions
    .stream(question)
    .done()
    .catch((thrown) => thrown);
  expect(broken.message).toContain('Out of capacity');
});
