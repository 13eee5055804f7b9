/** Streams, other dialects and addresses of OpenAI-compatible providers, through the real data plane. */
import { describe, expect, test } from 'bun:test';
import { askedProvider } from '../../../test/asked-provider.ts';
import { callFacts } from '../../../test/call-facts.ts';
import { json, stream } from '../../../test/providers/simulated.ts';
import { providers } from '../index.ts';

const at = askedProvider();

describe('streams', () => {
  const said = (text: string, finish: string | null = null) =>
    JSON.stringify({ id: 'a', choices: [{ index: 0, delta: { content: text }, finish_reason: finish }] });

  test.each(['deepinfra', 'sambanova'])('%s may leave out the blank lines between events', async (id) => {
    at.provider.script(
      stream([`data: ${said('He')}\n`, `data: ${said('llo')}\ndata: ${said('', 'stop')}\n`, 'data: [DONE]\n']),
    );
    const body = { model: 'm', stream: true, messages: [{ role: 'user', content: 'Hi' }] };
    const answer = await at.plane.call('/v1/chat/completions', body, at.headers(id));
    expect(await answer.text()).toBe(
      `data: ${said('He')}\n\ndata: ${said('llo')}\n\ndata: ${said('', 'stop')}\n\ndata: [DONE]\n\n`,
    );
  });

  test('a failure of MiniMax at the head of a stream is an error with its status', async () => {
    at.provider.script(stream(['data: {"base_resp":{"status_code":1004,"status_msg":"bad key"}}\n\n']));
    const body = { model: 'm', stream: true, messages: [{ role: 'user', content: 'Hi' }] };
    const answer = await at.plane.call('/v1/chat/completions', body, at.headers('minimax'));
    expect([answer.status, (await answer.json()).error.message]).toEqual([401, 'minimax error: bad key']);
  });

  test('the usage that Groq tells in its own object is counted', async () => {
    const last = {
      id: 'a',
      choices: [{ index: 0, delta: {}, finish_reason: 'stop' }],
      x_groq: { usage: { prompt_tokens: 7, completion_tokens: 3, total_tokens: 10 } },
    };
    at.provider.script(stream([`data: ${said('Hi')}\n\n`, `data: ${JSON.stringify(last)}\n\n`, 'data: [DONE]\n\n']));
    await at.plane.settled();
    const body = { model: 'm', stream: true, messages: [{ role: 'user', content: 'Hi' }] };
    await (await at.plane.call('/v1/chat/completions', body, at.headers('groq'))).text();
    const [record] = await at.plane.settled();
    expect(record?.metrics).toMatchObject({ req_units: 7, res_units: 3, usage_estimated: false });
  });

  test('functions that a client asks for come back as functions, piece by piece', async () => {
    const piece = (call: object) =>
      `data: ${JSON.stringify({ id: 'a', choices: [{ index: 0, delta: { tool_calls: [{ index: 0, ...call }] }, finish_reason: null }] })}\n\n`;
    at.provider.script(
      stream([
        piece({ id: 'c', type: 'function', function: { name: 'f', arguments: '' } }),
        piece({ function: { arguments: '{"a":1}' } }),
        `data: ${JSON.stringify({ id: 'a', choices: [{ index: 0, delta: {}, finish_reason: 'tool_calls' }] })}\n\n`,
        'data: [DONE]\n\n',
      ]),
    );
    const body = { model: 'm', stream: true, functions: [{ name: 'f' }], messages: [{ role: 'user', content: 'Hi' }] };
    const text = await (await at.plane.call('/v1/chat/completions', body, at.headers('chutes'))).text();
    expect(at.provider.calls[0]?.json).toMatchObject({ tools: [{ type: 'function', function: { name: 'f' } }] });
    expect(at.provider.calls[0]?.json.functions).toBeUndefined();
    const deltas = [...text.matchAll(/"choices":\[(.*?\})\]/g)].map(([, choice = '']) => JSON.parse(choice));
    expect(deltas.map(({ delta, finish_reason }) => [delta.function_call, finish_reason])).toEqual([
      [{ name: 'f', arguments: '' }, null],
      [{ arguments: '{"a":1}' }, null],
      [undefined, 'function_call'],
    ]);
  });
});

