/** Starts MCP servers as processes of their own, and saves them as integrations. */
import { spawn } from 'node:child_process';
import { join } from 'node:path';
import type { TestGateway } from '../harness.ts';

export interface UpstreamServer {
  url: string;
  port: number;
  stop(): void;
}

/** Runs a file of `test/mcp/servers/` until it has said its port. */
export async function startUpstream(file: string, args: readonly string[] = []): Promise<UpstreamServer> {
  const server = await runServer(join(import.meta.dir, 'servers', file), args);
  return { ...server, url: `http://127.0.0.1:${server.port}/mcp` };
}

export async function runServer(path: string, args: readonly string[]): Promise<Omit<UpstreamServer, 'url'>> {
  const child = spawn(process.execPath, [path, ...args], {
    stdio: ['ignore', 'pipe', 'inherit'],
    env: { PATH: process.env.PATH ?? '', HOME: process.env.HOME ?? '' },
  });
  const kill = () => void child.kill('SIGKILL');
  process.on('exit', kill);
  const port = await new Promise<number>((resolve, reject) => {
    let said = '';
    child.stdout.on('data', (chunk) => {
      said += chunk;
      const [first, rest] = said.split('\n', 2);
      if (first !== undefined && rest !== undefined && first.startsWith('{')) resolve(JSON.parse(first).port);
    });
    child.on('exit', (code) => reject(new Error(`${path} ended with ${code}`)));
  });
  return {
    port,
    stop() {
      process.off('exit', kill);
      kill();
    },
  };
}

/** Loopback may be called in these tests, as on a developer's machine. */
export const trustLoopback = { TRUSTED_CUSTOM_HOSTS: '127.0.0.1,localhost' };

interface NewIntegration {
  url: string;
  slug: string;
  name?: string;
  auth_type?: string;
  transport?: string;
  configurations?: Record<string, unknown>;
  secret_mappings?: readonly object[];
}

/** An integration of the gateway's first workspace, with the server that comes with it. */
export async function saveIntegration(
  gateway: TestGateway,
  integration: NewIntegration,
): Promise<{ id: string; slug: string }> {
  const { status, body } = await gateway.post(
    '/v1/mcp-integrations',
    { name: integration.slug, auth_type: 'none', transport: 'http', ...integration },
    { key: gateway.workspaceKey },
  );
  if (status !== 200) throw new Error(`The integration was refused: ${JSON.stringify(body)}`);
  return body;
}
