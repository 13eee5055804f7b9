/** Streams of model requests whose tools the gateway executes: one stream over all rounds, in the events of each dialect. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'bun:test';
import { type Json, startGateway, type TestGateway } from '../harness.ts';
import { type SimulatedModel, startModel } from './model.ts';
import { saveIntegration, startUpstream, trustLoopback, type UpstreamServer } from './upstream.ts';

let gateway: TestGateway;
let upstream: UpstreamServer;
let model: SimulatedModel;

beforeAll(async () => {
  upstream = await startUpstream('session-server.ts');
  model = startModel();
  gateway = await startGateway(trustLoopback);
  await saveIntegration(gateway, { slug: 'notes', url: upstream.url });
  for (const [slug, ai_provider_id] of [
    ['models', 'openai'],
    ['claude', 'anthropic'],
  ]) {
    const { status } = await gateway.post(
      '/v1/integrations',
      { name: slug, slug, ai_provider_id, key: 'sk-test', configurations: { custom_host: model.url } },
      { key: gateway.workspaceKey },
    );
    expect(status).toBe(200);
  }
});

beforeEach(() => {
  model.asked.length = 0;
  model.script = [[{ name: 'notes__echo', arguments: { text: 'one' } }]];
  model.words = ['let me see', 'finished'];
  model.hold = null;
  model.isAway = false;
});

afterAll(async () => {
  await gateway.stop();
  model.stop();
  upstream.stop();
});

const bodies = {
  '/chat/completions': {
    model: 'gpt-4o',
    stream: true,
    stream_options: { include_usage: true },
    messages: [{ role: 'user', content: 'hi' }],
    tools: [{ type: 'mcp', server_label: '@gw-mcp/notes' }],
  },
  '/responses': { model: 'gpt-4o', stream: true, input: 'hi', tools: [{ type: 'mcp', server_label: '@gw-mcp/notes' }] },
  '/messages': {
    model: 'claude-sonnet-4-5',
    stream: true,
    max_tokens: 100,
    messages: [{ role: 'user', content: 'hi' }],
    mcp_servers: [{ type: 'url', name: '@gw-mcp/notes', url: 'https://ignored.example' }],
    tools: [{ type: 'mcp_toolset', mcp_server_name: '@gw-mcp/notes' }],
  },
} as const;
type Path = keyof typeof bodies;

const send = (path: Path, more: object = {}) =>
  fetch(`${gateway.url}/v1${path}`, {
    method: 'POST',
    headers: {
      'x-gw-api-key': gateway.workspaceKey,
      'x-gw-provider': path === '/messages' ? '@claude' : '@models',
      'x-gw-beta': 'server-side-mcp-2026-06-01',
      'content-type': 'application/json',
    },
    body: JSON.stringify({ ...bodies[path], ...more }),
  });

const eventsIn = (text: string): Json[] =>
  text
    .split('\n\n')
    .map((block) => block.split('data: ')[1])
    .filter((data) => data !== undefined && data !== '[DONE]')
    .map((data) => JSON.parse(data ?? ''));

const events = async (path: Path, more?: object): Promise<Json[]> => eventsIn(await (await send(path, more)).text());

test.each(Object.keys(bodies) as Path[])(
  '%s: a text reaches the client while the next round has not begun',
  async (path) => {
    const gate = Promise.withResolvers<void>();
    model.hold = gate.promise;
    const response = await send(path);
    const reader = response.body?.getReader();
    let text = '';
    while (!text.includes('t me see')) {
      const { done, value } = (await reader?.read()) ?? { done: true, value: undefined };
      if (done) throw new Error(`The stream ended early: ${response.status} ${text}`);
      text += new TextDecoder().decode(value);
    }
    expect(text).not.toContain('nished');
    gate.resolve();
    for (;;) {
      const { done, value } = (await reader?.read()) ?? { done: true, value: undefined };
      if (done) break;
      text += new TextDecoder().decode(value);
    }
    expect(model.asked).toHaveLength(2);
    expect(model.asked.every(({ stream }: Json) => stream === true)).toBe(true);
    expect(text).toContain('nished');
  },
);

test('chat: texts, then what was executed, one id, one end, and the usage of all rounds', async () => {
  const chunks = await events('/chat/completions');
  const deltas = chunks.map(({ choices }) => choices[0]?.delta ?? {});
  expect(deltas.map(({ content = '' }) => content).join('')).toBe('let me seefinished');
  expect(new Set(chunks.map(({ id }) => id)).size).toBe(1);
  const reasons = chunks.map(({ choices }) => choices[0]?.finish_reason).filter(Boolean);
  expect(reasons).toEqual(['stop']);
  expect(deltas.findLast(({ gw_mcp }) => gw_mcp)?.gw_mcp).toMatchObject([
    { tool: 'echo', output: 'one', is_error: false },
  ]);
  expect(chunks.at(-1)?.usage).toMatchObject({ total_tokens: 30 });
});

test('responses: items of all rounds in one list and one sequence', async () => {
  const told = await events('/responses');
  expect(told.map(({ sequence_number }) => sequence_number)).toEqual(told.map((_, index) => index));
  expect(told.filter(({ type }) => type === 'response.output_item.added').map(({ item }) => item.type)).toEqual([
    'mcp_list_tools',
    'message',
    'mcp_call',
    'message',
  ]);
  const types = told.map(({ type }) => type);
  const order = [
    'response.created',
    'response.mcp_list_tools.completed',
    'response.output_text.delta',
    'response.mcp_call.in_progress',
    'response.mcp_call_arguments.done',
    'response.mcp_call.completed',
  ];
  expect(order.map((type) => types.indexOf(type))).toEqual(
    order.map((type) => types.indexOf(type)).toSorted((a, b) => a - b),
  );
  const { response } = told.at(-1) ?? {};
  expect(response.output.map(({ type }: Json) => type)).toEqual(['mcp_list_tools', 'message', 'mcp_call', 'message']);
  expect(response.output[2]).toMatchObject({ output: 'one', error: null, status: 'completed' });
  expect(response.usage.total_tokens).toBe(30);
  expect(types.filter((type) => type === 'response.completed')).toHaveLength(1);
});

test('messages: blocks of all rounds under rising indices, one start and one stop', async () => {
  const told = await events('/messages');
  const starts = told.filter(({ type }) => type === 'content_block_start');
  expect(starts.map(({ content_block }) => content_block.type)).toEqual([
    'text',
    'mcp_tool_use',
    'mcp_tool_result',
    'text',
  ]);
  expect(starts.map(({ index }) => index)).toEqual([0, 1, 2, 3]);
  expect(told.filter(({ type }) => type === 'message_start')).toHaveLength(1);
  const ends = told.filter(({ type }) => type === 'message_delta');
  expect(ends).toMatchObject([{ delta: { stop_reason: 'end_turn' }, usage: { input_tokens: 20, output_tokens: 10 } }]);
  expect(told.at(-1)?.type).toBe('message_stop');
});

describe('a round that fails after texts went out', () => {
  test.each([
    ['/chat/completions', (told: Json[]) => told.at(-1)?.error !== undefined],
    ['/responses', (told: Json[]) => told.at(-1)?.type === 'response.failed'],
    ['/messages', (told: Json[]) => told.at(-1)?.type === 'error'],
  ] as const)('%s: ends in an error, never as if it were complete', async (path, isError) => {
    model.isAway = true;
    const text = await (await send(path)).text();
    expect(isError(eventsIn(text))).toBe(true);
    expect(text).not.toContain('[DONE]');
  });
});

test('a choice of a tool is told under the name that the model knows, in the first round alone', async () => {
  const tool_choice = { type: 'function', function: { name: '@gw-mcp/notes/echo' } };
  await events('/chat/completions', { tool_choice });
  expect(model.asked.map((asked: Json) => asked.tool_choice)).toEqual([
    { type: 'function', function: { name: 'notes__echo' } },
    undefined,
  ]);
});
