/** Lists that an upstream tells in many pages, of which the caller may see a part. */
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { startGateway, type TestGateway } from '../harness.ts';
import { sessionClient, textOf } from './clients.ts';
import { saveIntegration, startUpstream, trustLoopback, type UpstreamServer } from './upstream.ts';

let gateway: TestGateway;
let upstream: UpstreamServer;

beforeAll(async () => {
  upstream = await startUpstream('paged-server.ts');
  gateway = await startGateway(trustLoopback);
  await saveIntegration(gateway, { slug: 'many', url: upstream.url });
});

afterAll(async () => {
  await gateway.stopWithoutFaults();
  upstream.stop();
});

test('no page is empty because of what is hidden or because the upstream sent an empty one, and the last one ends', async () => {
  const key = gateway.workspaceKey;
  await gateway.post('/v1/mcp-integrations/many/sync', {}, { key });
  const hidden = Array.from({ length: 200 }, (_, n) => `tool_${String(n + 100).padStart(3, '0')}`);
  const capabilities = hidden.map((name) => ({ name, type: 'tool', enabled: false }));
  expect((await gateway.put('/v1/mcp-integrations/many/capabilities', { capabilities }, { key })).status).toBe(200);
  const client = await sessionClient(`${gateway.url}/many/mcp`, { 'x-gw-api-key': key });
  const sizes: number[] = [];
  const names = new Set<string>();
  for (let cursor: string | undefined; sizes.length < 10; ) {
    const { tools, nextCursor } = await client.listTools(cursor === undefined ? {} : { cursor });
    sizes.push(tools.length);
    for (const { name } of tools) names.add(name);
    cursor = nextCursor;
    if (cursor === undefined) break;
  }
  expect(sizes).toEqual([500, 200]);
  expect(names.size).toBe(700);
  expect(hidden.filter((name) => names.has(name))).toEqual([]);
  await expect(client.callTool({ name: 'tool_100', arguments: {} })).rejects.toThrow('Unknown tool');
  expect(textOf(await client.callTool({ name: 'tool_000', arguments: {} }))).toBe('tool_000');
  await expect(client.listTools({ cursor: 'nonsense' })).rejects.toThrow('-32602');
  await client.close();
});
