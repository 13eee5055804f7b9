/** Tools inside a model request that wait for the approval of a person, and conversations that continue without the tools. */
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

describe('a tool that a person must approve', () => {
  const asked = [{ name: 'notes__headers', arguments: { a: 1, b: 2 } }];
  const tools = [{ ...mcpTool, allowed_tools: ['echo', 'headers'] }];
  const messagesBody = {
    model: 'claude-sonnet-4-5',
    max_tokens: 100,
    mcp_servers: [{ type: 'url', name: '@gw-mcp/notes' }],
    tools: [{ type: 'mcp_toolset', mcp_server_name: '@gw-mcp/notes' }],
  };
  const callsUpstream = () => gateway.records.filter(({ metrics }) => metrics.mcp_tool === 'headers').length;

  test('is a call of the client’s in chat, made once it is approved, and only once', async () => {
    model.script = [[{ name: 'notes__echo', arguments: { text: 'free' } }, ...asked]];
    const before = callsUpstream();
    const { body } = await ask('/chat/completions', { ...chatBody, tools });
    const { message, finish_reason } = body.choices[0];
    expect(finish_reason).toBe('tool_calls');
    expect(message.gw_mcp).toMatchObject([{ tool: 'echo', output: 'free' }]);
    expect(message.tool_calls).toMatchObject([{ function: { name: 'notes__headers', arguments: '{"a":1,"b":2}' } }]);
    const [{ id }] = message.tool_calls;
    expect(id).toStartWith('mcpr_');
    expect(callsUpstream()).toBe(before);
    const answered = (content: string) => [...chatBody.messages, message, { role: 'tool', tool_call_id: id, content }];
    const second = await ask('/chat/completions', { ...chatBody, tools, messages: answered('approve') });
    const last = second.body.choices[0].message;
    expect(last).toMatchObject({ content: 'done', gw_mcp: [{ tool: 'headers', is_error: false }] });
    expect(callsUpstream()).toBe(before + 1);
    const sent = model.asked.at(-1).messages;
    expect(sent.at(-1)).toMatchObject({ role: 'tool', content: last.gw_mcp[0].output });
    expect(JSON.stringify(sent)).not.toContain('mcpr_');
    const later = [...answered('approve'), last, { role: 'user', content: 'thanks' }];
    await ask('/chat/completions', { ...chatBody, tools, messages: later });
    expect(callsUpstream()).toBe(before + 1);
    await ask('/chat/completions', { ...chatBody, tools, messages: answered('reject') });
    expect(callsUpstream()).toBe(before + 1);
    expect(model.asked.at(-1).messages.at(-1)).toMatchObject({ content: 'The person did not approve this call.' });
    const unsure = await ask('/chat/completions', { ...chatBody, tools, messages: answered('perhaps') });
    expect({ status: unsure.status, told: unsure.text.includes('approve or reject') }).toEqual({
      status: 400,
      told: true,
    });
  });

  test('cannot be approved with other arguments, nor by another key', async () => {
    model.script = [asked];
    const { body } = await ask('/chat/completions', { ...chatBody, tools });
    const { message } = body.choices[0];
    const reply = { role: 'tool', tool_call_id: message.tool_calls[0].id, content: 'approve' };
    const changed = structuredClone(message);
    changed.tool_calls[0].function.arguments = '{"a":1,"b":3}';
    const forged = await ask('/chat/completions', { ...chatBody, tools, messages: [changed, reply] });
    expect(forged.status).toBe(400);
    const reordered = structuredClone(message);
    reordered.tool_calls[0].function.arguments = '{"b":2,"a":1}';
    const minted = await gateway.post(
      '/v1/api-keys/workspace/service',
      { name: 'another', scopes: ['completions.write', 'mcp.invoke'] },
      { key: gateway.workspaceKey },
    );
    const messages = [...chatBody.messages, reordered, reply];
    const other = await ask('/chat/completions', { ...chatBody, tools, messages }, { 'x-gw-api-key': minted.body.key });
    expect(other.status).toBe(400);
    expect((await ask('/chat/completions', { ...chatBody, tools, messages })).status).toBe(200);
  });

  test('is a call of the client’s in a chat stream, and what was approved stands in the last chunk', async () => {
    model.script = [asked];
    const first = eventsIn((await ask('/chat/completions', { ...chatBody, tools, stream: true })).text);
    const [call] = first.flatMap(({ choices }) => choices[0]?.delta.tool_calls ?? []);
    expect(call).toMatchObject({ index: 0, function: { name: 'notes__headers' } });
    const messages = [
      ...chatBody.messages,
      { role: 'assistant', content: null, tool_calls: [call] },
      { role: 'tool', tool_call_id: call.id, content: 'approve' },
    ];
    const second = await ask('/chat/completions', { ...chatBody, tools, messages, stream: true });
    const shown = eventsIn(second.text).flatMap(({ choices }) => choices[0]?.delta.gw_mcp ?? []);
    expect(shown).toMatchObject([{ tool: 'headers', is_error: false }]);
  });

  test.each([false, true])('is a tool_use of the client’s in messages; streamed: %p', async (stream) => {
    model.script = [asked];
    const begun = [{ role: 'user', content: 'hi' }];
    const first = await ask('/messages', { ...messagesBody, messages: begun, stream });
    const started = stream && eventsIn(first.text).find(({ content_block }) => content_block?.type === 'tool_use');
    const block = stream ? { ...started.content_block, input: asked[0]?.arguments } : first.body.content.at(-1);
    expect(block).toMatchObject({ type: 'tool_use', name: 'notes__headers', input: { a: 1, b: 2 } });
    const stop = stream ? eventsIn(first.text).find(({ type }) => type === 'message_delta').delta : first.body;
    expect(stop.stop_reason).toBe('tool_use');
    const result = { type: 'tool_result', tool_use_id: block.id, content: [{ type: 'text', text: 'approve' }] };
    const messages = [...begun, { role: 'assistant', content: [block] }, { role: 'user', content: [result] }];
    const second = await ask('/messages', { ...messagesBody, messages, stream });
    const blocks = stream
      ? eventsIn(second.text).flatMap(({ content_block }) => content_block ?? [])
      : second.body.content;
    expect(blocks.map(({ type }: { type: string }) => type)).toEqual(['mcp_tool_use', 'mcp_tool_result', 'text']);
    const sent = model.asked.at(-1).messages;
    expect(sent.at(-1).content[0].content).toContain('mcp-session-id');
    expect(JSON.stringify(sent)).not.toContain('mcpr_');
  });

  test('is shown in a stream of responses with the approval that it waited for, and not made again later', async () => {
    model.script = [asked];
    const begun = { model: 'gpt-4o', tools };
    const input = [{ role: 'user', content: 'hi' }];
    const first = eventsIn((await ask('/responses', { ...begun, input, stream: true })).text);
    const request = first.at(-1)?.response.output.at(-1);
    expect(request).toMatchObject({ type: 'mcp_approval_request', name: 'headers' });
    const reply = { type: 'mcp_approval_response', approval_request_id: request.id, approve: true };
    const before = callsUpstream();
    const second = eventsIn(
      (await ask('/responses', { ...begun, input: [...input, request, reply], stream: true })).text,
    );
    const { output } = second.at(-1)?.response ?? {};
    expect(output.map(({ type }: { type: string }) => type)).toEqual(['mcp_list_tools', 'mcp_call', 'message']);
    expect(output[1]).toMatchObject({ approval_request_id: request.id, error: null });
    expect(second.map(({ sequence_number }) => sequence_number)).toEqual(second.map((_, index) => index));
    expect(callsUpstream()).toBe(before + 1);
    await ask('/responses', { ...begun, input: [...input, request, reply, ...output, { role: 'user', content: 'x' }] });
    expect(callsUpstream()).toBe(before + 1);
  });
});

