/** Which provider is asked and answered otherwise: its quirks as its own server sees them, and its answers as a client does. */
import { beforeAll, describe, expect, test } from 'bun:test';
import { type Plane, startPlane } from '../../../test/gateway-deps.ts';
import { sharedByTests } from '../../../test/journey.ts';
import { json, type SimulatedProvider, startProvider, stream } from '../../../test/providers/simulated.ts';
import type { JsonObject } from '../provider.ts';

let plane: Plane;
let provider: SimulatedProvider;

beforeAll(async () => {
  plane = startPlane();
  provider = await startProvider(json(200, { choices: [] }));
});
sharedByTests(
  () => plane,
  () => [provider],
);

const messages = [{ role: 'user', content: 'Hi' }];

const ask = (id: string, body: JsonObject, path = '/v1/chat/completions') =>
  plane.call(
    path,
    { model: 'vendor/m', messages, ...body },
    {
      'x-gw-provider': id,
      'x-gw-custom-host': provider.url,
      'x-gw-predibase-tenant': 'acme',
      authorization: 'Bearer provider-secret',
    },
  );

const toMaxTokens = `together-ai fireworks-ai deepseek mistral-ai perplexity-ai sambanova openrouter chutes poe crusoe
  nano-gpt synthetic xiaomi-mimo publicai sarvam ollama vllm sgl lm-studio local-ai`.split(/\s+/);
const keepsNewerName = ['groq', 'x-ai', 'cerebras', 'minimax', 'vercel-ai-gateway', 'github'];
const tools = [{ type: 'function', function: { name: 'f', strict: true } }];
const bareTools = [{ type: 'function', function: { name: 'f' } }];
const textList = [
  {
    role: 'user',
    content: [
      { type: 'text', text: 'H' },
      { type: 'text', text: 'i' },
    ],
  },
];
const marked = [{ role: 'user', content: [{ type: 'text', text: 'Hi', cache_control: { type: 'ephemeral' } }] }];
const unmarked = [{ role: 'user', content: [{ type: 'text', text: 'Hi' }] }];
const named = [{ role: 'user', name: 'ann', content: 'Hi' }];

