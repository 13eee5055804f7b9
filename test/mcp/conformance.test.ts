/** The protocol's own conformance suite against a server that passes it, directly and through the gateway. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { startGateway, type TestGateway } from '../harness.ts';
import { conformanceInstalled, runConformance, suites } from '../servers/mcp-conformance.ts';
import { saveIntegration, startUpstream, trustLoopback, type UpstreamServer } from './upstream.ts';

const patience = 120_000;

describe.skipIf(!conformanceInstalled)('conformance of the Model Context Protocol', () => {
  let upstream: UpstreamServer;
  let gateway: TestGateway;
  let front: ReturnType<typeof Bun.serve>;

  beforeAll(async () => {
    upstream = await startUpstream('conformance/server.ts');
    // The suite cannot send a credential, so a plain forwarder adds it.
    front = Bun.serve({
      port: 0,
      hostname: '127.0.0.1',
      idleTimeout: 0,
      async fetch(request) {
        const { pathname, search } = new URL(request.url);
        const headers = new Headers(request.headers);
        headers.delete('host');
        headers.set('x-gw-api-key', gateway.workspaceKey);
        const {
          status,
          headers: answered,
          body,
        } = await fetch(`${gateway.url}${pathname}${search}`, {
          method: request.method,
          headers,
          body: request.body,
          signal: request.signal,
        });
        return new Response(body, { status, headers: answered });
      },
    });
    const origins = ['127.0.0.1', 'localhost'].map((host) => `http://${host}:${front.port}`).join(',');
    gateway = await startGateway({ ...trustLoopback, MCP_ALLOWED_ORIGINS: origins });
    await saveIntegration(gateway, { slug: 'conformance', url: upstream.url });
  });

  afterAll(async () => {
    await front?.stop(true);
    await gateway?.stop();
    upstream?.stop();
  });

  test.each([
    ['the session era', suites.session, ['--suite', 'all']],
    ['revision 2025-11-25', suites.both, ['--requirements', '2025-11-25']],
    ['revision 2026-07-28', suites.both, ['--requirements', '2026-07-28']],
  ])(
    'nothing that passes directly fails through the gateway: %s',
    async (_, version, choice) => {
      const [direct, through] = await Promise.all(
        [upstream.url, `http://127.0.0.1:${front.port}/conformance/mcp`].map((url) =>
          runConformance(version, ['server', '--url', url, ...choice]),
        ),
      );
      expect(direct?.passed.size).toBeGreaterThan(30);
      expect(through?.scenarios).toEqual(direct?.scenarios);
      const lost = [...(through?.failed ?? [])].filter(([check]) => !direct?.failed.has(check));
      expect(lost).toEqual([]);
      const missing = [...(direct?.passed ?? [])].filter(
        (check) => !through?.passed.has(check) && !through?.noted.has(check),
      );
      expect(missing).toEqual([]);
    },
    patience,
  );
});