describe('a conversation that goes on without the tools', () => {
  /** What the provider is sent of turns in which tools of ours were called. */
  const sentOn = async (path: string, body: object): Promise<string> => {
    expect((await ask(path, body)).status).toBe(200);
    return JSON.stringify(model.asked.at(-1));
  };
  const foreign = /mcpr_|gw_mcp|@gw-mcp|"mcp_call"|"mcp_tool_use"|mcp_approval/;

  test('in chat', async () => {
    model.script = [
      [
        { name: 'notes__echo', arguments: { text: 'free' } },
        { name: 'notes__headers', arguments: {} },
      ],
    ];
    const { body } = await ask('/chat/completions', { ...chatBody, tools: [mcpTool] });
    const { message } = body.choices[0];
    const rejected = { role: 'tool', tool_call_id: message.tool_calls[0].id, content: 'reject' };
    const messages = [...chatBody.messages, message, rejected, { role: 'user', content: 'never mind' }];
    const sent = await sentOn('/chat/completions', { ...chatBody, messages });
    expect(sent).not.toMatch(foreign);
    expect(sent).toContain('did not approve');
    expect(sent).toContain('free');
  });

  test('in responses, also where nobody answered the request for approval', async () => {
    const body = { model: 'gpt-4o', input: 'hi', tools: [mcpTool] };
    model.script = [
      [
        { name: 'notes__echo', arguments: { text: 'free' } },
        { name: 'notes__headers', arguments: {} },
      ],
    ];
    const { body: first } = await ask('/responses', body);
    expect(first.output.at(-1).type).toBe('mcp_approval_request');
    const input = [{ role: 'user', content: 'hi' }, ...first.output, { role: 'user', content: 'never mind' }];
    const sent = await sentOn('/responses', { model: 'gpt-4o', input });
    expect(sent).not.toMatch(foreign);
    expect(sent).toContain('free');
    expect(await sentOn('/responses', { ...body, input })).not.toMatch(/mcpr_|mcp_approval/);
  });

  test('in messages', async () => {
    const messagesBody = { model: 'claude-sonnet-4-5', max_tokens: 100, messages: [{ role: 'user', content: 'hi' }] };
    model.script = [
      [
        { name: 'notes__echo', arguments: { text: 'free' } },
        { name: 'notes__headers', arguments: {} },
      ],
    ];
    const { body } = await ask('/messages', {
      ...messagesBody,
      mcp_servers: [{ type: 'url', name: '@gw-mcp/notes' }],
      tools: [{ type: 'mcp_toolset', mcp_server_name: '@gw-mcp/notes' }],
    });
    const waiting = body.content.at(-1);
    expect(waiting.id).toStartWith('mcpr_');
    const messages = [
      ...messagesBody.messages,
      { role: 'assistant', content: body.content },
      { role: 'user', content: [{ type: 'tool_result', tool_use_id: waiting.id, content: 'reject' }] },
    ];
    const sent = await sentOn('/messages', { ...messagesBody, messages });
    expect(sent).not.toMatch(foreign);
    expect(sent).toContain('did not approve');
  });

  test('a call that is approved without its server is refused', async () => {
    model.script = [[{ name: 'notes__headers', arguments: {} }]];
    const { body } = await ask('/chat/completions', { ...chatBody, tools: [mcpTool] });
    const { message } = body.choices[0];
    const approved = { role: 'tool', tool_call_id: message.tool_calls[0].id, content: 'approve' };
    const again = await ask('/chat/completions', { ...chatBody, messages: [...chatBody.messages, message, approved] });
    expect(again.status).toBe(400);
    expect(again.body.error.message).toContain('approval is unknown');
  });
});
