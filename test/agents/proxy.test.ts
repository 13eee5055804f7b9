/** What stands between a client and an agent: who may call, what is rewritten, what stays apart and what is refused. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { randomUUID } from 'node:crypto';
import { createOwners } from '../../src/agents/owners.ts';
import type { TestGateway } from '../harness.ts';
import { addPerson, type Home, storeOf } from '../people.ts';
import { type Asked, type ProxyWorld, said, startProxyWorld } from './proxy-world.ts';
import { saveAgent, type UpstreamServer } from './upstream.ts';

let world: ProxyWorld;
let gateway: TestGateway;
let agent: UpstreamServer;
let place: Home;
let call: ProxyWorld['call'];
let rpc: ProxyWorld['rpc'];
let newTask: ProxyWorld['newTask'];
let otherKey: ProxyWorld['otherKey'];

beforeAll(async () => {
  world = await startProxyWorld();
  ({ gateway, agent, place, call, rpc, newTask, otherKey } = world);
});
afterAll(() => world.stop());

describe('the card', () => {
  test.each(['GET', 'POST'])(
    'is rewritten by %s: every address is ours, and nothing names the agent’s host',
    async (method) => {
      for (const version of ['1.0', '0.3']) {
        const response = await call('/.well-known/agent-card.json', { method, headers: { 'a2a-version': version } });
        const text = await response.text();
        expect(response.status).toBe(200);
        expect(text).not.toContain(new URL(agent.url).host);
        expect(text).not.toContain('GRPC');
        const card = JSON.parse(text);
        expect(card).toMatchObject({ name: 'Sample agent', capabilities: { streaming: true } });
        expect(card.signatures).toBeUndefined();
        expect(card.documentationUrl).toBeUndefined();
        expect(JSON.stringify(card.securitySchemes)).toContain('x-gw-api-key');
        const urls = [card.url, ...card.supportedInterfaces.map(({ url }: { url: string }) => url)].filter(Boolean);
        expect(new Set(urls)).toEqual(new Set([`${gateway.url}/v1/agent/sample`]));
      }
      expect((await call('/.well-known/agent.json', { method })).status).toBe(200);
    },
  );

  test('is not sent again to who has it', async () => {
    const first = await call('/.well-known/agent-card.json');
    const etag = first.headers.get('etag') ?? '';
    expect(first.headers.get('vary')).toBe('A2A-Version');
    const again = await call('/.well-known/agent-card.json', { headers: { 'if-none-match': `"other", W/${etag}` } });
    expect([again.status, await again.text()]).toEqual([304, '']);
    const other = await call('/.well-known/agent-card.json', { headers: { 'if-none-match': '"other"' } });
    expect(other.status).toBe(200);
  });

  test('shows no skill that is switched off, and a message that names it is refused', async () => {
    await saveAgent(gateway, { slug: 'skilled', url: agent.url });
    const own = { key: gateway.workspaceKey };
    await gateway.put('/v1/agent-servers/skilled/skills', { skills: [{ id: 'tasks', enabled: false }] }, own);
    const card = await (await call('/.well-known/agent-card.json', { slug: 'skilled' })).json();
    expect(card.skills.map(({ id }: { id: string }) => id)).toEqual(['echo']);
    const named = { ...said('hello'), metadata: { skillId: 'tasks' } };
    expect(await rpc('message/send', named, { slug: 'skilled' })).toMatchObject({
      status: 200,
      body: { id: 7, error: { code: -32004 } },
    });
  });
});

describe('who may call', () => {
  test('no key is a 401, a key without agents.invoke a 403, an admin key a 403, an unknown agent a 404', async () => {
    expect((await call('', { method: 'POST', body: '{}', key: '' })).status).toBe(401);
    const mute = await otherKey('completions.write');
    expect((await rpc('message/send', said('x'), { key: mute })).status).toBe(403);
    expect((await rpc('message/send', said('x'), { key: gateway.adminKey })).status).toBe(403);
    expect(await rpc('message/send', said('x'), { slug: 'nobody' })).toMatchObject({
      status: 404,
      body: { error: { code: 'agent_not_found' } },
    });
  });

  test('a server that is not handed to the workspace, or a person who is denied, is a 403', async () => {
    const made = await gateway.post('/v1/agent-integrations', { name: 'lent', slug: 'lent', url: agent.url });
    const at = `/v1/agent-integrations/${made.body.id}/workspaces`;
    const hand = (enabled: boolean) => gateway.put(at, { workspaces: [{ id: place.workspaceId, enabled }] });
    await hand(true);
    expect((await rpc('message/send', said('x'), { slug: 'lent' })).status).toBe(200);
    await hand(false);
    expect((await rpc('message/send', said('x'), { slug: 'lent' })).status).toBe(403);
    await hand(true);
    const workspaces = { [place.workspaceId]: 'member' } as const;
    const { userId } = await addPerson(gateway, place.organisationId, 'member', { workspaces });
    const key = await otherKey('agents.invoke', userId);
    expect((await rpc('message/send', said('x'), { slug: 'lent', key })).status).toBe(200);
    await gateway.put('/v1/agent-servers/lent/user-access', { user_access: [{ user_id: userId, enabled: false }] });
    expect((await rpc('message/send', said('x'), { slug: 'lent', key })).status).toBe(403);
  });
});

describe('the gateway’s own refusals', () => {
  const codeOf = async (response: Response): Promise<[number, unknown, unknown]> => {
    const { error } = (await response.json()) as { error: { code: unknown; data?: { code: unknown } } };
    return [response.status, error.code, error.data?.code];
  };
  const message = JSON.stringify({ jsonrpc: '2.0', id: 7, method: 'message/send', params: said('x') });

  test('before the body is read are those of every route, with the code of the table', async () => {
    const post = (more: RequestInit & Asked = {}) => call('', { method: 'POST', body: message, ...more });
    const refusals = [
      [{ key: 'gw-unknown' }, 401, 'unauthorized'],
      [{ key: await otherKey('completions.write') }, 403, 'insufficient_scope'],
      [{ slug: 'nobody' }, 404, 'agent_not_found'],
      [{ headers: { upgrade: 'websocket', connection: 'upgrade' } }, 426, 'upgrade_required'],
      [{ body: `{"a": "${'x'.repeat(10 * 1024 * 1024)}"}` }, 413, 'body_too_large'],
    ] as const;
    for (const [asked, status, code] of refusals) {
      expect(await codeOf(await post(asked))).toEqual([status, code, undefined]);
    }
  });

  test('after it are JSON-RPC: a key beyond its own rate limit', async () => {
    const made = await gateway.post('/v1/api-keys/workspace/service', {
      name: 'hasty',
      workspace_id: place.workspaceId,
      scopes: ['agents.invoke'],
      rate_limits: [{ type: 'requests', unit: 'rpm', value: 1 }],
    });
    expect({ status: made.status, body: made.body }).toMatchObject({ status: 200 });
    const { key } = made.body;
    expect((await call('', { method: 'POST', body: message, key })).status).toBe(200);
    const second = await call('', { method: 'POST', body: message, key });
    expect(await codeOf(second)).toEqual([429, -32000, 'rate_limited']);
  });
});

describe('tasks of others', () => {
  test('are not found, over either binding, in any generation, whatever the spelling', async () => {
    const { id, contextId } = await newTask();
    const key = await otherKey();
    const foreign = { status: 200, body: { error: { code: -32001, data: [{ reason: 'TASK_NOT_FOUND' }] } } };
    expect((await rpc('tasks/get', { id })).body.result.id).toBe(id);
    expect(await rpc('tasks/get', { id }, { key })).toMatchObject(foreign);
    expect(await rpc('tasks/cancel', { id }, { key })).toMatchObject(foreign);
    expect(await rpc('GetTask', { id }, { key, headers: { 'a2a-version': '1.0' } })).toMatchObject(foreign);
    expect(await rpc('message/send', said('x', { taskId: id }), { key })).toMatchObject(foreign);
    expect(await rpc('message/send', said('x', { contextId }), { key })).toMatchObject(foreign);
    expect(await rpc('message/send', said('x', { referenceTaskIds: [id] }), { key })).toMatchObject(foreign);
    expect(await rpc('tasks/pushNotificationConfig/list', { id }, { key })).toMatchObject(foreign);
    for (const path of [
      `/tasks/${id}`,
      `/v1/tasks/${id}`,
      `/%74asks/${id}`,
      `/Tasks/${id}`,
      `//tasks//${id}/`,
      `/a2a/rest/tasks/${id}`,
    ]) {
      const headers = { 'a2a-version': '1.0' };
      expect([path, (await call(path, { key, headers })).status]).toEqual([path, 404]);
    }
    const around = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tasks/get', params: { id } });
    const response = await call('/a2a/jsonrpc', { method: 'POST', body: around, key });
    expect((await response.json()).error.code).toBe(-32001);
  });

  test('do not stand in lists', async () => {
    await newTask();
    const key = await otherKey();
    const headers = { 'a2a-version': '1.0' };
    const { id } = await newTask({ key });
    const { body } = await rpc('ListTasks', {}, { key, headers });
    expect(body.result.tasks.map((task: { id: string }) => task.id)).toEqual([id]);
    expect(body.result.totalSize).toBe(1);
    const listed = await (await call('/tasks', { key, headers })).json();
    expect(listed.tasks).toHaveLength(1);
    expect((await (await call('/tasks?pageSize=1', { key: await otherKey(), headers })).json()).tasks).toEqual([]);
  });

  test('are remembered by the database, for other processes and the next start', async () => {
    const { id } = await newTask();
    const { clock } = gateway.app.services;
    const elsewhere = createOwners(storeOf(gateway), clock, () => undefined);
    let found = await elsewhere.of(agent.url, 'task', id);
    // It is written behind the answer.
    while (!found) {
      await Bun.sleep(5);
      found = await elsewhere.of(agent.url, 'task', id);
    }
    expect(found.workspaceId).toBe(place.workspaceId);
    await elsewhere.close();
  });

  test('a task whose id the client chose, as in 0.2, belongs to who came first', async () => {
    const chosen = { id: randomUUID(), message: { role: 'user', parts: [{ type: 'text', text: 'x' }] } };
    expect((await rpc('tasks/send', chosen)).body.error.code).toBe(-32601);
    expect((await rpc('tasks/send', chosen, { key: await otherKey() })).body.error.code).toBe(-32001);
  });
});

describe('what is refused', () => {
  test.each([
    ['broken JSON', '{"a":', null, -32700],
    ['nothing', '', null, -32700],
    ['a list', '[]', null, -32600],
    ['a text', '"x"', null, -32600],
    ['no method', '{"jsonrpc":"2.0","id":3}', 3, -32600],
    ['another version', '{"jsonrpc":"1.0","id":"a","method":"x"}', 'a', -32600],
    ['params that are a list', '{"jsonrpc":"2.0","id":3,"method":"x","params":[]}', 3, -32600],
  ])('%s, in JSON-RPC', async (_, body, id, code) => {
    const response = await call('', { method: 'POST', body });
    expect(response.status).toBe(200);
    expect(await response.json()).toMatchObject({ jsonrpc: '2.0', id, error: { code } });
  });

  test('what is no JSON and does not say that it is', async () => {
    const response = await call('', { method: 'POST', body: 'Hello', headers: { 'content-type': 'text/plain' } });
    expect(await response.json()).toMatchObject({ id: null, error: { code: -32005 } });
    expect((await call('/message:send', { method: 'POST', body: '{"a":' })).status).toBe(400);
  });

  test('a body beyond 10 MB is a 413, a WebSocket a 426, TRACE a 405, a climbing path a 400', async () => {
    const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'x', params: { text: 'x'.repeat(10 * 1024 * 1024) } });
    expect((await call('', { method: 'POST', body })).status).toBe(413);
    expect((await call('', { headers: { upgrade: 'websocket', connection: 'upgrade' } })).status).toBe(426);
    expect((await call('', { method: 'OPTIONS', headers: { 'x-plain': '1' } })).status).toBe(405);
    for (const path of ['/a%2f..%2f..%2fseen', '/a%2fb', '/a%5cb', '/a;b/c', '/%zz']) {
      expect([path, (await call(path)).status]).toEqual([path, 400]);
    }
  });

  test.each([
    'https://10.0.0.1/hook',
    'http://example.com/hook',
    'https://169.254.169.254/hook',
    'file:///etc/passwd',
    'https://localhost.localtest.me/hook',
  ])('a push notification to %s', async (url) => {
    const { id } = await newTask();
    const inSend = { ...said('task'), configuration: { pushNotificationConfig: { url } } };
    const refused = { status: 200, body: { error: { code: -32602 } } };
    expect(await rpc('message/send', inSend)).toMatchObject(refused);
    const set = { taskId: id, pushNotificationConfig: { url } };
    expect(await rpc('tasks/pushNotificationConfig/set', set)).toMatchObject(refused);
    const headers = { 'a2a-version': '1.0' };
    const created = await call(`/tasks/${id}/pushNotificationConfigs`, {
      method: 'POST',
      body: JSON.stringify({ taskId: id, url }),
      headers,
    });
    expect(created.status).toBe(400);
  });
});
