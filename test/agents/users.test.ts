/** People who share an agent: what belongs to one never reaches another's call, a log, an error or a file. */
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { randomBytes, randomUUID } from 'node:crypto';
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { type Json, startGateway, type TestGateway } from '../harness.ts';
import { addKey, addPerson, type Home, home, storeOf } from '../people.ts';
import { json, type SimulatedProvider, startProvider } from '../providers/simulated.ts';
import { saveAgent, trustLoopback } from './upstream.ts';

let gateway: TestGateway;
let agent: SimulatedProvider;
let place: Home;
const base = () => agent.url.replace('/v1', '');

beforeAll(async () => {
  agent = await startProvider((call, response) => {
    if (call.path.includes('.well-known')) return json(200, { name: 'Shared', url: base() })(call, response);
    const text = call.json.params.message.parts[0].text;
    if (text === 'fail') return json(500, { error: 'no' })(call, response);
    const result = { kind: 'message', messageId: 'm', role: 'agent', parts: [{ kind: 'text', text }] };
    return json(200, { jsonrpc: '2.0', id: call.json.id, result })(call, response);
  });
  gateway = await startGateway(trustLoopback);
  place = await home(gateway);
});
afterAll(async () => {
  await gateway.stopWithoutFaults();
  await agent.stop();
});

interface User {
  userId: string;
  key: string;
  canary: string;
}

const newUser = async (): Promise<User> => {
  const { organisationId, workspaceId } = place;
  const { userId } = await addPerson(gateway, organisationId, 'member', { workspaces: { [workspaceId]: 'member' } });
  const scopes = ['agents.invoke'] as const;
  const { secret } = await addKey(gateway, { organisationId, workspaceId, userId, type: 'workspace-user', scopes });
  return { userId, key: secret, canary: `canary-${randomBytes(12).toString('hex')}` };
};

const ask = async ({ key, canary }: User, text: string, slug = 'shared'): Promise<string> => {
  const message = { kind: 'message', messageId: randomUUID(), role: 'user', parts: [{ kind: 'text', text }] };
  const response = await fetch(`${gateway.url}/v1/agent/${slug}`, {
    method: 'POST',
    headers: {
      'x-gw-api-key': key,
      authorization: `Bearer ${canary}`,
      'x-session': `session of ${text}`,
      'content-type': 'application/json',
    },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'message/send', params: { message } }),
  });
  return `${JSON.stringify([...response.headers])} ${await response.text()}`;
};

const filesIn = (folder: string): string[] =>
  readdirSync(folder).flatMap((name) => {
    const path = join(folder, name);
    return statSync(path).isDirectory() ? filesIn(path) : [path];
  });

test('each call carries its own caller’s token, header and claims, however they are mixed; nothing keeps them', async () => {
  await saveAgent(gateway, {
    slug: 'shared',
    url: base(),
    configurations: { forward_headers: ['x-session'], user_identity_forwarding: { method: 'bearer' } },
  });
  await saveAgent(gateway, {
    slug: 'claimed',
    url: base(),
    configurations: { user_identity_forwarding: { method: 'claims_header' } },
  });
  const users = await Promise.all([newUser(), newUser(), newUser()]);
  agent.calls.length = 0;
  const rounds = Array.from({ length: 10 }, (_, round) => round);
  const answers = await Promise.all(
    rounds.flatMap((round) =>
      users.flatMap((user, index) => [
        ask(user, `${index}`),
        ask(user, `${index}`, 'claimed'),
        ...(round === 0 ? [ask(user, 'fail')] : []),
      ]),
    ),
  );
  for (const { headers, json: sent } of agent.calls) {
    const text = sent.params.message.parts[0].text;
    if (text === 'fail') continue;
    const user = users[Number(text)];
    const seen = JSON.stringify(headers);
    for (const other of users) {
      if (other === user) continue;
      expect(seen).not.toContain(other.canary);
      expect(seen).not.toContain(other.userId);
    }
    expect(seen).not.toContain(user?.key ?? '-');
    if (headers['x-user-claims']) expect(JSON.parse(headers['x-user-claims']).user_id).toBe(user?.userId);
    else
      expect([headers.authorization, headers['x-session']]).toEqual([`Bearer ${user?.canary}`, `session of ${text}`]);
  }
  const kept = gateway.records.map(({ metrics, bodies }) => {
    const texts = Object.values(bodies).map((one) => [one?.headers, one?.body && Buffer.from(one.body).toString()]);
    return JSON.stringify([metrics, texts]);
  });
  const told = [...kept, ...answers].join('\n');
  const stored = filesIn(gateway.dataDir).map((file) => readFileSync(file));
  for (const { canary, key } of users) {
    for (const secret of [canary, key]) {
      expect(told.includes(secret)).toBe(false);
      for (const file of stored) expect(file.includes(secret)).toBe(false);
    }
  }
});

test('somebody who is denied by default gets in by an exception alone', async () => {
  await saveAgent(gateway, { slug: 'closed', url: base() });
  const [one, other] = await Promise.all([newUser(), newUser()]);
  const own = { key: gateway.workspaceKey };
  const access = { default_user_access: 'deny', user_access: [{ user_id: one.userId, enabled: true }] };
  expect((await gateway.put('/v1/agent-servers/closed/user-access', access, own)).status).toBe(200);
  expect(await ask(one, 'hello', 'closed')).toContain('"text":"hello"');
  expect(await ask(other, 'hello', 'closed')).toContain('you may not use the agent server closed');
  const { body }: { body: Json } = await gateway.get('/v1/agent-servers/closed/user-access', own);
  expect(body.default_user_access).toBe('deny');
});

test('an empty list with override takes the agent from every workspace', async () => {
  const made = await gateway.post('/v1/agent-integrations', { name: 'lent', slug: 'lent', url: base() });
  const at = `/v1/agent-integrations/${made.body.id}/workspaces`;
  await gateway.put(at, { workspaces: [{ id: place.workspaceId, enabled: true }] });
  const user = await newUser();
  expect(await ask(user, 'hello', 'lent')).toContain('"text":"hello"');
  await gateway.put(at, { workspaces: [], override_existing_workspace_access: true });
  expect(await ask(user, 'hello', 'lent')).toContain('not enabled for this workspace');
});

test('an address that has become a private one is not called', async () => {
  const strict = await startGateway();
  try {
    const own = { key: strict.workspaceKey };
    const agentOf = { name: 'moved', slug: 'moved', url: 'https://agent.example.com' };
    await strict.post('/v1/agent-integrations', agentOf, own);
    await storeOf(strict).db.updateTable('agent_integrations').set({ url: base(), card_status: 'fetched' }).execute();
    await strict.put('/v1/agent-servers/moved', { name: 'Moved' }, own);
    agent.calls.length = 0;
    const message = { kind: 'message', messageId: 'm', role: 'user', parts: [{ kind: 'text', text: 'hello' }] };
    const body = { jsonrpc: '2.0', id: 1, method: 'message/send', params: { message } };
    const asked = await strict.post('/v1/agent/moved', body, own);
    expect(asked).toMatchObject({ status: 502, body: { error: { data: { code: 'upstream_error' } } } });
    expect((await strict.get('/v1/agent/moved/.well-known/agent-card.json', own)).status).toBe(502);
    expect(agent.calls).toEqual([]);
  } finally {
    await strict.stop();
  }
});
