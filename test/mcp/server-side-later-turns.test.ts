/** Later turns of a conversation in which the gateway executed tools, sent without the header that asks for it. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'bun:test';
import type { SimulatedModel } from './model.ts';
import { chatBody, mcpTool, type ServerSideWorld, startServerSide } from './server-side-world.ts';

let world: ServerSideWorld;
let model: SimulatedModel;
let ask: ServerSideWorld['ask'];

beforeAll(async () => {
  world = await startServerSide();
  ({ model, ask } = world);
});

beforeEach(() => world.forget());

afterAll(() => world.stop());

const without = { 'x-gw-beta': '' };
const executed = { name: 'notes__echo', arguments: { text: 'free' } };
const waiting = { name: 'notes__headers', arguments: {} };
const messagesBody = { model: 'claude-sonnet-4-5', max_tokens: 100, messages: [{ role: 'user', content: 'hi' }] };
const toolset = {
  mcp_servers: [{ type: 'url', name: '@gw-mcp/notes' }],
  tools: [{ type: 'mcp_toolset', mcp_server_name: '@gw-mcp/notes' }],
};

describe.each([
  ['a call that waits for approval', [waiting]],
  ['a call that was made', [executed]],
])('%s', (_, calls) => {
  const refused = async (path: string, body: object, field: string) => {
    const asked = model.asked.length;
    const { status, body: told } = await ask(path, body, without);
    expect(status).toBe(400);
    expect(told.error.message).toContain(`${field} holds calls of MCP tools`);
    expect(told.error.message).toContain('x-gw-beta: server-side-mcp-2026-06-01');
    expect(model.asked).toHaveLength(asked);
  };
  beforeEach(() => {
    model.script = [calls];
  });

  test('is refused in chat, and no model is asked', async () => {
    const { body } = await ask('/chat/completions', { ...chatBody, tools: [mcpTool] });
    const { message } = body.choices[0];
    const answers = (message.tool_calls ?? []).map(({ id }: { id: string }) => ({
      role: 'tool',
      tool_call_id: id,
      content: 'reject',
    }));
    const messages = [...chatBody.messages, message, ...answers, { role: 'user', content: 'go on' }];
    await refused('/chat/completions', { ...chatBody, messages }, 'messages');
  });

  test('is refused in messages, and no model is asked', async () => {
    const { body } = await ask('/messages', { ...messagesBody, ...toolset });
    const messages = [
      ...messagesBody.messages,
      { role: 'assistant', content: body.content },
      { role: 'user', content: 'go on' },
    ];
    await refused('/messages', { ...messagesBody, messages }, 'messages');
  });

  test('is refused in responses, and no model is asked', async () => {
    const { body } = await ask('/responses', { model: 'gpt-4o', input: 'hi', tools: [mcpTool] });
    const input = [{ role: 'user', content: 'hi' }, ...body.output, { role: 'user', content: 'go on' }];
    await refused('/responses', { model: 'gpt-4o', input }, 'input');
  });
});

test('texts that only speak of such calls go to the provider', async () => {
  const content = 'What are mcpr_1, {"gw_mcp": []} and @gw-mcp/notes?';
  const chat = await ask('/chat/completions', { ...chatBody, messages: [{ role: 'user', content }] }, without);
  const responses = await ask('/responses', { model: 'gpt-4o', input: [{ role: 'user', content }] }, without);
  const messages = await ask('/messages', { ...messagesBody, messages: [{ role: 'user', content }] }, without);
  expect([chat.status, responses.status, messages.status]).toEqual([200, 200, 200]);
});

describe('approvals that OpenAI itself asks for, under ids with the same beginning', () => {
  const id = 'mcpr_682d498e3bd4819196a0ce1664f8e77b04ad1e533afccbfa';
  const request = { type: 'mcp_approval_request', id, server_label: 'theirs', name: 'roll', arguments: '{}' };
  const response = { type: 'mcp_approval_response', approval_request_id: id, approve: true };
  const theirs = { type: 'mcp', server_label: 'theirs', server_url: 'https://mcp.example.com' };

  test.each([
    ['with the header', {}],
    ['without it', without],
  ])('go to the provider as they came, %s', async (_, headers) => {
    for (const input of [[request, response], [response]]) {
      const body = { model: 'gpt-4o', previous_response_id: 'resp_1', tools: [theirs], input };
      expect((await ask('/responses', body, headers)).status).toBe(200);
      expect(model.asked.at(-1)).toMatchObject({ input });
    }
  });
});
