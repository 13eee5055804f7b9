/** Agents of A2A 0.2: an official SDK of that time on both sides, and the first generation, whose clients choose the ids of tasks. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { type Json, startGateway, type TestGateway } from '../harness.ts';
import { addKey, home } from '../people.ts';
import { type Forwarder, startForwarder } from './forwarder.ts';
import { saveAgent, startAgent, trustLoopback, type UpstreamServer } from './upstream.ts';

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startGateway(trustLoopback);
});
afterAll(() => gateway.stopWithoutFaults());

/** `.ci/run` installs it there. */
const oldSdk = join(homedir(), '.cache/gw-a2a-0.2');

/** What of the old SDK's client is used. */
interface OldClient {
  getAgentCard(): Promise<Json>;
  sendMessage(params: object): Promise<Json>;
  sendMessageStream(params: object): AsyncGenerator<Json>;
  getTask(params: object): Promise<Json>;
  cancelTask(params: object): Promise<Json>;
  resubscribeTask(params: object): AsyncGenerator<Json>;
  setTaskPushNotificationConfig(params: object): Promise<Json>;
  getTaskPushNotificationConfig(params: object): Promise<Json>;
}

describe.skipIf(!existsSync(join(oldSdk, 'node_modules/@a2a-js/sdk')))('the official SDK of 0.2', () => {
  let agent: UpstreamServer;
  let forwarder: Forwarder;
  let client: OldClient;

  beforeAll(async () => {
    agent = await startAgent('old-sdk-agent.ts', [oldSdk]);
    await saveAgent(gateway, { slug: 'old', url: agent.url });
    forwarder = await startForwarder(gateway);
    const entry = join(oldSdk, 'node_modules/@a2a-js/sdk/dist/client/index.js');
    const { A2AClient }: { A2AClient: new (url: string) => OldClient } = await import(pathToFileURL(entry).href);
    client = new A2AClient(`${forwarder.url}/v1/agent/old`);
  });
  afterAll(() => {
    forwarder.stop();
    agent.stop();
  });

  const said = (text: string) => ({
    message: { kind: 'message', messageId: randomUUID(), role: 'user', parts: [{ kind: 'text', text }] },
  });
  const newTask = async (text = 'task one') => (await client.sendMessage(said(text))).result;

  test('finds the card at the older place, with the address of the gateway', async () => {
    const card = await client.getAgentCard();
    expect(card).toMatchObject({ name: 'Old agent', url: `${forwarder.url}/v1/agent/old` });
    expect(JSON.stringify(card)).not.toContain(String(agent.port));
  });

  test('sends, streams, reads, cancels and subscribes again', async () => {
    expect((await client.sendMessage(said('hello'))).result.parts[0].text).toBe('echo: hello');
    const { id } = await newTask();
    expect((await client.getTask({ id })).result).toMatchObject({ id, status: { state: 'completed' } });
    const kinds: string[] = [];
    for await (const { kind } of client.sendMessageStream(said('task two'))) kinds.push(kind);
    expect(kinds).toEqual(['task', 'status-update', 'artifact-update', 'status-update']);
    const events = client.sendMessageStream(said('wait'));
    const { value: begun } = await events.next();
    const again = client.resubscribeTask({ id: begun.id });
    expect((await again.next()).value).toMatchObject({ kind: 'task', id: begun.id });
    expect((await client.cancelTask({ id: begun.id })).result.id).toBe(begun.id);
    for (const stream of [events, again]) {
      let state = '';
      for await (const event of stream) state = event.status.state;
      expect(state).toBe('canceled');
    }
  });

  test('sets where notifications go, if that may be called', async () => {
    const { id: taskId } = await newTask();
    const set = (url: string) =>
      client.setTaskPushNotificationConfig({ taskId, pushNotificationConfig: { url, token: 't' } });
    expect((await set('https://127.0.0.1/hook')).result).toMatchObject({ taskId });
    expect((await client.getTaskPushNotificationConfig({ id: taskId })).result.pushNotificationConfig.token).toBe('t');
    expect((await set('https://10.0.0.1/hook')).error.code).toBe(-32602);
  });
});

