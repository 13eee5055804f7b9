/** Tools of MCP servers that the gateway executes inside a model request, in the three dialects. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'bun:test';
import type { TestGateway } from '../harness.ts';
import type { SimulatedModel } from './model.ts';
import { chatBody, eventsIn, mcpTool, type ServerSideWorld, startServerSide } from './server-side-world.ts';

let world: ServerSideWorld;
let gateway: TestGateway;
let model: SimulatedModel;
let ask: ServerSideWorld['ask'];

beforeAll(async () => {
  world = await startServerSide();
  ({ gateway, model, ask } = world);
});

beforeEach(() => world.forget());

afterAll(() => world.stop());

describe('without the header that asks for it', () => {
  const messages = [{ role: 'user', content: 'hi' }];
  test.each([
    ['/chat/completions', { messages, tools: [mcpTool] }, 'tools'],
    [
      '/chat/completions',
      { messages, tools: [{ type: 'function', function: { name: '@gw-mcp/notes/echo' } }] },
      'tools',
    ],
    ['/responses', { input: 'hi', tools: [mcpTool] }, 'tools'],
    ['/messages', { messages, max_tokens: 9, mcp_servers: [{ type: 'url', name: '@gw-mcp/notes' }] }, 'mcp_servers'],
    [
      '/messages',
      { messages, max_tokens: 9, tools: { type: 'mcp_toolset', mcp_server_name: '@gw-mcp/notes' } },
      'tools',
    ],
  ])('%s refuses our servers, and no model is asked', async (path, body, field) => {
    model.script = [];
    const { status, text } = await ask(path, { model: 'gpt-4o', ...body }, { 'x-gw-beta': '' });
    expect([status, text]).toEqual([400, expect.stringContaining(`${field} names a server`)]);
  });

  test('servers of others go to the provider', async () => {
    model.script = [];
    const theirs = { type: 'mcp', server_label: 'theirs', server_url: 'https://mcp.example.com' };
    const { status } = await ask('/chat/completions', { ...chatBody, tools: [theirs] }, { 'x-gw-beta': '' });
    expect(status).toBe(200);
  });
});

describe('chat completions', () => {
  test('tools are injected, called together and shown; usage is summed', async () => {
    model.script = [
      [
        { name: 'notes__echo', arguments: { text: 'one' } },
        { name: 'notes__echo', arguments: { text: 'two' } },
      ],
    ];
    const { status, body } = await ask('/chat/completions', {
      ...chatBody,
      tools: [{ ...mcpTool, allowed_tools: ['echo'] }],
    });
    expect(status).toBe(200);
    expect(model.asked[0].tools).toMatchObject([{ type: 'function', function: { name: 'notes__echo' } }]);
    expect(model.asked[1].messages.slice(1)).toMatchObject([
      { role: 'assistant' },
      { role: 'tool', content: 'one' },
      { role: 'tool', content: 'two' },
    ]);
    expect(body.choices[0].message).toMatchObject({
      content: 'done',
      gw_mcp: [{ server: '@gw-mcp/notes', tool: 'echo', output: 'one', is_error: false }, { output: 'two' }],
    });
    expect(body.usage).toEqual({ prompt_tokens: 20, completion_tokens: 10, total_tokens: 30 });
  });

  test('a call of the client’s own tool goes back to the client, and ours is done and shown', async () => {
    model.script = [
      [
        { name: 'notes__echo', arguments: { text: 'ours' } },
        { name: 'mine', arguments: {} },
      ],
    ];
    const tools = [mcpTool, { type: 'function', function: { name: 'mine', parameters: {} } }];
    const { body } = await ask('/chat/completions', { ...chatBody, tools });
    const { message } = body.choices[0];
    expect(message.tool_calls).toMatchObject([{ function: { name: 'mine' } }]);
    expect(message.gw_mcp).toMatchObject([{ output: 'ours' }]);
    const messages = [
      ...chatBody.messages,
      message,
      { role: 'tool', tool_call_id: message.tool_calls[0].id, content: 'x' },
    ];
    await ask('/chat/completions', { ...chatBody, messages, tools });
    expect(model.asked.at(-1).messages.map(({ role }: { role: string }) => role)).toEqual([
      'user',
      'assistant',
      'tool',
      'assistant',
      'tool',
    ]);
  });

  test('a tool that fails is told to the model, and is taken away after three failures', async () => {
    model.script = Array.from({ length: 5 }, () => [{ name: 'notes__fail', arguments: {} }]);
    const { body } = await ask('/chat/completions', { ...chatBody, tools: [{ ...mcpTool, allowed_tools: ['fail'] }] });
    expect(body.choices[0].message.gw_mcp).toHaveLength(3);
    expect(model.asked.at(-1).tools).toBeUndefined();
  });

  test('the limit of rounds ends with a call without tools', async () => {
    model.script = Array.from({ length: 9 }, () => [{ name: 'notes__echo', arguments: { text: 'again' } }]);
    const { body } = await ask('/chat/completions', { ...chatBody, tools: [mcpTool] });
    expect(model.asked).toHaveLength(4);
    expect(body.choices[0].message).toMatchObject({ gw_mcp_limited: true });
  });

  test('streamed', async () => {
    model.script = [[{ name: 'notes__echo', arguments: { text: 'one' } }]];
    const { text } = await ask('/chat/completions', { ...chatBody, stream: true, tools: [mcpTool] });
    expect([...text.matchAll(/"delta":\{"content":"(\w+)"\}/g)].map(([, part]) => part).join('')).toBe('done');
    expect(text).toContain('"gw_mcp":[');
    expect(text.endsWith('data: [DONE]\n\n')).toBe(true);
  });

  test('every model call and every tool call is one row of one trace', async () => {
    model.script = [[{ name: 'notes__echo', arguments: { text: 'one' } }]];
    await ask('/chat/completions', { ...chatBody, tools: [mcpTool] }, { 'x-gw-trace-id': 'one-trace' });
    const rows = gateway.records.map(({ metrics }) => metrics).filter(({ trace_id }) => trace_id === 'one-trace');
    expect(rows.map(({ endpoint_type }) => endpoint_type).sort()).toEqual([
      'chatComplete',
      'chatComplete',
      'mcpToolCall',
    ]);
    expect(new Set(rows.map(({ parent_span_id }) => parent_span_id)).size).toBe(1);
  });

  test('an unknown server is 404, and without the scope it is 403, each naming the server', async () => {
    const unknown = await ask('/chat/completions', {
      ...chatBody,
      tools: [{ type: 'mcp', server_label: '@gw-mcp/nothing' }],
    });
    expect({ status: unknown.status, named: unknown.text.includes('@gw-mcp/nothing') }).toEqual({
      status: 404,
      named: true,
    });
    const minted = await gateway.post(
      '/v1/api-keys/workspace/service',
      { name: 'models only', scopes: ['completions.write'] },
      { key: gateway.workspaceKey },
    );
    const refused = await ask(
      '/chat/completions',
      { ...chatBody, tools: [mcpTool] },
      { 'x-gw-api-key': minted.body.key },
    );
    expect(refused.status).toBe(403);
  });
});

describe('responses', () => {
  const body = { model: 'gpt-4o', input: 'hi', tools: [{ ...mcpTool, allowed_tools: ['echo', 'headers'] }] };

  test('lists and calls are items before the message', async () => {
    model.script = [[{ name: 'notes__echo', arguments: { text: 'one' } }]];
    const answer = await ask('/responses', body);
    expect(answer.body.output.map(({ type }: { type: string }) => type)).toEqual([
      'mcp_list_tools',
      'mcp_call',
      'message',
    ]);
    expect(answer.body.output[1]).toMatchObject({
      name: 'echo',
      arguments: '{"text":"one"}',
      output: 'one',
      error: null,
      server_label: '@gw-mcp/notes',
    });
    expect(answer.body.usage.total_tokens).toBe(30);
  });

  test('streamed, with one sequence', async () => {
    model.script = [[{ name: 'notes__echo', arguments: { text: 'one' } }]];
    const { text } = await ask('/responses', { ...body, stream: true });
    const events = text
      .split('\n\n')
      .filter(Boolean)
      .map((block) => JSON.parse(block.split('data: ')[1] ?? '{}'));
    expect(events.map(({ sequence_number }) => sequence_number)).toEqual(events.map((_, index) => index));
    const types = events.map(({ type }) => type);
    for (const type of [
      'response.mcp_list_tools.completed',
      'response.mcp_call_arguments.done',
      'response.mcp_call.completed',
      'response.completed',
    ]) {
      expect(types).toContain(type);
    }
  });

  test('a tool that needs approval stops, and goes on once it is approved, as it was asked', async () => {
    model.script = [[{ name: 'notes__headers', arguments: {} }]];
    const first = await ask('/responses', body);
    const request = first.body.output.at(-1);
    expect(request).toMatchObject({ type: 'mcp_approval_request', name: 'headers' });
    const reply = { type: 'mcp_approval_response', approval_request_id: request.id, approve: true };
    const second = await ask('/responses', { ...body, input: [{ role: 'user', content: 'hi' }, request, reply] });
    expect(second.body.output.map(({ type }: { type: string }) => type)).toEqual([
      'mcp_list_tools',
      'mcp_call',
      'message',
    ]);
    const forged = { ...request, arguments: '{"x":1}' };
    expect((await ask('/responses', { ...body, input: [forged, reply] })).status).toBe(400);
  });
});

describe('messages', () => {
  test('calls and results are blocks before the text', async () => {
    model.script = [[{ name: 'notes__echo', arguments: { text: 'one' } }]];
    const { body } = await ask('/messages', {
      model: 'claude-sonnet-4-5',
      max_tokens: 100,
      messages: [{ role: 'user', content: 'hi' }],
      mcp_servers: [{ type: 'url', name: '@gw-mcp/notes', url: 'https://ignored.example.com' }],
      tools: {
        type: 'mcp_toolset',
        mcp_server_name: '@gw-mcp/notes',
        default_config: { enabled: false },
        configs: { echo: { enabled: true } },
      },
    });
    expect(model.asked[0].tools.map(({ name }: { name: string }) => name)).toEqual(['notes__echo']);
    expect(body.content).toMatchObject([
      { type: 'mcp_tool_use', name: 'echo', server_name: '@gw-mcp/notes', input: { text: 'one' } },
      { type: 'mcp_tool_result', is_error: false, content: [{ text: 'one' }] },
      { type: 'text', text: 'done' },
    ]);
    expect(body.usage).toEqual({ input_tokens: 20, output_tokens: 10 });
  });
});

describe('what clients are shown', () => {
  const messagesBody = {
    model: 'claude-sonnet-4-5',
    max_tokens: 100,
    messages: [{ role: 'user', content: 'hi' }],
    mcp_servers: [{ type: 'url', name: '@gw-mcp/notes' }],
    tools: [{ type: 'mcp_toolset', mcp_server_name: '@gw-mcp/notes' }],
  };
  const always = () => Array.from({ length: 9 }, () => [{ name: 'notes__echo', arguments: { text: 'again' } }]);

  test.each([false, true])(
    'responses: every field of a list and of calls that worked and failed; streamed: %p',
    async (stream) => {
      model.script = [
        [
          { name: 'notes__echo', arguments: { text: 'one' } },
          { name: 'notes__fail', arguments: {} },
        ],
      ];
      const answer = await ask('/responses', { model: 'gpt-4o', input: 'hi', tools: [mcpTool], stream });
      const events = stream ? eventsIn(answer.text) : [];
      const { output } = stream ? events.at(-1).response : answer.body;
      const [list, worked, failed] = output;
      expect(list).toMatchObject({ type: 'mcp_list_tools', id: expect.any(String), server_label: '@gw-mcp/notes' });
      expect(list.tools[0]).toEqual({
        name: expect.any(String),
        description: expect.any(String),
        input_schema: expect.any(Object),
      });
      const call = {
        type: 'mcp_call',
        id: expect.any(String),
        server_label: '@gw-mcp/notes',
        approval_request_id: null,
      };
      expect(worked).toEqual({
        ...call,
        name: 'echo',
        arguments: '{"text":"one"}',
        output: 'one',
        error: null,
        status: 'completed',
      });
      expect(failed).toEqual({
        ...call,
        name: 'fail',
        arguments: '{}',
        output: null,
        error: expect.stringContaining('the tool failed'),
        status: 'failed',
      });
      if (!stream) return;
      const types = events.map(({ type }) => type);
      expect(types.filter((type) => type.startsWith('response.mcp_'))).toEqual([
        'response.mcp_list_tools.in_progress',
        'response.mcp_list_tools.completed',
        ...[
          'in_progress',
          '_arguments.delta',
          '_arguments.done',
          'in_progress',
          '_arguments.delta',
          '_arguments.done',
        ].map((word) => `response.mcp_call${word.startsWith('_') ? word : `.${word}`}`),
        'response.mcp_call.completed',
        'response.mcp_call.failed',
      ]);
    },
  );

  test.each([false, true])(
    'messages: blocks of calls, and a flag where the limit of rounds was reached; streamed: %p',
    async (stream) => {
      model.script = always();
      const answer = await ask('/messages', { ...messagesBody, stream });
      if (stream) {
        const events = eventsIn(answer.text);
        expect(events.find(({ type }) => type === 'message_delta')).toMatchObject({ gw_mcp_limited: true });
        const blocks = events
          .filter(({ type }) => type === 'content_block_start')
          .map(({ content_block }) => content_block);
        expect(blocks.map(({ type }) => type).slice(0, 2)).toEqual(['mcp_tool_use', 'mcp_tool_result']);
        return;
      }
      expect(answer.body.gw_mcp_limited).toBe(true);
      expect(answer.body.content.slice(0, 2)).toEqual([
        {
          type: 'mcp_tool_use',
          id: expect.any(String),
          name: 'echo',
          server_name: '@gw-mcp/notes',
          input: { text: 'again' },
        },
        {
          type: 'mcp_tool_result',
          tool_use_id: answer.body.content[0].id,
          is_error: false,
          content: [{ type: 'text', text: 'again' }],
        },
      ]);
    },
  );
});
