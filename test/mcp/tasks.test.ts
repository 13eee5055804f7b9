/** Tasks of both eras: only the caller who began a task may ask for it, as long as they may use the tool, and the results pass the same guardrails. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import type { Client } from '@modelcontextprotocol/sdk/client/index.js';
import {
  CallToolResultSchema,
  CreateTaskResultSchema,
  TaskStatusNotificationSchema,
} from '@modelcontextprotocol/sdk/types.js';
import { type Json, startGateway, type TestGateway } from '../harness.ts';
import { addKey, addPerson, type Home, home, type Person } from '../people.ts';
import { sessionClient, textOf } from './clients.ts';
import { askStateless, followStateless, type RpcAnswer, taskExtension } from './stateless-tasks.ts';
import { saveIntegration, startUpstream, trustLoopback, type UpstreamServer } from './upstream.ts';

let gateway: TestGateway;
let place: Home;
let sessionUpstream: UpstreamServer;
let statelessUpstream: UpstreamServer;

beforeAll(async () => {
  sessionUpstream = await startUpstream('session-task-server.ts');
  statelessUpstream = await startUpstream('task-server.ts');
  gateway = await startGateway(trustLoopback);
  place = await home(gateway);
  await saveIntegration(gateway, { slug: 'old', url: sessionUpstream.url });
  await saveIntegration(gateway, { slug: 'new', url: statelessUpstream.url });
});

afterAll(async () => {
  await gateway.stopWithoutFaults();
  sessionUpstream.stop();
  statelessUpstream.stop();
});

const newPerson = (): Promise<Person> =>
  addPerson(gateway, place.organisationId, 'member', { workspaces: { [place.workspaceId]: 'member' } });

async function keyOf({ userId }: Person): Promise<string> {
  const { organisationId, workspaceId } = place;
  const scopes = ['mcp.invoke'] as const;
  return (await addKey(gateway, { organisationId, workspaceId, userId, type: 'workspace-user', scopes })).secret;
}

const switched = (slug: string, name: string, enabled: boolean) =>
  gateway.put(
    `/v1/mcp-servers/${slug}/capabilities`,
    { capabilities: [{ name, type: 'tool', enabled }] },
    { key: gateway.workspaceKey },
  );

/** Denies every result that says `did forbidden`. */
async function guardedServer(slug: string, url: string, word: string): Promise<void> {
  const guardrail = await gateway.post('/v1/guardrails', {
    name: slug,
    workspace_id: place.workspaceId,
    checks: [{ id: 'default.contains', parameters: { words: [word], operator: 'none' } }],
    actions: { deny: true },
  });
  expect({ status: guardrail.status, body: guardrail.body }).toMatchObject({ status: 200 });
  await saveIntegration(gateway, { slug, url, configurations: { output_guardrails: [guardrail.body.slug] } });
}