describe('the first generation', () => {
  let agent: UpstreamServer;
  let stranger: string;

  beforeAll(async () => {
    agent = await startAgent('first-agent.ts');
    await saveAgent(gateway, { slug: 'first', url: agent.url });
    const { organisationId, workspaceId } = await home(gateway);
    const scopes = ['agents.invoke'] as const;
    const made = { organisationId, workspaceId, userId: null, type: 'workspace-service', scopes } as const;
    stranger = (await addKey(gateway, made)).secret;
  });
  afterAll(() => agent.stop());

  const call = (method: string, params: object, key = gateway.workspaceKey) =>
    fetch(`${gateway.url}/v1/agent/first`, {
      method: 'POST',
      headers: { 'x-gw-api-key': key, 'content-type': 'application/json' },
      body: JSON.stringify({ jsonrpc: '2.0', id: 'r', method, params }),
    });
  const rpc = async (method: string, params: object, key?: string): Promise<Json> =>
    (await call(method, params, key)).json();
  const work = (id: string, text = 'work') => ({
    id,
    sessionId: `session of ${id}`,
    message: { role: 'user', parts: [{ type: 'text', text }] },
  });

  test('its card asks for our key', async () => {
    const response = await fetch(`${gateway.url}/v1/agent/first/.well-known/agent.json`, {
      headers: { 'x-gw-api-key': gateway.workspaceKey },
    });
    const card = await response.json();
    expect(card).toMatchObject({ url: `${gateway.url}/v1/agent/first`, authentication: { schemes: ['apiKey'] } });
  });

  test('a task is sent, read and streamed, and the log knows its state', async () => {
    const id = randomUUID();
    expect((await rpc('tasks/send', work(id))).result).toMatchObject({ id, status: { state: 'completed' } });
    expect((await rpc('tasks/get', { id })).result.artifacts[0].parts[0].text).toBe('done: work');
    expect((await rpc('tasks/cancel', { id })).error.code).toBe(-32002);
    const response = await call('tasks/sendSubscribe', work(randomUUID(), 'more'));
    const events = (await response.text()).split('\n\n').filter((event) => event.startsWith('data: '));
    expect(events.map((event) => JSON.parse(event.slice(6)).result.final)).toEqual([false, undefined, true]);
    const rows = gateway.records.map(({ metrics }) => metrics);
    const sent = rows.find(({ metadata }) => metadata['agent.task_id'] === id);
    expect(sent).toMatchObject({
      ai_model: 'tasks/send',
      metadata: { 'agent.state': 'completed', 'agent.context_id': `session of ${id}` },
    });
    expect(rows.find(({ ai_model }) => ai_model === 'tasks/sendSubscribe')?.metadata).toMatchObject({
      'agent.state': 'completed',
    });
  });

  test('who chose an id first has it, and its session', async () => {
    const id = randomUUID();
    await rpc('tasks/send', work(id));
    for (const [method, params] of [
      ['tasks/get', { id }],
      ['tasks/cancel', { id }],
      ['tasks/resubscribe', { id }],
      ['tasks/send', work(id)],
      ['tasks/sendSubscribe', work(id)],
      ['tasks/send', { ...work(randomUUID()), sessionId: `session of ${id}` }],
      ['tasks/pushNotification/set', { id, pushNotificationConfig: { url: 'https://127.0.0.1/hook' } }],
      ['tasks/pushNotification/get', { id }],
    ] as const) {
      expect([method, (await rpc(method, params, stranger)).error?.code]).toEqual([method, -32001]);
    }
    expect((await rpc('tasks/send', work(id))).result.id).toBe(id);
  });

  test('notifications go where they may', async () => {
    const id = randomUUID();
    await rpc('tasks/send', work(id));
    const set = (url: string) => rpc('tasks/pushNotification/set', { id, pushNotificationConfig: { url } });
    expect((await set('https://127.0.0.1/hook')).result).toMatchObject({ id });
    expect((await set('https://192.168.0.1/hook')).error.code).toBe(-32602);
    const inSend = { ...work(randomUUID()), pushNotification: { url: 'https://192.168.0.1/hook' } };
    expect((await rpc('tasks/send', inSend)).error.code).toBe(-32602);
  });
});
