/** Starts agents as processes of their own, and saves them as integrations. */
import { join } from 'node:path';
import type { TestGateway } from '../harness.ts';
import { runServer, type UpstreamServer } from '../mcp/upstream.ts';

export { trustLoopback, type UpstreamServer } from '../mcp/upstream.ts';

/** Runs a file of `test/agents/servers/` until it has said its port. */
export async function startAgent(file: string, args: readonly string[] = []): Promise<UpstreamServer> {
  const server = await runServer(join(import.meta.dir, 'servers', file), args);
  return { ...server, url: `http://127.0.0.1:${server.port}` };
}

interface NewAgent {
  url: string;
  slug: string;
  name?: string;
  auth_type?: string;
  configurations?: Record<string, unknown>;
}

/** An integration of the gateway's first workspace, with the server that comes with it; its card is fetched. */
export async function saveAgent(gateway: TestGateway, agent: NewAgent): Promise<{ id: string; slug: string }> {
  const own = { key: gateway.workspaceKey };
  const { status, body } = await gateway.post('/v1/agent-integrations', { name: agent.slug, ...agent }, own);
  if (status !== 200) throw new Error(`The integration was refused: ${JSON.stringify(body)}`);
  await gateway.post(`/v1/agent-integrations/${body.id}/sync`, undefined, own);
  return body;
}