const rows: [id: string, asked: JsonObject, sent: JsonObject][] = [
  ...toMaxTokens.map((id): (typeof rows)[number] => [id, { max_completion_tokens: 5 }, { max_tokens: 5 }]),
  ...keepsNewerName.map((id): (typeof rows)[number] => [
    id,
    { max_completion_tokens: 5 },
    { max_completion_tokens: 5 },
  ]),
  ...['deepseek', 'moonshot', 'dashscope', 'sambanova', 'publicai'].map((id): (typeof rows)[number] => [
    id,
    { messages: textList },
    { messages },
  ]),
  ...['x-ai', 'databricks', 'mistral-ai'].map((id): (typeof rows)[number] => [id, { messages: named }, { messages }]),
  ...['fireworks-ai', 'x-ai', 'mistral-ai'].map((id): (typeof rows)[number] => [id, { tools }, { tools: bareTools }]),
  ...['mistral-ai', 'fireworks-ai'].map((id): (typeof rows)[number] => [
    id,
    { tool_choice: 'required' },
    { tool_choice: 'any' },
  ]),
  ...['openrouter', 'databricks'].map((id): (typeof rows)[number] => [id, { messages: marked }, { messages: marked }]),
  ...['groq', 'chutes', 'nebius'].map((id): (typeof rows)[number] => [
    id,
    { messages: marked },
    { messages: unmarked },
  ]),
  ['dashscope', { messages: marked }, { messages: marked }],
  ['groq', { reasoning_effort: 'low', logprobs: true, top_logprobs: 2, logit_bias: {} }, { reasoning_effort: 'low' }],
  ['x-ai', { reasoning_effort: 'low' }, { reasoning_effort: 'low' }],
  ['openrouter', { reasoning_effort: 'low' }, { reasoning: { effort: 'low' } }],
  ['openrouter', { stream_options: { include_usage: true } }, { usage: { include: true } }],
  ['dashscope', { reasoning_effort: 'low' }, { enable_thinking: true, thinking_budget: 1_024 }],
  ['deepseek', { reasoning_effort: 'low' }, { reasoning_effort: 'low', thinking: { type: 'enabled' } }],
  ['z-ai', { reasoning_effort: 'high' }, { reasoning_effort: 'high', thinking: { type: 'enabled' } }],
  ['z-ai', { reasoning_effort: 'none' }, { reasoning_effort: 'none', thinking: { type: 'disabled' } }],
  ...['cerebras', 'crusoe', 'ollama'].map((id): (typeof rows)[number] => [
    id,
    { messages: [{ role: 'assistant', content: 'Four.', reasoning: 'Hm.', reasoning_content: 'Hm.' }] },
    { messages: [{ role: 'assistant', content: 'Four.', reasoning: 'Hm.' }] },
  ]),
  [
    'cerebras',
    {
      model: 'zai-glm-4.7',
      messages: [
        { role: 'assistant', content: 'Four.', reasoning_content: 'Hm.' },
        { role: 'assistant', content: [{ type: 'text', text: 'Four.' }], reasoning: 'Hm.' },
        { role: 'assistant', content: null, reasoning: 'Hm.', tool_calls: [] },
        { role: 'user', content: 'And?' },
      ],
    },
    {
      model: 'zai-glm-4.7',
      messages: [
        { role: 'assistant', content: '<think>Hm.</think>Four.' },
        {
          role: 'assistant',
          content: [
            { type: 'text', text: '<think>Hm.</think>' },
            { type: 'text', text: 'Four.' },
          ],
        },
        { role: 'assistant', content: '<think>Hm.</think>', tool_calls: [] },
        { role: 'user', content: 'And?' },
      ],
    },
  ],
  ...['zhipu', 'byteplus', 'volcengine'].map((id): (typeof rows)[number] => [
    id,
    { reasoning_effort: 'none' },
    { thinking: { type: 'disabled' } },
  ]),
  ['deepseek', { seed: 1, user: 'u', logit_bias: {}, parallel_tool_calls: false, service_tier: 'auto', n: 1 }, {}],
  ['perplexity-ai', { seed: 1, user: 'u', logit_bias: {}, n: 1, tools: [] }, {}],
  [
    'cerebras',
    { frequency_penalty: 1, presence_penalty: 1, logit_bias: {}, logprobs: true, parallel_tool_calls: true },
    {},
  ],
  ['sambanova', { presence_penalty: 1, frequency_penalty: 1, logit_bias: {}, user: 'u', seed: 1, logprobs: true }, {}],
  ['fireworks-ai', { parallel_tool_calls: true, service_tier: 'auto', store: true }, {}],
  ['fireworks-ai', { model: 'llama' }, { model: 'accounts/fireworks/models/llama' }],
  ['lemonfox-ai', { n: 1, user: 'u', seed: 1, response_format: { type: 'text' }, stream_options: {} }, {}],
  ['monsterapi', { max_tokens: 9_000, temperature: 1.5 }, { max_length: 2_048, temperature: 1 }],
  ['moonshot', { temperature: 1.5 }, { temperature: 1 }],
  ['huggingface', { temperature: 0 }, { temperature: 0.01 }],
  ['predibase', { model: 'llama:tuned/2' }, { model: 'tuned/2' }],
  ['nebius', { messages: [{ role: 'developer', content: 'Hi' }] }, { messages: [{ role: 'system', content: 'Hi' }] }],
];

describe('what is asked', () => {
  test.each(rows)('%s, of %j, sees %j', async (id, asked, sent) => {
    await (await ask(id, asked)).arrayBuffer();
    const body = provider.calls[0]?.json;
    expect(body).toEqual({ model: 'vendor/m', messages, ...sent });
  });

  test.each([
    ['perplexity-ai', { tools: bareTools }, 'tools'],
    ['perplexity-ai', { n: 2 }, 'n'],
    ['deepseek', { n: 2 }, 'n'],
    ['lemonfox-ai', { response_format: { type: 'json_object' } }, 'response_format'],
    ['moonshot', { tool_choice: 'required', tools: bareTools }, 'tool_choice'],
  ])('%s, of %j, is not asked: the answer names %s', async (id, asked, field) => {
    const answer = await ask(id, asked);
    expect([answer.status, (await answer.json()).error.field]).toEqual([400, field]);
    expect(provider.calls).toEqual([]);
  });

  test('a model in Predibase’s path cannot be told from its adapter', async () => {
    await (await ask('predibase', { model: 'llama:tuned/2' })).arrayBuffer();
    expect(provider.calls[0]?.path).toBe('/v1/acme/deployments/v2/llms/llama/v1/chat/completions');
  });

  test('OpenRouter is told the application', async () => {
    await plane
      .call(
        '/v1/chat/completions',
        { model: 'm', messages },
        {
          'x-gw-provider': 'openrouter',
          'x-gw-custom-host': provider.url,
          authorization: 'Bearer provider-secret',
          'http-referer': 'https://app.example',
          'x-title': 'App',
        },
      )
      .then((answer) => answer.arrayBuffer());
    expect(provider.calls[0]?.headers).toMatchObject({ 'http-referer': 'https://app.example', 'x-title': 'App' });
  });
});

