/** Both eras, on either side: official clients of one against official servers of the other. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { startGateway, type TestGateway } from '../harness.ts';
import { sessionClient, textOf } from './clients.ts';
import { saveIntegration, startUpstream, trustLoopback, type UpstreamServer } from './upstream.ts';

let gateway: TestGateway;
let old: UpstreamServer;
let modern: UpstreamServer;
let headers: Record<string, string>;

beforeAll(async () => {
  [old, modern] = await Promise.all([startUpstream('session-server.ts'), startUpstream('stateless-server.ts')]);
  gateway = await startGateway(trustLoopback);
  await saveIntegration(gateway, { slug: 'old', url: old.url });
  await saveIntegration(gateway, { slug: 'modern', url: modern.url });
  headers = { 'x-gw-api-key': gateway.workspaceKey };
});

afterAll(async () => {
  await gateway.stop();
  old.stop();
  modern.stop();
});

const modernClient = async (slug: string): Promise<Client> => {
  const client = new Client(
    { name: 'modern-client', version: '2.0.0' },
    { versionNegotiation: { mode: { pin: '2026-07-28' } } },
  );
  await client.connect(
    new StreamableHTTPClientTransport(new URL(`${gateway.url}/${slug}/mcp`), { requestInit: { headers } }),
  );
  return client;
};

describe.each(['old', 'modern'])('a server: %s', (slug) => {
  test('serves a client of the session era', async () => {
    const client = await sessionClient(`${gateway.url}/${slug}/mcp`, headers);
    expect((await client.listTools()).tools.map(({ name }) => name)).toContain('echo');
    expect(textOf(await client.callTool({ name: 'echo', arguments: { text: slug } }))).toBe(slug);
    await client.close();
  });

  test('serves a client of the stateless era', async () => {
    const client = await modernClient(slug);
    expect((await client.listTools()).tools.map(({ name }) => name)).toContain('echo');
    expect(textOf(await client.callTool({ name: 'echo', arguments: { text: slug } }))).toBe(slug);
    await client.close();
  });
});

const envelope = {
  'io.modelcontextprotocol/protocolVersion': '2026-07-28',
  'io.modelcontextprotocol/clientCapabilities': { elicitation: {} },
  'io.modelcontextprotocol/clientInfo': { name: 'raw', version: '1' },
};

const post = async (slug: string, body: { method: string; params?: object }, more: Record<string, string> = {}) => {
  const response = await fetch(`${gateway.url}/${slug}/mcp`, {
    method: 'POST',
    headers: {
      ...headers,
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      'mcp-protocol-version': '2026-07-28',
      'mcp-method': body.method,
      ...more,
    },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, ...body, params: { _meta: envelope, ...body.params } }),
  });
  const text = await response.text();
  const data = text.startsWith('{') ? text : (text.split('data: ').at(-1) ?? '');
  return { status: response.status, body: JSON.parse(data) };
};

describe('headers are held against the body', () => {
  const call = { method: 'tools/call', params: { name: 'echo', arguments: { text: 'x' } } };

  test.each([
    ['another method', { 'mcp-method': 'tools/list', 'mcp-name': 'echo' }, 400, -32020],
    ['another name', { 'mcp-name': 'secret' }, 400, -32020],
    ['no name', {}, 400, -32020],
    ['a name that cannot be read', { 'mcp-name': '=?base64?!!!?=' }, 400, -32020],
    ['another revision', { 'mcp-name': 'echo', 'mcp-protocol-version': '2025-06-18' }, 400, -32020],
  ])('%s', async (_, more, status, code) => {
    const answer = await post('modern', call, more);
    expect({ status: answer.status, code: answer.body.error.code }).toEqual({ status, code });
  });

  test('an encoded name is decoded first', async () => {
    const name = `=?base64?${Buffer.from('echo').toString('base64')}?=`;
    expect((await post('modern', call, { 'mcp-name': name })).body.result.content).toEqual([
      { type: 'text', text: 'x' },
    ]);
  });

  test('an unknown method is 404', async () => {
    expect(await post('old', { method: 'logging/setLevel' })).toMatchObject({
      status: 404,
      body: { error: { code: -32601 } },
    });
  });
});

test('what an upstream of the session era asks becomes an input request, and the answer gets there', async () => {
  const call = { method: 'tools/call', params: { name: 'ask', arguments: {} } };
  const first = await post('old', call, { 'mcp-name': 'ask' });
  expect(first.body.result).toMatchObject({ resultType: 'input_required' });
  const [[key, request] = ['', {}]] = Object.entries(first.body.result.inputRequests);
  expect(request).toMatchObject({ method: 'elicitation/create' });
  const params = {
    ...call.params,
    requestState: first.body.result.requestState,
    inputResponses: { [key]: { action: 'accept', content: { name: 'Ada' } } },
  };
  const second = await post('old', { ...call, params }, { 'mcp-name': 'ask' });
  expect(second.body.result).toMatchObject({ resultType: 'complete', content: [{ text: 'accept: {"name":"Ada"}' }] });
  const replayed = await post('old', { ...call, params }, { 'mcp-name': 'ask' });
  expect(replayed.body.error.code).toBe(-32602);
});
