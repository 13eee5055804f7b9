/** One address for all servers of a workspace, with official clients of both eras. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import {
  ElicitRequestSchema,
  ResourceListChangedNotificationSchema,
  ToolListChangedNotificationSchema,
} from '@modelcontextprotocol/sdk/types.js';
import { type Json, startGateway, type TestGateway } from '../harness.ts';
import { addKey, addPerson, home } from '../people.ts';
import { freePort } from '../servers/free-port.ts';
import { sessionClient, textOf } from './clients.ts';
import { saveIntegration, startUpstream, trustLoopback, type UpstreamServer } from './upstream.ts';

let gateway: TestGateway;
let notes: UpstreamServer;
let modern: UpstreamServer;
let signIn: UpstreamServer;
let headers: Record<string, string>;

beforeAll(async () => {
  const port = String(await freePort());
  [notes, modern, signIn] = await Promise.all([
    startUpstream('session-server.ts'),
    startUpstream('stateless-server.ts'),
    startUpstream('oauth-upstream.ts', [port]),
  ]);
  gateway = await startGateway(trustLoopback);
  await saveIntegration(gateway, { slug: 'notes', url: notes.url });
  await saveIntegration(gateway, { slug: 'notes__two', url: notes.url });
  await saveIntegration(gateway, { slug: 'modern', url: modern.url });
  await saveIntegration(gateway, { slug: 'personal', url: signIn.url, auth_type: 'oauth_auto' });
  await saveIntegration(gateway, { slug: 'broken', url: 'http://127.0.0.1:9/mcp' });
  headers = { 'x-gw-api-key': gateway.workspaceKey };
});

afterAll(async () => {
  await gateway.stop();
  for (const server of [notes, modern, signIn]) server.stop();
});

const joined = (options?: Parameters<typeof sessionClient>[2]) => sessionClient(`${gateway.url}/mcp`, headers, options);

const joinedModern = async (): Promise<Client> => {
  const client = new Client(
    { name: 'modern-client', version: '2.0.0' },
    { versionNegotiation: { mode: { pin: '2026-07-28' } } },
  );
  await client.connect(new StreamableHTTPClientTransport(new URL(`${gateway.url}/mcp`), { requestInit: { headers } }));
  return client;
};

describe('a client of the session era', () => {
  test('sees the tools of every server under the name of its server; one that is away does not hide the others', async () => {
    const client = await joined();
    const { tools, _meta } = await client.listTools();
    const names = tools.map(({ name }) => name);
    expect(names).toContain('notes__echo');
    expect(names).toContain('notes__two__echo');
    expect(names).toContain('modern__echo');
    expect(Object.keys(_meta?.['gw/unavailable'] ?? {})).toEqual(['broken']);
    expect(client.getServerVersion()?.name).toBe('gw');
    expect(client.getInstructions()).toContain('- notes: ');
    for (const name of ['notes__echo', 'notes__two__echo', 'modern__echo']) {
      expect(textOf(await client.callTool({ name, arguments: { text: name } }))).toBe(name);
    }
    await client.close();
    const row = gateway.records.findLast(({ metrics }) => metrics.mcp_tool === 'echo')?.metrics;
    expect(row).toMatchObject({ mcp_server: 'modern', endpoint_type: 'mcpToolCall' });
  });

  test('reads resources, templates and prompts of a server', async () => {
    const client = await joined();
    const { resources } = await client.listResources();
    expect(resources.map(({ uri }) => uri)).toContain('gw-mcp://notes/note://one');
    const { contents } = await client.readResource({ uri: 'gw-mcp://notes/note://one' });
    expect(contents).toMatchObject([{ uri: 'gw-mcp://notes/note://one', text: 'one' }]);
    const { resourceTemplates } = await client.listResourceTemplates();
    expect(resourceTemplates.map(({ uriTemplate }) => uriTemplate)).toContain('gw-mcp://notes/note://numbered/{n}');
    expect((await client.readResource({ uri: 'gw-mcp://notes__two/note://numbered/7' })).contents[0]?.uri).toBe(
      'gw-mcp://notes__two/note://numbered/7',
    );
    expect((await client.listPrompts()).prompts.map(({ name }) => name)).toContain('notes__greet');
    const { messages } = await client.getPrompt({ name: 'notes__greet', arguments: { name: 'Anna' } });
    expect(messages[0]?.content).toMatchObject({ text: 'Hello Anna' });
    await client.close();
  });

  test('answers what a server asks, and hears of its progress and its changes', async () => {
    let changes = 0;
    const client = await joined({
      capabilities: { elicitation: {} },
      prepare(one) {
        one.setRequestHandler(ElicitRequestSchema, async () => ({ action: 'accept', content: { name: 'Anna' } }));
        one.setNotificationHandler(ToolListChangedNotificationSchema, () => void changes++);
        one.setNotificationHandler(ResourceListChangedNotificationSchema, () => undefined);
      },
    });
    expect(textOf(await client.callTool({ name: 'notes__ask', arguments: {} }))).toBe('accept: {"name":"Anna"}');
    const steps: number[] = [];
    await client.callTool({ name: 'notes__progress', arguments: { steps: 3 } }, undefined, {
      onprogress: ({ progress }) => void steps.push(progress),
    });
    expect(steps).toEqual([1, 2, 3]);
    // A change is told to those who listen already, and nobody says when that is.
    while (changes === 0) await client.callTool({ name: 'notes__rename', arguments: {} });
    await client.close();
  });

  test('is told of an unknown tool in the same words, whichever part of its name is unknown', async () => {
    const client = await joined();
    for (const name of ['nobody__echo', 'echo', 'broken__']) {
      await expect(client.callTool({ name, arguments: {} })).rejects.toThrow();
    }
    await expect(client.callTool({ name: 'nobody__echo', arguments: {} })).rejects.toThrow(
      'Unknown tool: nobody__echo',
    );
    await client.close();
  });

  test('has a session of its own, which ends with DELETE', async () => {
    const client = await joined();
    const { transport } = client;
    await client.listTools();
    const session = (transport as { sessionId?: string }).sessionId ?? '';
    const ask = (path: string, method: string) =>
      fetch(gateway.url + path, { method, headers: { ...headers, 'mcp-session-id': session } });
    expect((await ask('/notes/mcp', 'DELETE')).status).toBe(404);
    expect((await ask('/mcp', 'DELETE')).status).toBe(204);
    expect((await ask('/mcp', 'DELETE')).status).toBe(404);
    await client.close();
  });
});

describe('a client of the stateless era', () => {
  test('discovers, lists and calls the tools of servers of either era', async () => {
    const client = await joinedModern();
    const names = (await client.listTools()).tools.map(({ name }) => name);
    expect(names).toContain('notes__echo');
    expect(names).toContain('modern__echo');
    for (const name of ['notes__echo', 'modern__echo']) {
      expect(textOf(await client.callTool({ name, arguments: { text: name } }))).toBe(name);
    }
    expect((await client.readResource({ uri: 'gw-mcp://notes/note://one' })).contents).toMatchObject([{ text: 'one' }]);
    await client.close();
  });
});

describe('a server at which the caller must sign in first', () => {
  const asPerson = async () => {
    const { organisationId, workspaceId } = await home(gateway);
    const workspaces = { [workspaceId]: 'member' } as const;
    const { userId } = await addPerson(gateway, organisationId, 'member', { workspaces });
    const scopes = ['mcp.invoke'] as const;
    const key = await addKey(gateway, { organisationId, workspaceId, userId, type: 'workspace-user', scopes });
    return { 'x-gw-api-key': key.secret };
  };
  const faultOf = (work: Promise<unknown>) =>
    work.then(
      () => null,
      (fault: Error & { code: number; data: Json }) => ({ code: fault.code, data: fault.data }),
    );
  const toOpen = {
    code: -32042,
    data: {
      elicitations: [
        {
          mode: 'url',
          url: expect.stringContaining('http'),
          message: expect.any(String),
          elicitationId: expect.any(String),
        },
      ],
    },
  };
  const whoami = { name: 'personal__whoami', arguments: {} };
  const capabilities = { elicitation: { url: {} } };

  test('tells a client of the session era that can open addresses which one to open, and others in words', async () => {
    const own = await asPerson();
    const client = await sessionClient(`${gateway.url}/mcp`, own, { capabilities });
    expect(await faultOf(client.callTool(whoami))).toMatchObject(toOpen);
    // The other servers go on.
    expect(textOf(await client.callTool({ name: 'notes__echo', arguments: { text: 'on' } }))).toBe('on');
    await client.close();
    const plain = await sessionClient(`${gateway.url}/mcp`, own);
    await expect(plain.callTool(whoami)).rejects.toThrow('authorization_url: http');
    await plain.close();
  });

  test('tells a client of the stateless era the same', async () => {
    const client = new Client(
      { name: 'modern-client', version: '2.0.0' },
      { capabilities, versionNegotiation: { mode: { pin: '2026-07-28' } } },
    );
    const requestInit = { headers: await asPerson() };
    await client.connect(new StreamableHTTPClientTransport(new URL(`${gateway.url}/mcp`), { requestInit }));
    expect(await faultOf(client.callTool(whoami))).toMatchObject(toOpen);
    await client.close();
  });
});

test('what a caller may not use is not there either', async () => {
  const off = { capabilities: [{ name: 'write', type: 'tool', enabled: false }] };
  await gateway.post('/v1/mcp-integrations/notes/sync', undefined, { key: gateway.workspaceKey });
  await gateway.put('/v1/mcp-servers/notes/capabilities', off, { key: gateway.workspaceKey });
  const client = await joined();
  const names = (await client.listTools()).tools.map(({ name }) => name);
  expect(names).not.toContain('notes__write');
  expect(names).toContain('notes__two__write');
  await expect(client.callTool({ name: 'notes__write', arguments: { text: 'x' } })).rejects.toThrow('Unknown tool');
  await client.close();
});
