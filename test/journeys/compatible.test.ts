/** OpenAI-compatible providers through the whole program, with OpenAI's SDK in front: saved under any of their names, with tools, images, thoughts, usage and cost. */
import { beforeAll, describe, expect, test } from 'bun:test';
import type OpenAI from 'openai';
import { openaiClient } from '../clients.ts';
import { sharedByTests } from '../journey.ts';
import { json, type SimulatedProvider, startProvider, stream } from '../providers/simulated.ts';
import { startWorld, type World } from '../world.ts';

let provider: SimulatedProvider;
let world: World;
let client: OpenAI;

beforeAll(async () => {
  provider = await startProvider(json(200, {}));
  world = await startWorld({
    grok: { provider: 'xai', simulated: provider },
    fast: { provider: 'groq', simulated: provider },
  });
  client = openaiClient(world);
});
sharedByTests(
  () => world.gateway,
  () => [provider],
);

const messages = [{ role: 'user' as const, content: 'Hi' }];
const usage = {
  prompt_tokens: 100,
  completion_tokens: 20,
  total_tokens: 150,
  completion_tokens_details: { reasoning_tokens: 30 },
};
const answered = (message: object, finish_reason = 'stop') => ({
  id: 'a',
  object: 'chat.completion',
  created: 1,
  model: 'grok-4',
  choices: [{ index: 0, message: { role: 'assistant', content: null, ...message }, finish_reason }],
  usage,
});

describe('a provider saved under another of its names', () => {
  test('is the one that is meant, and its thoughts are paid for', async () => {
    provider.script(json(200, answered({ content: 'Hello' })));
    const { data, response } = await client.chat.completions.create({ model: '@grok/grok-4', messages }).withResponse();
    expect(data.usage?.completion_tokens).toBe(50);
    expect(provider.calls[0]).toMatchObject({
      path: '/v1/chat/completions',
      headers: { authorization: 'Bearer sk-grok-secret' },
      json: { model: 'grok-4', messages },
    });
    const [record] = await world.records(response.headers.get('x-gw-trace-id') ?? '', 1);
    expect(record).toMatchObject({ ai_org: 'x-ai', ai_model: 'grok-4', req_units: 100, res_units: 50 });
    expect(record?.cost).toBeGreaterThan(0);
  });

  test('is shown under its id', async () => {
    const { body } = await world.gateway.get('/v1/integrations');
    const saved = body.data.map(({ slug, ai_provider_id }: { slug: string; ai_provider_id: string }) => [
      slug,
      ai_provider_id,
    ]);
    expect(saved).toContainEqual(['grok', 'x-ai']);
  });
});

describe('Groq', () => {
  const call = (more: object) => ({ tool_calls: [{ index: 0, ...more }] });
  const chunk = (delta: object, more: object = {}, last: object = {}) =>
    `data: ${JSON.stringify({ id: 'a', object: 'chat.completion.chunk', created: 1, model: 'm', choices: [{ index: 0, delta, finish_reason: null, ...more }], ...last })}\n\n`;

  test('streams thoughts, then a call of a tool, with an image asked about', async () => {
    provider.script(
      stream([
        chunk({ role: 'assistant', reasoning: 'Let me ' }),
        chunk({ reasoning: 'look.' }),
        chunk(call({ id: 'c1', type: 'function', function: { name: 'look', arguments: '' } })),
        chunk(call({ function: { arguments: '{"at":"it"}' } })),
        chunk({}, { finish_reason: 'tool_calls' }, { x_groq: { id: 'r', usage: { ...usage, total_tokens: 120 } } }),
        'data: [DONE]\n\n',
      ]),
    );
    const content = [
      { type: 'text' as const, text: 'What is it?' },
      { type: 'image_url' as const, image_url: { url: 'data:image/png;base64,aGk=' } },
    ];
    const tools = [{ type: 'function' as const, function: { name: 'look', parameters: { type: 'object' } } }];
    const body = { model: '@fast/llama-4', messages: [{ role: 'user' as const, content }], tools };
    let thought = '';
    const streamed = client.chat.completions.stream({ ...body, reasoning_effort: 'low' });
    streamed.on('chunk', ({ choices }) => {
      const delta: { content?: string | null; reasoning_content?: string } = choices[0]?.delta ?? {};
      thought += delta.reasoning_content ?? '';
    });
    const { choices } = await streamed.finalChatCompletion();
    expect(thought).toBe('Let me look.');
    expect(choices[0]).toMatchObject({
      finish_reason: 'tool_calls',
      message: { tool_calls: [{ id: 'c1', function: { name: 'look', arguments: '{"at":"it"}' } }] },
    });
    expect(provider.calls[0]?.json).toEqual({ ...body, model: 'llama-4', reasoning_effort: 'low', stream: true });
  });
});
