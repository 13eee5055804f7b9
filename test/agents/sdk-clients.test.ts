/** The official SDKs, current and old, walk every operation through the gateway to an agent of the SDK, over both bindings. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { randomUUID } from 'node:crypto';
import {
  GetTaskRequest,
  ListTasksRequest,
  SendMessageRequest,
  StreamResponse,
  Task,
  TaskPushNotificationConfig,
} from '@a2a-js/sdk';
import {
  ClientFactory,
  DefaultAgentCardResolver,
  JsonRpcTransportFactory,
  RestTransportFactory,
} from '@a2a-js/sdk/client';
import {
  DefaultAgentCardResolver as OldCardResolver,
  ClientFactory as OldClientFactory,
  JsonRpcTransportFactory as OldJsonRpc,
  RestTransportFactory as OldRest,
} from 'a2a-sdk-0.3/client';
import { startGateway, type TestGateway } from '../harness.ts';
import { saveAgent, startAgent, trustLoopback, type UpstreamServer } from './upstream.ts';

let gateway: TestGateway;
let agent: UpstreamServer;

beforeAll(async () => {
  agent = await startAgent('sdk-agent.ts');
  gateway = await startGateway(trustLoopback);
  await saveAgent(gateway, { slug: 'sample', url: agent.url });
});
afterAll(async () => {
  await gateway.stopWithoutFaults();
  agent.stop();
});

const withKey = (): typeof fetch =>
  Object.assign(
    (input: string | URL | Request, init?: RequestInit) => {
      const headers = new Headers(init?.headers);
      headers.set('x-gw-api-key', gateway.workspaceKey);
      return fetch(input, { ...init, headers });
    },
    { preconnect: fetch.preconnect },
  );
const address = () => `${gateway.url}/v1/agent/sample/`;

const asked = (text: string, more: object = {}) =>
  SendMessageRequest.fromJSON({
    message: { messageId: randomUUID(), role: 'ROLE_USER', parts: [{ text }], ...more },
    configuration: { acceptedOutputModes: ['text/plain'] },
  });

async function collected<T>(events: AsyncGenerator<T, void, undefined>): Promise<T[]> {
  const all: T[] = [];
  for await (const event of events) all.push(event);
  return all;
}

describe.each(['JSONRPC', 'HTTP+JSON'] as const)('A2A 1.0 over %s', (binding) => {
  const connect = () =>
    new ClientFactory({
      transports: [
        new JsonRpcTransportFactory({ fetchImpl: withKey() }),
        new RestTransportFactory({ fetchImpl: withKey() }),
      ],
      cardResolver: new DefaultAgentCardResolver({ fetchImpl: withKey() }),
      preferredTransports: [binding],
    }).createFromUrl(address());

  const taskOf = (result: unknown): Task => {
    if (typeof result !== 'object' || result === null || !('status' in result)) throw new Error('no task came');
    return Task.fromJSON(Task.toJSON(result as Task));
  };

  test('a message is answered with a message', async () => {
    const client = await connect();
    expect(JSON.stringify(await client.sendMessage(asked('hello')))).toContain('echo: hello');
  });

  test('a task is made, read, listed and cancelled', async () => {
    const client = await connect();
    const { id, contextId, status } = taskOf(await client.sendMessage(asked('task one')));
    expect(status?.state).toBe(3);
    expect((await client.getTask(GetTaskRequest.fromJSON({ id }))).id).toBe(id);
    const listed = await client.listTasks(ListTasksRequest.fromJSON({ contextId }));
    expect(listed.tasks.map((task) => task.id)).toEqual([id]);
    await expect(client.cancelTask({ id, tenant: '', metadata: {} })).rejects.toThrow(/cancel/i);
  });

  test('a stream brings the task and its updates as they come; a second one may subscribe, and it is cancelled', async () => {
    const client = await connect();
    const events = client.sendMessageStream(asked('wait'));
    const first = await events.next();
    const task = StreamResponse.toJSON(first.value ?? StreamResponse.fromJSON({})) as { task: { id: string } };
    const second = client.resubscribeTask({ id: task.task.id, tenant: '' });
    expect((await second.next()).done).toBe(false);
    await client.cancelTask({ id: task.task.id, tenant: '', metadata: {} });
    const [rest, seen] = await Promise.all([collected(events), collected(second)]);
    expect(JSON.stringify(rest.map((event) => StreamResponse.toJSON(event)))).toContain('TASK_STATE_CANCELED');
    expect(JSON.stringify(seen.map((event) => StreamResponse.toJSON(event)))).toContain('TASK_STATE_CANCELED');
  });

  test('a stream of a task that completes brings every event', async () => {
    const client = await connect();
    const events = await collected(client.sendMessageStream(asked('task streamed')));
    const kinds = events.map(({ payload }) => payload?.$case);
    expect(kinds).toEqual(['task', 'statusUpdate', 'artifactUpdate', 'statusUpdate']);
  });

  test('a conversation goes on with the task that asked back', async () => {
    const client = await connect();
    const { id, contextId } = taskOf(await client.sendMessage(asked('ask me')));
    const done = taskOf(await client.sendMessage(asked('the second', { taskId: id, contextId })));
    expect([done.id, done.status?.state]).toEqual([id, 3]);
  });

  test('push notifications are configured, read, listed and deleted', async () => {
    const client = await connect();
    const { id: taskId } = taskOf(await client.sendMessage(asked('task pushed')));
    const config = TaskPushNotificationConfig.fromJSON({ taskId, id: 'c1', url: 'http://127.0.0.1:9/hook' });
    expect((await client.createTaskPushNotificationConfig(config)).url).toBe('http://127.0.0.1:9/hook');
    const at = { taskId, id: 'c1', tenant: '' };
    expect((await client.getTaskPushNotificationConfig(at)).id).toBe('c1');
    const { configs } = await client.listTaskPushNotificationConfig({ taskId, tenant: '', pageSize: 0, pageToken: '' });
    expect(configs).toHaveLength(1);
    await client.deleteTaskPushNotificationConfig(at);
  });

  test('the extended card names the gateway too', async () => {
    const client = await connect();
    const card = await client.getAgentCard();
    expect(card.description).toBe('An agent for tests, told in full');
    expect(card.supportedInterfaces.map(({ url }) => url)).toEqual(
      Array.from({ length: 4 }, () => `${gateway.url}/v1/agent/sample`),
    );
  });

  test('a task that never was is not found, in the words of the protocol', async () => {
    const client = await connect();
    await expect(client.getTask(GetTaskRequest.fromJSON({ id: 'never' }))).rejects.toThrow(/not found/i);
  });
});

describe.each(['JSONRPC', 'HTTP+JSON'] as const)('A2A 0.3 over %s, with the old SDK', (binding) => {
  const connect = () =>
    new OldClientFactory({
      transports: [new OldJsonRpc({ fetchImpl: withKey() }), new OldRest({ fetchImpl: withKey() })],
      cardResolver: new OldCardResolver({ fetchImpl: withKey() }),
      preferredTransports: [binding],
    }).createFromUrl(address());
  const said = (text: string, more: object = {}) => ({
    message: {
      kind: 'message' as const,
      messageId: randomUUID(),
      role: 'user' as const,
      parts: [{ kind: 'text' as const, text }],
      ...more,
    },
  });

  test('messages, tasks, streams, push notifications and the extended card work', async () => {
    const client = await connect();
    expect(JSON.stringify(await client.sendMessage(said('hello')))).toContain('echo: hello');
    const task = await client.sendMessage(said('task one'));
    if (task.kind !== 'task') throw new Error('no task came');
    expect((await client.getTask({ id: task.id })).status.state).toBe('completed');
    const events = await collected(client.sendMessageStream(said('task streamed')));
    expect(events.map(({ kind }) => kind)).toEqual(['task', 'status-update', 'artifact-update', 'status-update']);
    const config = { url: 'http://127.0.0.1:9/hook', id: 'c1' };
    await client.setTaskPushNotificationConfig({ taskId: task.id, pushNotificationConfig: config });
    const at = { id: task.id, pushNotificationConfigId: 'c1' };
    expect((await client.getTaskPushNotificationConfig(at)).taskId).toBe(task.id);
    expect(await client.listTaskPushNotificationConfig({ id: task.id })).toHaveLength(1);
    await client.deleteTaskPushNotificationConfig(at);
    expect((await client.getAgentCard()).description).toContain('told in full');
  });

  test('a task that waits is cancelled, and whoever resubscribed hears of it', async () => {
    const client = await connect();
    const events = client.sendMessageStream(said('wait'));
    const first = (await events.next()).value;
    if (first?.kind !== 'task') throw new Error('no task came');
    const again = client.resubscribeTask({ id: first.id });
    expect((await again.next()).done).toBe(false);
    await client.cancelTask({ id: first.id });
    const [rest, seen] = await Promise.all([collected(events), collected(again)]);
    expect(JSON.stringify([rest.at(-1), seen.at(-1)])).toMatch(/canceled.*canceled/);
  });
});