describe('the session era', () => {
  const open = (key: string, slug = 'old', prepare?: (client: Client) => void) =>
    sessionClient(`${gateway.url}/${slug}/mcp`, { 'x-gw-api-key': key }, prepare && { prepare });
  const begun = async (client: Client, name = 'work', text = 'it'): Promise<string> => {
    const params = { name, arguments: { text }, task: { ttl: 60_000 } };
    return (await client.request({ method: 'tools/call', params }, CreateTaskResultSchema)).task.taskId;
  };

  test('a task is begun, read, awaited, listed and cancelled, and its status is told', async () => {
    const heard: string[] = [];
    const both = Promise.withResolvers<void>();
    const client = await open(gateway.workspaceKey, 'old', (one) =>
      one.setNotificationHandler(TaskStatusNotificationSchema, ({ params }) => {
        heard.push(`${params.taskId} ${params.status}`);
        both.resolve();
      }),
    );
    expect(client.getServerCapabilities()?.tasks).toMatchObject({ list: {}, cancel: {} });
    const { tasks } = client.experimental;
    const id = await begun(client);
    expect(['working', 'completed']).toContain((await tasks.getTask(id)).status);
    expect(textOf(await tasks.getTaskResult(id, CallToolResultSchema))).toBe('did it');
    const endless = await begun(client, 'endless');
    expect((await tasks.listTasks()).tasks.map(({ taskId }) => taskId)).toEqual([id, endless]);
    expect((await tasks.cancelTask(endless)).status).toBe('cancelled');
    await both.promise;
    expect(heard).toEqual([`${id} completed`]);
    await client.close();
  });

  test('nobody else reads, awaits, cancels, lists or hears of it; its owner does with any of his keys', async () => {
    const [ada, grace] = [await newPerson(), await newPerson()];
    const heard: string[] = [];
    const own = await open(await keyOf(ada));
    const other = await open(await keyOf(grace), 'old', (one) =>
      one.setNotificationHandler(TaskStatusNotificationSchema, ({ params }) => void heard.push(params.taskId)),
    );
    const ids = [];
    // More than one page of them.
    for (let n = 0; n < 12; n++) ids.push(await begun(own));
    const [id = ''] = ids;
    const { tasks } = other.experimental;
    await expect(tasks.getTask(id)).rejects.toThrow('Task not found');
    await expect(tasks.getTaskResult(id, CallToolResultSchema)).rejects.toThrow('Task not found');
    await expect(tasks.cancelTask(id)).rejects.toThrow('Task not found');
    const mine = await begun(other);
    const listed = await tasks.listTasks();
    expect(listed.tasks.map(({ taskId }) => taskId)).toEqual([mine]);
    expect(listed.nextCursor).toBeUndefined();
    await tasks.getTaskResult(mine, CallToolResultSchema);
    await own.experimental.tasks.getTaskResult(ids.at(-1) ?? '', CallToolResultSchema);
    const second = await open(await keyOf(ada));
    expect(textOf(await second.experimental.tasks.getTaskResult(id, CallToolResultSchema))).toBe('did it');
    expect(heard.filter((taskId) => taskId !== mine)).toEqual([]);
    for (const client of [own, other, second]) await client.close();
  });

  test('who may not use the tool any more may not ask for its tasks either', async () => {
    const client = await open(gateway.workspaceKey);
    const id = await begun(client);
    await gateway.post('/v1/mcp-integrations/old/sync', undefined, { key: gateway.workspaceKey });
    await switched('old', 'work', false);
    const { tasks } = client.experimental;
    await expect(tasks.getTask(id)).rejects.toThrow('Task not found');
    await expect(tasks.getTaskResult(id, CallToolResultSchema)).rejects.toThrow('Task not found');
    await expect(tasks.cancelTask(id)).rejects.toThrow('Task not found');
    expect((await tasks.listTasks()).tasks.map(({ taskId }) => taskId)).not.toContain(id);
    await switched('old', 'work', true);
    expect(textOf(await tasks.getTaskResult(id, CallToolResultSchema))).toBe('did it');
    await client.close();
  });

  test('guardrails see the result when it comes', async () => {
    await guardedServer('guarded-old', sessionUpstream.url, 'forbidden');
    const client = await open(gateway.workspaceKey, 'guarded-old');
    const fine = await client.experimental.tasks.getTaskResult(
      await begun(client, 'work', 'something'),
      CallToolResultSchema,
    );
    expect(textOf(fine)).toBe('did something');
    const denied = await client.experimental.tasks.getTaskResult(
      await begun(client, 'work', 'forbidden'),
      CallToolResultSchema,
    );
    expect(denied).toMatchObject({ isError: true });
    expect(JSON.stringify(denied.content)).not.toContain('did forbidden');
    await client.close();
  });

  test('a server of the stateless era offers none to its clients', async () => {
    const client = await open(gateway.workspaceKey, 'new');
    expect(client.getServerCapabilities()?.tasks).toBeUndefined();
    expect(JSON.stringify(client.getServerCapabilities())).not.toContain('tasks');
    const asked = client.experimental.tasks.getTask('any');
    await expect(asked).rejects.toThrow();
    expect(textOf(await client.callTool({ name: 'slow_compute', arguments: { seconds: 5 } }))).toContain('computed');
    await client.close();
  });
});

