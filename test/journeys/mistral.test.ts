/** Mistral through the whole program, with OpenAI's SDK, Anthropic's SDK and Mistral's own in front. */
import { beforeAll, beforeEach, describe, expect, test } from 'bun:test';
import type Anthropic from '@anthropic-ai/sdk';
import { Mistral } from '@mistralai/mistralai';
import type OpenAI from 'openai';
import { APIError } from 'openai';
import { anthropicClient, openaiClient } from '../clients.ts';
import { sharedByTests } from '../journey.ts';
import { mistral } from '../providers/mistral.ts';
import { type SimulatedProvider, startProvider } from '../providers/simulated.ts';
import { startWorld, type World } from '../world.ts';

let provider: SimulatedProvider;
let world: World;
let client: OpenAI;
let claude: Anthropic;

beforeAll(async () => {
  provider = await startProvider(mistral({ text: 'Hello' }));
  world = await startWorld({ m: { provider: 'mistral-ai', simulated: provider } });
  client = openaiClient(world, { 'x-gw-provider': '@m' });
  claude = anthropicClient(world, { 'x-gw-provider': '@m' });
});
sharedByTests(
  () => world.gateway,
  () => [provider],
);
beforeEach(() => {
  provider.script(mistral({ text: 'Hello' }));
});

const model = 'mistral-small-latest';
const messages = [{ role: 'user' as const, content: 'Hi' }];
const tool = (more: object = {}) => ({
  type: 'function' as const,
  function: { name: 'f', parameters: { type: 'object' }, ...more },
});
const sent = () => provider.calls[0]?.json;

describe('chat', () => {
  test('is asked in Mistral’s words', async () => {
    const answer = await client.chat.completions.create({
      model,
      messages: [
        { role: 'developer', content: 'Be kind.' },
        { role: 'user', name: 'ann', content: [{ type: 'text', text: 'Hi' }] },
      ],
      max_completion_tokens: 5,
      max_tokens: 9,
      seed: 7,
      user: 'ann',
      store: true,
      tools: [tool({ strict: true, parameters: { $schema: 'x', type: 'object' } })],
      tool_choice: 'required',
      temperature: 0,
    });
    expect(sent()).toEqual({
      model,
      messages: [
        { role: 'system', content: 'Be kind.' },
        { role: 'user', content: [{ type: 'text', text: 'Hi' }] },
      ],
      max_tokens: 5,
      random_seed: 7,
      tools: [tool()],
      tool_choice: 'any',
      temperature: 0,
    });
    expect(answer.choices[0]).toMatchObject({ message: { content: 'Hello' }, finish_reason: 'stop' });
    expect(answer.usage?.total_tokens).toBe(17);
  });

  test('keeps fields that only Mistral knows', async () => {
    const body = { model, messages, safe_prompt: true, prompt_mode: 'reasoning' };
    const answer = await world.call('/v1/chat/completions', body, { 'x-gw-provider': '@m' });
    expect(answer.status).toBe(200);
    expect(sent()).toEqual(body);
  });

  test('streams, with the usage in the last chunk', async () => {
    const stream = await client.chat.completions.create({
      model,
      messages,
      stream: true,
      stream_options: { include_usage: true },
    });
    let text = '';
    let total = 0;
    for await (const chunk of stream) {
      text += chunk.choices[0]?.delta.content ?? '';
      total = chunk.usage?.total_tokens ?? total;
    }
    expect([text, total]).toEqual(['Hello', 17]);
    expect(sent().stream_options).toBeUndefined();
  });

  test('has its thoughts told apart, whole and streamed', async () => {
    provider.script(mistral({ thought: 'Hm', text: 'Hello' }));
    const answer = await client.chat.completions.create({ model, messages });
    expect(answer.choices[0]?.message as unknown).toMatchObject({ content: 'Hello', reasoning_content: 'Hm' });
    const stream = await client.chat.completions.create({ model, messages, stream: true });
    let text = '';
    let thought = '';
    for await (const { choices } of stream) {
      const delta: { content?: string | null; reasoning_content?: string } = choices[0]?.delta ?? {};
      text += delta.content ?? '';
      thought += delta.reasoning_content ?? '';
    }
    expect([thought, text]).toEqual(['Hm', 'Hello']);
  });

  test('ends by OpenAI’s words, or by its own where answers need not be strict', async () => {
    provider.script(mistral({ text: 'He', finish: 'model_length' }));
    const ends = async (strict: string) => {
      const headers = { 'x-gw-provider': '@m', 'x-gw-strict-open-ai-compliance': strict };
      const answer = await world.call('/v1/chat/completions', { model, messages }, headers);
      return (await answer.json()).choices[0].finish_reason;
    };
    expect([await ends('true'), await ends('false')]).toEqual(['length', 'model_length']);
  });

  test('tells what Mistral refuses, with its status', async () => {
    const refused = client.chat.completions.create({
      model,
      messages,
      metadata: {},
      logit_bias: {},
      web_search_options: {},
    });
    const fault = await refused.catch((error: unknown) => error);
    expect(fault).toBeInstanceOf(APIError);
    expect(fault).toMatchObject({
      status: 422,
      message: expect.stringContaining('body.web_search_options: Extra inputs are not permitted'),
    });
  });
});