const answered = (message: JsonObject, more: JsonObject = {}, beside: JsonObject = {}): JsonObject => ({
  id: 'a',
  created: 1,
  model: 'm',
  choices: [{ index: 0, message: { role: 'assistant', content: 'x', ...message }, finish_reason: 'stop', ...more }],
  ...beside,
});

const thought = answered({ reasoning: 'hm' });
const bothThoughts = answered({ reasoning: 'hm', reasoning_content: 'hm' });
const ended = (finish_reason: string) => answered({}, { finish_reason });

describe('what is answered', () => {
  test.each<[id: string, answer: JsonObject, given: JsonObject]>([
    ...['groq', 'cerebras', 'openrouter', 'vllm', 'ollama', 'together-ai', 'lm-studio', 'vercel-ai-gateway'].map(
      (id): [string, JsonObject, JsonObject] => [id, thought, bothThoughts],
    ),
    ['together-ai', ended('eos'), ended('stop')],
    ['mistral-ai', ended('model_length'), ended('length')],
    ['zhipu', ended('sensitive'), ended('content_filter')],
    ['z-ai', ended('network_error'), ended('length')],
    ['huggingface', ended('eos_token'), ended('stop')],
    ['deepseek', ended('insufficient_system_resource'), ended('length')],
    [
      'deepseek',
      answered({}, {}, { usage: { prompt_tokens: 5, prompt_cache_hit_tokens: 4 } }),
      answered(
        {},
        {},
        { usage: { prompt_tokens: 5, prompt_cache_hit_tokens: 4, prompt_tokens_details: { cached_tokens: 4 } } },
      ),
    ],
    [
      'x-ai',
      answered(
        {},
        {},
        {
          usage: {
            prompt_tokens: 1,
            completion_tokens: 2,
            total_tokens: 6,
            completion_tokens_details: { reasoning_tokens: 3 },
          },
        },
      ),
      answered(
        {},
        {},
        {
          usage: {
            prompt_tokens: 1,
            completion_tokens: 5,
            total_tokens: 6,
            completion_tokens_details: { reasoning_tokens: 3 },
          },
        },
      ),
    ],
    [
      'databricks',
      answered({
        content: [
          { type: 'reasoning', summary: [{ text: 'hm' }] },
          { type: 'text', text: 'x' },
        ],
      }),
      answered({ reasoning_content: 'hm' }),
    ],
    [
      'gigachat',
      answered({ function_call: { name: 'f', arguments: {} } }, { finish_reason: 'function_call' }),
      answered(
        {
          tool_calls: [
            { index: 0, id: expect.any(String), type: 'function', function: { name: 'f', arguments: '{}' } },
          ],
        },
        { finish_reason: 'tool_calls' },
      ),
    ],
  ])('%s, with %j, is given as %j', async (id, answer, given) => {
    provider.script(json(200, answer));
    expect(await (await ask(id, {})).json()).toEqual(given);
  });

  test('chunks of Hugging Face without a name share one', async () => {
    const chunk = (more: object) =>
      `data: ${JSON.stringify({ id: '', object: 'chat.completion.chunk', choices: [{ index: 0, delta: {}, finish_reason: null, ...more }] })}\n\n`;
    provider.script(
      stream([chunk({ delta: { content: 'Hi' } }), chunk({ finish_reason: 'eos_token' }), 'data: [DONE]\n\n']),
    );
    const text = await (await ask('huggingface', { stream: true })).text();
    const ids = [...text.matchAll(/"id":"([^"]*)"/g)].map(([, id]) => id);
    expect(ids).toHaveLength(2);
    expect(new Set(ids).size).toBe(1);
    expect(ids[0]).toMatch(/^chatcmpl-.+/);
    expect(text).toContain('"finish_reason":"stop"');
  });

  test('an answer that needs no mending keeps its bytes, whichever the provider', async () => {
    const odd =
      '{ "id":"a","created":1, "model":"m","choices":[ {"index":0,"message":{"content":"x"},"finish_reason":"stop"} ] }';
    for (const id of ['groq', 'mistral-ai', 'deepseek', 'chutes', 'minimax', 'openrouter', 'x-ai']) {
      provider.script((_, response) => void response.writeHead(200, { 'content-type': 'application/json' }).end(odd));
      expect(await (await ask(id, {})).text()).toBe(odd);
    }
  });
});