describe('the stateless era', () => {
  const ask = (
    method: string,
    params: Json,
    { key = gateway.workspaceKey, at = '/new/mcp', declared = true } = {},
  ): Promise<RpcAnswer> => askStateless(gateway.url + at, key, method, params, declared ? undefined : {});
  type Where = Parameters<typeof ask>[2];

  const begun = async (name: string, given: object = {}, where: Where = {}): Promise<string> => {
    const { result } = await ask('tools/call', { name, arguments: given }, where);
    expect(result).toMatchObject({ resultType: 'task', status: expect.any(String) });
    return result.taskId;
  };
  const ended = async (taskId: string, where: Where = {}): Promise<Json> => {
    for (;;) {
      const { result } = await ask('tasks/get', { taskId }, where);
      if (result.status !== 'working') return result;
    }
  };

  test('a task is begun, read, answered and cancelled; what the extension took away is unknown', async () => {
    const id = await begun('confirm_delete');
    expect((await ask('tasks/get', { taskId: id })).result).toMatchObject({
      status: 'input_required',
      inputRequests: { confirm: { method: 'elicitation/create' } },
    });
    const answer = { taskId: id, inputResponses: { confirm: { action: 'accept' } } };
    expect((await ask('tasks/update', answer)).result).toEqual({ resultType: 'complete' });
    expect(await ended(id)).toMatchObject({ status: 'completed', result: { content: [{ type: 'text' }] } });
    const endless = await begun('slow_compute', { seconds: 60 });
    expect((await ask('tasks/cancel', { taskId: endless })).result).toEqual({ resultType: 'complete' });
    expect((await ask('tasks/get', { taskId: endless })).result.status).toBe('cancelled');
    for (const method of ['tasks/list', 'tasks/result']) {
      expect(await ask(method, {})).toMatchObject({ status: 404, error: { code: -32601 } });
    }
  });

  test('nobody else reads, answers or cancels it, in the words of a task that never was', async () => {
    const [ada, grace] = [await newPerson(), await newPerson()];
    const own = { key: await keyOf(ada) };
    const other = { key: await keyOf(grace) };
    const id = await begun('confirm_delete', {}, own);
    for (const [method, params] of [
      ['tasks/get', { taskId: id }],
      ['tasks/update', { taskId: id, inputResponses: { confirm: {} } }],
      ['tasks/cancel', { taskId: id }],
    ] as const) {
      const stolen = await ask(method, params, other);
      const never = await ask(method, { ...params, taskId: 'never' }, other);
      expect(stolen).toEqual(never);
      expect(stolen).toMatchObject({ status: 200, error: { code: -32602 } });
    }
    // Another server of the same upstream is another place.
    await saveIntegration(gateway, { slug: 'new-again', url: statelessUpstream.url });
    expect((await ask('tasks/get', { taskId: id }, { ...own, at: '/new-again/mcp' })).error?.code).toBe(-32602);
    expect((await ask('tasks/get', { taskId: id }, { key: await keyOf(ada) })).result.status).toBe('input_required');
  });

  test('a client that does not know tasks is told what it lacks; a server that does not has no such method', async () => {
    const id = await begun('slow_compute', { seconds: 60 });
    const lacking = await ask('tasks/get', { taskId: id }, { declared: false });
    expect(lacking).toMatchObject({
      status: 400,
      error: { code: -32021, data: { requiredCapabilities: { extensions: { [taskExtension]: {} } } } },
    });
    const notifications = { taskIds: [id] };
    expect(await ask('subscriptions/listen', { notifications }, { declared: false })).toMatchObject({
      status: 400,
      error: { code: -32021 },
    });
    expect(await ask('tasks/get', { taskId: id }, { at: '/old/mcp' })).toMatchObject({
      status: 404,
      error: { code: -32601 },
    });
    const discovered = await ask('server/discover', {}, { at: '/old/mcp' });
    expect(JSON.stringify(discovered.result.capabilities)).not.toContain('tasks');
  });

  test('who may not use the tool any more may not ask for its tasks either', async () => {
    const id = await begun('slow_compute', { seconds: 60 });
    await gateway.post('/v1/mcp-integrations/new/sync', undefined, { key: gateway.workspaceKey });
    await switched('new', 'slow_compute', false);
    for (const method of ['tasks/get', 'tasks/update', 'tasks/cancel']) {
      expect((await ask(method, { taskId: id, inputResponses: {} })).error).toMatchObject({ code: -32602 });
    }
    await switched('new', 'slow_compute', true);
    expect((await ask('tasks/get', { taskId: id })).result.status).toBe('working');
  });

  test('guardrails see the result when it comes', async () => {
    await guardedServer('guarded-new', statelessUpstream.url, 'forbidden');
    const where = { at: '/guarded-new/mcp' };
    const fine = await begun('confirm_delete', {}, where);
    await ask('tasks/update', { taskId: fine, inputResponses: { confirm: { said: 'something' } } }, where);
    expect((await ask('tasks/get', { taskId: fine }, where)).result.result.content[0].text).toContain('something');
    const denied = await begun('confirm_delete', {}, where);
    await ask('tasks/update', { taskId: denied, inputResponses: { confirm: { said: 'forbidden' } } }, where);
    const { result } = await ask('tasks/get', { taskId: denied }, where);
    expect(result).toMatchObject({ status: 'completed', result: { isError: true } });
    expect(JSON.stringify(result)).not.toContain('said');
  });

  const follow = (notifications: object, { key = gateway.workspaceKey, at = '/new/mcp' } = {}) =>
    followStateless(gateway.url + at, key, notifications);

  test.each([
    ['at the server', '/new/mcp', ''],
    ['at the joined address', '/mcp', 'new__'],
  ])('the status of own tasks is told on a stream, and of no other: %s', async (_, at, prefix) => {
    const [ada, grace] = [await newPerson(), await newPerson()];
    const own = { key: await keyOf(ada), at };
    const other = { key: await keyOf(grace), at };
    const mine = await begun(`${prefix}confirm_delete`, {}, own);
    const theirs = await begun(`${prefix}confirm_delete`, {}, other);
    expect(mine.startsWith(prefix)).toBe(true);
    const stream = await follow({ taskIds: [mine, theirs, 'never'] }, own);
    expect((await stream.next()).params).toMatchObject({ notifications: { taskIds: [mine] } });
    const answered = (taskId: string, where: Where) =>
      ask('tasks/update', { taskId, inputResponses: { confirm: { action: 'accept' } } }, where);
    await answered(theirs, other);
    await answered(mine, own);
    const told = await stream.next();
    expect(told).toMatchObject({
      method: 'notifications/tasks',
      params: { taskId: mine, status: 'completed', result: { content: [{ type: 'text' }] } },
    });
    expect(told.params._meta['io.modelcontextprotocol/subscriptionId']).toBe(7);
    await stream.close();
  });

  test('the joined address hands tasks on under the name of their server', async () => {
    const at = '/mcp';
    const { result } = await ask('server/discover', {}, { at });
    expect(result.capabilities.extensions).toEqual({ [taskExtension]: {} });
    const id = await begun('new__slow_compute', { seconds: 60 }, { at });
    expect(id).toStartWith('new__');
    expect((await ask('tasks/get', { taskId: id }, { at })).result).toMatchObject({ taskId: id, status: 'working' });
    expect((await ask('tasks/cancel', { taskId: id }, { at })).result).toEqual({ resultType: 'complete' });
    expect((await ask('tasks/get', { taskId: 'never' }, { at })).error?.code).toBe(-32602);
    expect((await ask('tasks/get', { taskId: id }, { at, declared: false })).error?.code).toBe(-32021);
    expect((await ask('tasks/get', { taskId: id.slice('new__'.length) })).result.status).toBe('cancelled');
  });
});