describe('tools', () => {
  const calls = [
    { id: 'abcDEF123', name: 'f', arguments: '{"a":1}' },
    { id: 'abcDEF124', name: 'f', arguments: '{}' },
  ];

  test('are called in parallel, whole and streamed', async () => {
    provider.script(mistral({ calls }));
    const told = calls.map(({ id, name, arguments: args }) => ({
      id,
      type: 'function',
      function: { name, arguments: args },
    }));
    const answer = await client.chat.completions.create({ model, messages, tools: [tool()] });
    expect(answer.choices[0]).toMatchObject({ finish_reason: 'tool_calls', message: { tool_calls: told } });
    const streamed = client.chat.completions.stream({ model, messages, tools: [tool()] });
    const final = await streamed.finalChatCompletion();
    expect(final.choices[0]?.message.tool_calls).toMatchObject(told);
  });

  test('called by another provider go on: their ids become Mistral’s, the same for call and result', async () => {
    const history = (id: string) => [
      ...messages,
      {
        role: 'assistant' as const,
        content: null,
        tool_calls: [{ id, type: 'function' as const, function: { name: 'f', arguments: '{}' } }],
      },
      { role: 'tool' as const, tool_call_id: id, content: '2' },
    ];
    await client.chat.completions.create({ model, messages: history('call_0123456789abcdef') });
    await client.chat.completions.create({ model, messages: history('call_0123456789abcdef') });
    await client.chat.completions.create({ model, messages: history('abcDEF123') });
    const ids = provider.calls.map(({ json }) => [json.messages[1].tool_calls[0].id, json.messages[2].tool_call_id]);
    const made = ids[0]?.[0];
    expect(made).toMatch(/^[A-Za-z0-9]{9}$/);
    expect(ids).toEqual([
      [made, made],
      [made, made],
      ['abcDEF123', 'abcDEF123'],
    ]);
  });

  test('work for a client of Anthropic’s dialect, with its own ids', async () => {
    provider.script(mistral({ thought: 'Hm', calls: [{ id: 'abcDEF123', name: 'f', arguments: '{"a":1}' }] }));
    const answer = await claude.messages.create({
      model,
      max_tokens: 9,
      tools: [{ name: 'f', input_schema: { type: 'object' } }],
      messages: [
        { role: 'user', content: 'Hi' },
        { role: 'assistant', content: [{ type: 'tool_use', id: 'toolu_01', name: 'f', input: {} }] },
        { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'toolu_01', content: '2' }] },
      ],
    });
    expect(answer).toMatchObject({ stop_reason: 'tool_use', usage: { output_tokens: 5 } });
    expect(answer.content.find(({ type }) => type === 'tool_use')).toMatchObject({ id: 'abcDEF123', input: { a: 1 } });
    expect(sent()).toMatchObject({ max_tokens: 9 });
    expect(sent().messages[1].tool_calls[0].id).toBe(sent().messages[2].tool_call_id);
  });
});

describe('beside chat', () => {
  test('completions fill in the middle, whole and streamed', async () => {
    const asked = { model: 'codestral-latest', prompt: 'def f(', suffix: 'return 1', max_tokens: 5, seed: 1 };
    const answer = await client.completions.create(asked);
    expect(answer).toMatchObject({
      object: 'text_completion',
      choices: [{ text: 'Hello', index: 0, finish_reason: 'stop' }],
    });
    expect(provider.calls[0]).toMatchObject({
      path: '/v1/fim/completions',
      json: { model: 'codestral-latest', prompt: 'def f(', suffix: 'return 1', max_tokens: 5, random_seed: 1 },
    });
    let text = '';
    for await (const { choices } of await client.completions.create({ ...asked, stream: true }))
      text += choices[0]?.text;
    expect(text).toBe('Hello');
  });

  test('Mistral’s own SDK works through the gateway', async () => {
    const own = new Mistral({
      apiKey: world.gateway.workspaceKey,
      serverURL: world.gateway.url,
    });
    const headers = { headers: { 'x-gw-provider': '@m' } };
    const { choices } = await own.chat.complete({ model, messages, randomSeed: 7 }, headers);
    expect(choices?.[0]?.message?.content).toBe('Hello');
    const { pages } = await own.ocr.process(
      { model: 'mistral-ocr-latest', document: { type: 'document_url', documentUrl: 'https://example.com/a.pdf' } },
      headers,
    );
    expect(pages[0]?.markdown).toBe('# Title');
    const { data } = await own.models.list(undefined, headers);
    expect(data?.[0]).toMatchObject({ id: 'mistral-small-latest' });
  });

  test('embeddings keep the format that the client’s SDK asks for', async () => {
    const { data } = await client.embeddings.create({ model: 'mistral-embed', input: 'a', encoding_format: 'float' });
    expect(data[0]?.embedding).toEqual([0.5, 1]);
  });
});
