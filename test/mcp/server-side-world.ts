/** A gateway with an MCP server and a simulated model, for tests of tools that the gateway executes inside a model request. */
import { type Json, startGateway, type TestGateway } from '../harness.ts';
import { type SimulatedModel, startModel } from './model.ts';
import { saveIntegration, startUpstream, trustLoopback } from './upstream.ts';

export const chatBody = { model: 'gpt-4o', messages: [{ role: 'user', content: 'hi' }] };
export const mcpTool = { type: 'mcp', server_label: '@gw-mcp/notes' };

/** The events of a stream that bear data. */
export const eventsIn = (text: string): Json[] =>
  text
    .split('\n\n')
    .filter((block) => block.includes('data: {'))
    .map((block) => JSON.parse(block.slice(block.indexOf('data: ') + 6)));

export interface ServerSideWorld {
  gateway: TestGateway;
  model: SimulatedModel;
  /** Asks with the header that lets the gateway execute tools. */
  ask(
    path: string,
    body: object,
    headers?: Record<string, string>,
  ): Promise<{ status: number; text: string; body: Json }>;
  /** Lets the model forget its script and what it was asked. */
  forget(): void;
  stop(): Promise<void>;
}

export async function startServerSide(): Promise<ServerSideWorld> {
  const upstream = await startUpstream('session-server.ts');
  const model = startModel();
  const gateway = await startGateway({ ...trustLoopback, MCP_SERVER_SIDE_MAX_ITERATIONS: '3' });
  await saveIntegration(gateway, {
    slug: 'notes',
    url: upstream.url,
    configurations: { require_approval: ['headers'] },
  });
  for (const [slug, ai_provider_id] of [
    ['models', 'openai'],
    ['claude', 'anthropic'],
  ]) {
    const { status, body } = await gateway.post(
      '/v1/integrations',
      { name: slug, slug, ai_provider_id, key: 'sk-test', configurations: { custom_host: model.url } },
      { key: gateway.workspaceKey },
    );
    if (status !== 200) throw new Error(JSON.stringify(body));
  }
  return {
    gateway,
    model,
    async ask(path, body, headers = {}) {
      const response = await fetch(`${gateway.url}/v1${path}`, {
        method: 'POST',
        headers: {
          'x-gw-api-key': gateway.workspaceKey,
          'x-gw-provider': path === '/messages' ? '@claude' : '@models',
          'x-gw-beta': 'server-side-mcp-2026-06-01',
          'content-type': 'application/json',
          ...headers,
        },
        body: JSON.stringify(body),
      });
      const text = await response.text();
      return { status: response.status, text, body: (text.startsWith('{') ? JSON.parse(text) : null) as Json };
    },
    forget() {
      model.asked.length = 0;
      model.script = [];
      model.words = [];
      model.hold = null;
    },
    async stop() {
      await gateway.stop();
      upstream.stop();
      model.stop();
    },
  };
}
