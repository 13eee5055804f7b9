/** The protocol's own scenarios for the extension for tasks, against a server that passes them, directly and through the gateway. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { startGateway, type TestGateway } from '../harness.ts';
import { conformanceInstalled, runConformance, suites } from '../servers/mcp-conformance.ts';
import { serveFront } from './front.ts';
import { saveIntegration, startUpstream, trustLoopback, type UpstreamServer } from './upstream.ts';

const patience = 60_000;

describe.skipIf(!conformanceInstalled)('conformance of tasks', () => {
  let upstream: UpstreamServer;
  let gateway: TestGateway;
  let front: ReturnType<typeof Bun.serve>;

  beforeAll(async () => {
    upstream = await startUpstream('task-server.ts');
    gateway = await startGateway(trustLoopback);
    await saveIntegration(gateway, { slug: 'tasks', url: upstream.url });
    front = serveFront(() => ({ url: gateway.url, key: gateway.workspaceKey }));
  });

  afterAll(async () => {
    await front?.stop(true);
    await gateway?.stopWithoutFaults();
    upstream?.stop();
  });

  test.each([
    'tasks-lifecycle',
    'tasks-capability-negotiation',
    'tasks-wire-fields',
    'tasks-request-state-removal',
    'tasks-mrtr-input',
    'tasks-request-headers',
    'tasks-dispatch-and-envelope',
    'tasks-required-task-error',
    'tasks-mrtr-composition',
  ])(
    '%s',
    async (scenario) => {
      const [direct, through] = await Promise.all(
        [upstream.url, `http://127.0.0.1:${front.port}/tasks/mcp`].map((url) =>
          runConformance(suites.both, ['server', '--url', url, '--scenario', scenario]),
        ),
      );
      expect([...(direct?.failed ?? [])]).toEqual([]);
      expect([...(through?.failed ?? [])]).toEqual([]);
      expect(direct?.passed.size).toBeGreaterThan(0);
      expect([...(through?.passed ?? [])].sort()).toEqual([...(direct?.passed ?? [])].sort());
    },
    patience,
  );
});
