/** Tasks of others at an agent that reads loosely and answers in forms of its own: no spelling of a request reaches them, no list shows them. */
import { afterAll, beforeAll, beforeEach, expect, test } from 'bun:test';
import { startGateway, type TestGateway } from '../harness.ts';
import { addKey, home } from '../people.ts';
import { saveAgent, trustLoopback } from './upstream.ts';

interface Task {
  kind: 'task';
  id: string;
  contextId: string;
  status: { state: string };
}

const tasks: Task[] = [];
/** What reached the agent besides new messages. */
let reached: string[] = [];

const agent = Bun.serve({
  port: 0,
  hostname: '127.0.0.1',
  async fetch(request) {
    const { pathname, search } = new URL(request.url);
    if (pathname.includes('.well-known')) return new Response(null, { status: 404 });
    const text = await request.text();
    if (request.method === 'GET') {
      reached.push(pathname + search);
      return Response.json(tasks);
    }
    const { id, method } = JSON.parse(text) as { id: number; method: string };
    const rpc = (result: unknown) => Response.json({ jsonrpc: '2.0', id, result });
    if (method === 'message/send' && text.includes('begin')) {
      const task: Task = {
        kind: 'task',
        id: `task-${tasks.length}`,
        contextId: `context-${tasks.length}`,
        status: { state: 'working' },
      };
      tasks.push(task);
      return rpc(task);
    }
    reached.push(text);
    return method === 'tasks/list' ? rpc(tasks) : rpc({ items: tasks, notes: ['a'], count: 2 });
  },
});

let gateway: TestGateway;
let other: string;
let theirs: Task;
let own: Task;

beforeAll(async () => {
  gateway = await startGateway(trustLoopback);
  await saveAgent(gateway, { slug: 'loose', url: `http://127.0.0.1:${agent.port}` });
  const { organisationId, workspaceId } = await home(gateway);
  const scopes = ['agents.invoke'] as const;
  other = (await addKey(gateway, { organisationId, workspaceId, type: 'workspace-service', scopes })).secret;
  const begin = {
    message: { kind: 'message', messageId: 'm', role: 'user', parts: [{ kind: 'text', text: 'begin' }] },
  };
  theirs = (await rpc('message/send', begin, gateway.workspaceKey)).body.result;
  own = (await rpc('message/send', begin)).body.result;
});
beforeEach(() => {
  reached = [];
});
afterAll(async () => {
  await gateway.stopWithoutFaults();
  await agent.stop(true);
});

const post = async (text: string, key = other) => {
  const response = await fetch(`${gateway.url}/v1/agent/loose`, {
    method: 'POST',
    headers: { 'x-gw-api-key': key, 'content-type': 'application/json' },
    body: text,
  });
  return { status: response.status, body: await response.json() };
};
const rpc = (method: string, params: object, key = other) =>
  post(JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }), key);
const get = (path: string) => fetch(`${gateway.url}/v1/agent/loose${path}`, { headers: { 'x-gw-api-key': other } });

test('a request that names them in a second spelling does not reach the agent', async () => {
  const message = { kind: 'message', messageId: 'm', role: 'user', parts: [] };
  const requests: [method: string, params: object][] = [
    ['message/send', { message: { ...message, taskId: own.id, task_id: theirs.id } }],
    ['message/send', { message: { ...message, contextId: own.contextId, context_id: theirs.contextId } }],
    ['message/send', { message: { ...message, referenceTaskIds: [own.id], reference_task_ids: [theirs.id] } }],
    ['message/send', { message, request: { ...message, taskId: theirs.id } }],
    ['tasks/get', { id: own.id, name: `tasks/${theirs.id}` }],
    ['tasks/get', { id: own.id, taskId: theirs.id }],
    ['tasks/pushNotificationConfig/get', { taskId: own.id, task_id: theirs.id }],
    ['tasks/pushNotificationConfig/get', { taskId: own.id, id: theirs.id }],
    ['tasks/history', { id: theirs.id }],
    ['Tasks/Get', { id: theirs.id }],
    ['tasks/export', { ids: [own.id, theirs.id] }],
  ];
  for (const [method, params] of requests) {
    const { body } = await rpc(method, params);
    expect([method, params, body.error?.code]).toEqual([method, params, -32001]);
  }
  expect(reached).toEqual([]);
});

test('a field that stands twice is refused: parsers differ in which of them they take', async () => {
  for (const [first, second] of [
    [own.id, theirs.id],
    [theirs.id, own.id],
  ]) {
    const text = `{"jsonrpc":"2.0","id":1,"method":"tasks/get","params":{"id":"${first}","\\u0069d":"${second}"}}`;
    expect((await post(text)).body.error.code).toBe(-32600);
  }
  expect(reached).toEqual([]);
});

test('nothing that an agent has below a task of theirs is fetched', async () => {
  for (const path of [
    `/tasks/${theirs.id}/history`,
    `/v1/Tasks/${theirs.id}/artifacts/1`,
    `/api/tasks/${theirs.id}:export/all`,
    `/export?taskId=${theirs.id}`,
    `/tasks/${own.id}?task_id=${theirs.id}`,
  ]) {
    expect([path, (await get(path)).status]).toEqual([path, 404]);
  }
  expect(reached).toEqual([]);
  expect((await get(`/tasks/${own.id}/history`)).status).toBe(200);
});

test('lists in any form show only what is the caller’s', async () => {
  expect((await rpc('tasks/list', {})).body.result).toEqual([own]);
  expect(await (await get('/v1/tasks')).json()).toEqual([own]);
  expect((await rpc('x/everything', {})).body.result).toEqual({ items: [own], notes: ['a'], count: 2 });
  expect(await (await get('/everything')).json()).toEqual([own]);
});
