/** Results of tasks count against policies on the tokens of tools: each once, however often and wherever it is asked for. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { CallToolResultSchema, CreateTaskResultSchema } from '@modelcontextprotocol/sdk/types.js';
import { startGateway, type TestGateway } from '../harness.ts';
import { home } from '../people.ts';
import { sessionClient, textOf } from './clients.ts';
import { askStateless, followStateless } from './stateless-tasks.ts';
import { saveIntegration, startUpstream, trustLoopback, type UpstreamServer } from './upstream.ts';

let gateway: TestGateway;
let workspaceId: string;
let sessionUpstream: UpstreamServer;
let statelessUpstream: UpstreamServer;

beforeAll(async () => {
  sessionUpstream = await startUpstream('session-task-server.ts');
  statelessUpstream = await startUpstream('task-server.ts');
  gateway = await startGateway(trustLoopback);
  workspaceId = (await home(gateway)).workspaceId;
  // Windows of a minute must not end in the middle of a test.
  gateway.clock.moveTo('2030-01-01T00:00:05Z');
});

afterAll(async () => {
  await gateway.stopWithoutFaults();
  sessionUpstream.stop();
  statelessUpstream.stop();
});

/** A server whose tools may take so many tokens a minute. */
async function limited(slug: string, url: string, value: number): Promise<void> {
  await saveIntegration(gateway, { slug, url });
  const { status } = await gateway.post('/v1/policies/rate-limits', {
    workspace_id: workspaceId,
    type: 'tokens',
    unit: 'rpm',
    value,
    target: 'mcp_tools',
    conditions: [{ key: 'mcp_server', value: slug }],
  });
  expect(status).toBe(200);
}

const long = 'word '.repeat(100);
const ask = (slug: string, method: string, params: object) =>
  askStateless(`${gateway.url}/${slug}/mcp`, gateway.workspaceKey, method, params);

const begun = async (slug: string): Promise<string> =>
  (await ask(slug, 'tools/call', { name: 'confirm_delete', arguments: {} })).result.taskId;
const answered = (slug: string, taskId: string, said: string) =>
  ask(slug, 'tasks/update', { taskId, inputResponses: { confirm: { said } } });
const read = (slug: string, taskId: string) => ask(slug, 'tasks/get', { taskId });

/** What a call that can never fit is told; refused calls count nothing. */
const left = async (slug: string): Promise<number> => {
  const { error } = await ask(slug, 'tools/call', { name: 'greet', arguments: { name: 'word '.repeat(20_000) } });
  return Number(/(\d+) are left/.exec(error?.message ?? '')?.[1]);
};

describe('the stateless era', () => {
  test('a task that is at work costs nothing, and its result counts once', async () => {
    await limited('new', statelessUpstream.url, 5_000);
    const id = await begun('new');
    const before = await left('new');
    expect(before).toBeGreaterThan(4_000);
    await read('new', id);
    expect(await left('new')).toBe(before);
    await answered('new', id, long);
    const both = await Promise.all([read('new', id), read('new', id)]);
    for (const { result } of both) expect(JSON.stringify(result.result)).toContain(long);
    const after = await left('new');
    expect(before - after).toBeGreaterThan(100);
    expect(before - after).toBeLessThan(200);
    await read('new', id);
    expect(await left('new')).toBe(after);
  });

  test('where the limit is used up a result waits, and one that was counted is shown again', async () => {
    await limited('small', statelessUpstream.url, 200);
    const [first, second] = [await begun('small'), await begun('small')];
    await answered('small', first, long.repeat(2));
    await answered('small', second, 'short');
    expect((await read('small', first)).result.status).toBe('completed');
    const refused = await read('small', second);
    expect(refused).toMatchObject({ status: 429, error: { data: { code: 'rate_limited' } } });
    expect(JSON.stringify(refused)).not.toContain('short');
    expect((await read('small', first)).result.status).toBe('completed');
    gateway.clock.advance({ minutes: 2 });
    expect(JSON.stringify((await read('small', second)).result.result)).toContain('short');
  });

  test('a result on a stream counts once too, and is not told where the limit is used up', async () => {
    await limited('told', statelessUpstream.url, 400);
    const taskIds: string[] = [];
    for (let n = 0; n < 4; n++) taskIds.push(await begun('told'));
    const [first = '', second = '', third = '', fourth = ''] = taskIds;
    const before = await left('told');
    const stream = await followStateless(`${gateway.url}/told/mcp`, gateway.workspaceKey, { taskIds });
    await stream.next();
    await answered('told', first, 'short');
    expect((await stream.next()).params).toMatchObject({ taskId: first, status: 'completed' });
    const after = await left('told');
    expect(before - after).toBeGreaterThan(5);
    await read('told', first);
    expect(await left('told')).toBe(after);
    await answered('told', second, long.repeat(3));
    expect((await stream.next()).params.taskId).toBe(second);
    await answered('told', third, 'withheld');
    expect((await read('told', third)).status).toBe(429);
    gateway.clock.advance({ minutes: 2 });
    await answered('told', fourth, 'fits again');
    expect((await stream.next()).params.taskId).toBe(fourth);
    await stream.close();
  });
});

test('the session era: a result that is awaited counts once', async () => {
  await limited('old', sessionUpstream.url, 5_000);
  const client = await sessionClient(`${gateway.url}/old/mcp`, { 'x-gw-api-key': gateway.workspaceKey });
  const fault = async (): Promise<string> =>
    client
      .callTool({ name: 'work', arguments: { text: 'word '.repeat(20_000) } })
      .then(textOf, (error: Error) => error.message);
  const room = async () => Number(/(\d+) are left/.exec(await fault())?.[1]);
  const params = { name: 'work', arguments: { text: long }, task: { ttl: 60_000 } };
  const { task } = await client.request({ method: 'tools/call', params }, CreateTaskResultSchema);
  const before = await room();
  expect(before).toBeGreaterThan(4_000);
  const awaited = async () => textOf(await client.experimental.tasks.getTaskResult(task.taskId, CallToolResultSchema));
  expect(await awaited()).toBe(`did ${long}`);
  const after = await room();
  expect(before - after).toBeGreaterThan(100);
  expect(before - after).toBeLessThan(200);
  expect(await awaited()).toBe(`did ${long}`);
  expect(await room()).toBe(after);
  await client.close();
});
