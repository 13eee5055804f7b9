/** Clients as people have them: the MCP Inspector's command line, and an older version of the official SDK. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { existsSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { startGateway, type TestGateway } from '../harness.ts';
import { textOf } from './clients.ts';
import { saveIntegration, startUpstream, trustLoopback, type UpstreamServer } from './upstream.ts';

const folder = join(homedir(), '.cache', 'gw-mcp-clients', 'node_modules');
const inspector = join(folder, '@modelcontextprotocol', 'inspector', 'clients', 'launcher', 'build', 'index.js');
const oldSdk = join(folder, 'sdk-1.11.5', 'dist', 'esm', 'client');
const installed = existsSync(inspector) && existsSync(oldSdk);

describe.skipIf(!installed)('other MCP clients', () => {
  let gateway: TestGateway;
  let upstreams: UpstreamServer[];

  beforeAll(async () => {
    upstreams = await Promise.all([startUpstream('session-server.ts'), startUpstream('stateless-server.ts')]);
    gateway = await startGateway(trustLoopback);
    for (const [index, slug] of ['old', 'modern'].entries()) {
      await saveIntegration(gateway, { slug, url: upstreams[index]?.url ?? '' });
    }
  });

  afterAll(async () => {
    await gateway?.stop();
    for (const upstream of upstreams ?? []) upstream.stop();
  });

  const inspect = async (slug: string, ...args: string[]) => {
    const header = `x-gw-api-key: ${gateway.workspaceKey}`;
    const command = [inspector, '--cli', `${gateway.url}/${slug}/mcp`, '--transport', 'http', '--header', header];
    const run = Bun.spawn([process.execPath, ...command, ...args], { stdout: 'pipe', stderr: 'pipe' });
    const [out, error] = await Promise.all([new Response(run.stdout).text(), new Response(run.stderr).text()]);
    if ((await run.exited) !== 0) throw new Error(`The inspector failed: ${error.slice(0, 2_000)}`);
    return JSON.parse(out);
  };

  test.each(['old', 'modern'])('the Inspector lists and calls tools of a server: %s', async (slug) => {
    const { tools } = await inspect(slug, '--method', 'tools/list');
    expect(tools.map(({ name }: { name: string }) => name)).toContain('echo');
    const called = await inspect(slug, '--method', 'tools/call', '--tool-name', 'echo', '--tool-arg', 'text=inspected');
    expect(textOf(called)).toBe('inspected');
  });

  test.each(['old', 'modern'])('an SDK of the first half of 2025 uses a server: %s', async (slug) => {
    const { Client }: typeof import('@modelcontextprotocol/sdk/client/index.js') = await import(`${oldSdk}/index.js`);
    const { StreamableHTTPClientTransport }: typeof import('@modelcontextprotocol/sdk/client/streamableHttp.js') =
      await import(`${oldSdk}/streamableHttp.js`);
    const client = new Client({ name: 'old-client', version: '1.0.0' });
    const requestInit = { headers: { 'x-gw-api-key': gateway.workspaceKey } };
    const transport = new StreamableHTTPClientTransport(new URL(`${gateway.url}/${slug}/mcp`), { requestInit });
    // The two disagree about what is optional, and only here.
    await client.connect(transport as Parameters<typeof client.connect>[0]);
    expect((await client.listTools()).tools.map(({ name }) => name)).toContain('echo');
    expect(textOf(await client.callTool({ name: 'echo', arguments: { text: 'old' } }))).toBe('old');
    await transport.terminateSession();
    await client.close();
  });
});