describe('other dialects in front', () => {
  const completion = {
    id: 'a',
    model: 'm',
    choices: [{ index: 0, message: { role: 'assistant', content: 'Hi' }, finish_reason: 'stop' }],
    usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 },
  };
  const message = { model: 'm', max_tokens: 5, messages: [{ role: 'user', content: 'Hi' }] };

  test('messages are served by chat where a provider has nothing else, with its quirks', async () => {
    at.provider.script(json(200, completion));
    const { body, sent } = await at.ask('together-ai', '/messages', message);
    expect(sent).toMatchObject({ model: 'm', max_tokens: 5 });
    expect(sent.max_completion_tokens).toBeUndefined();
    expect(body).toMatchObject({ type: 'message', content: [{ type: 'text', text: 'Hi' }] });
  });

  test('Claude on Databricks is asked in its own dialect, any other model by chat', async () => {
    at.provider.script(json(200, completion));
    await at.ask('databricks', '/messages', { ...message, model: 'databricks-claude-sonnet-4-5' });
    await at.ask('databricks', '/messages', { ...message, model: 'databricks-gpt-oss' });
    expect(at.provider.calls.map(({ path }) => path)).toEqual([
      '/v1/ai-gateway/anthropic/v1/messages',
      '/v1/ai-gateway/mlflow/v1/chat/completions',
    ]);
    expect(at.provider.calls[0]?.headers).toMatchObject({ 'anthropic-version': '2023-06-01' });
  });

  const turns = [
    { role: 'user', content: [{ type: 'text', text: 'Hi', cache_control: { type: 'ephemeral', ttl: '1h' } }] },
    {
      role: 'assistant',
      content: [
        { type: 'thinking', thinking: 'Hm', signature: '' },
        { type: 'tool_use', id: 'toolu_1', name: 'f', input: { a: 1 } },
      ],
    },
    { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'toolu_1', content: '2' }] },
  ];

  test.each([
    ['moonshot', 'reasoning_content'],
    ['z-ai', 'reasoning_content'],
    ['openrouter', 'reasoning'],
    ['chutes', null],
  ])('thoughts of a tool turn go back to %s as %s', async (id, name) => {
    at.provider.script(json(200, completion));
    const { sent } = await at.ask(id, '/messages', { ...message, messages: turns });
    const [, assistant] = sent.messages;
    expect([assistant.reasoning, assistant.reasoning_content]).toEqual([
      name === 'reasoning' ? 'Hm' : undefined,
      name === 'reasoning_content' ? 'Hm' : undefined,
    ]);
  });

  test.each([
    ['openrouter', true],
    ['dashscope', true],
    ['groq', false],
  ])('marks for the prompt cache reach %s: %p', async (id, kept) => {
    at.provider.script(json(200, completion));
    const { sent } = await at.ask(id, '/messages', { ...message, messages: turns });
    expect(JSON.stringify(sent).includes('"ttl":"1h"')).toBe(kept);
  });

  test('a failure of MiniMax is one in every dialect', async () => {
    at.provider.script(json(200, { base_resp: { status_code: 2013, status_msg: 'bad parameter' } }));
    const { status, body } = await at.ask('minimax', '/responses', { model: 'm', input: 'Hi' });
    expect([status, body.error.message]).toEqual([400, 'minimax error: bad parameter']);
  });
});

describe('addresses made of settings', () => {
  test('hold them where they belong', () => {
    const addressOf = (id: string, fields: Record<string, string>) => {
      const { address } = providers.get(id) ?? { address: null };
      return typeof address === 'function' ? address(callFacts({ fields })) : address;
    };
    expect(addressOf('cortex', { snowflake_account: 'xy12345.us-east-1' })).toBe(
      'https://xy12345.us-east-1.snowflakecomputing.com/api/v2',
    );
    expect(addressOf('databricks', { databricks_workspace: 'dbc-a1' })).toBe('https://dbc-a1.cloud.databricks.com');
    expect(addressOf('byteplus', { byteplus_region: 'eu-west-1' })).toBe('https://ark.eu-west.bytepluses.com/api/v3');
    expect(addressOf('huggingface', { huggingface_base_url: 'https://x.endpoints.huggingface.cloud' })).toBe(
      'https://x.endpoints.huggingface.cloud',
    );
  });

  test.each([
    ['databricks', 'x-gw-databricks-workspace'],
    ['cortex', 'x-gw-snowflake-account'],
    ['byteplus', 'x-gw-byteplus-region'],
  ])('%s refuses a setting that leads to another host', async (id, header) => {
    const answer = await at.plane.call(
      '/v1/chat/completions',
      { model: 'm', messages: [] },
      {
        'x-gw-provider': id,
        [header]: 'evil.example/#',
        authorization: 'Bearer provider-secret',
      },
    );
    expect([answer.status, (await answer.json()).error.message]).toEqual([
      400,
      expect.stringContaining(header.slice(5).replaceAll('-', '_')),
    ]);
  });

  test('a model’s name cannot leave its place in a path', async () => {
    at.provider.script(json(200, []));
    await at.ask('fireworks-ai', '/images/generations', { model: '../../v1/keys?a=', prompt: 'x' });
    expect(at.provider.calls[0]?.path).toBe('/v1/image_generation/v1/keys%3Fa%3D');
  });
});
