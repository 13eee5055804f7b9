/** The protocol's own conformance suite against a server that passes it, directly and through the gateway. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { join } from 'node:path';
import { startGateway, type TestGateway } from '../harness.ts';
import { home } from '../people.ts';
import { freePort } from '../servers/free-port.ts';
import { conformanceInstalled, runConformance, suites } from '../servers/mcp-conformance.ts';
import { serveDriver } from './conformance-driver.ts';
import { serveFront } from './front.ts';
import { consentAt, register } from './oauth-world.ts';
import { saveIntegration, startUpstream, trustLoopback, type UpstreamServer } from './upstream.ts';

const patience = 120_000;

describe.skipIf(!conformanceInstalled)('conformance of the Model Context Protocol', () => {
  let upstream: UpstreamServer;
  let gateway: TestGateway;
  let front: ReturnType<typeof Bun.serve>;

  beforeAll(async () => {
    upstream = await startUpstream('conformance/server.ts');
    // The suite cannot send a credential.
    front = serveFront(() => ({ url: gateway.url, key: gateway.workspaceKey }));
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

  /** What the gateway does not offer, or cannot show there. */
  const otherwise = [
    // It sends the address of a document of its own, and only over https.
    'auth/basic-cimd: cimd-client-id-used',
    // Defaults of a form are the business of whoever shows it.
    /^elicitation-sep1034-client-defaults: /,
    // Extensions for other ways to sign in.
    /^auth\/(dpop|dpop-nonce|wif-jwt-bearer|enterprise-managed-authorization|client-credentials-jwt): /,
  ];

  test.each(['2025-11-25', '2026-07-28'])(
    'the gateway is a client as the protocol wants it, also when it signs in: revision %s',
    async (revision) => {
      const { owner, workspaceId } = await home(gateway);
      const user = { name: 'own', workspace_id: workspaceId, user_id: owner.userId, scopes: ['mcp.invoke'] };
      const { body } = await gateway.post('/v1/api-keys/workspace/user', user, { key: owner.session });
      const driver = serveDriver(gateway, { key: body.key, session: owner.session });
      const command = `sh ${join(import.meta.dir, 'conformance-client.sh')}`;
      const { passed, failed } = await runConformance(
        suites.both,
        ['client', '--command', command, '--requirements', revision],
        { env: { DRIVER_URL: `http://127.0.0.1:${driver.port}/` } },
      );
      await driver.stop(true);
      expect(passed.size).toBeGreaterThan(100);
      const unexpected = [...failed].filter(
        ([check]) => !otherwise.some((known) => (typeof known === 'string' ? known === check : known.test(check))),
      );
      expect(unexpected).toEqual([]);
    },
    patience,
  );

  test(
    'the gateway is an authorization server as the protocol wants it',
    async () => {
      const { owner } = await home(gateway);
      const port = await freePort();
      const { body } = await register(gateway, { redirect_uris: [`http://127.0.0.1:${port}/callback`] });
      let said = '';
      let asked = false;
      const onOutput = (text: string) => {
        said += text;
        const address = /^(http\S+\/oauth\/authorize\?\S+)$/m.exec(said)?.[1];
        if (asked || address === undefined) return;
        asked = true;
        // The page of the suite answers whatever it thinks of what it was sent.
        consentAt(gateway, address, owner).then((sent) => fetch(sent));
      };
      const client = ['--client-id', body.client_id, '--port', String(port)];
      const found = await runConformance(suites.both, ['authorization', '--url', gateway.url, ...client], { onOutput });
      expect([...found.failed]).toEqual([]);
      expect(found.scenarios.length).toBeGreaterThan(1);
      expect(found.passed.size).toBeGreaterThan(1);
    },
    patience,
  );
});
