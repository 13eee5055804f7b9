/** A gateway whose MCP servers refuse in every way, and plain HTTP requests to them. */
import { expect } from 'bun:test';
import { type Json, startGateway, type TestGateway } from '../harness.ts';
import { type Home, home } from '../people.ts';
import { saveIntegration, startUpstream, trustLoopback, type UpstreamServer } from './upstream.ts';

export interface Asked {
  slug?: string;
  key?: string | null;
  headers?: Record<string, string>;
  method?: string;
}

interface Answered {
  status: number;
  headers: Headers;
  body: Json;
}

export interface ErrorsWorld {
  gateway: TestGateway;
  place: Home;
  upstream: UpstreamServer;
  hostile: UpstreamServer;
  ask(body: unknown, asked?: Asked): Promise<Answered>;
  /** The headers of a session that was begun. */
  session(asked?: Asked, capabilities?: object): Promise<Record<string, string>>;
  stop(): Promise<void>;
}

export const initialize = (capabilities: object = {}) => ({
  jsonrpc: '2.0',
  id: 1,
  method: 'initialize',
  params: { protocolVersion: '2025-11-25', capabilities, clientInfo: { name: 'test', version: '1' } },
});

export const toolCall = (name: string) => ({
  jsonrpc: '2.0',
  id: 9,
  method: 'tools/call',
  params: { name, arguments: {} },
});

export async function startErrorsWorld(): Promise<ErrorsWorld> {
  const upstream = await startUpstream('session-server.ts');
  const hostile = await startUpstream('hostile-server.ts');
  const gateway = await startGateway({ ...trustLoopback, MCP_REQUEST_TIMEOUT_MS: '500' });
  const place = await home(gateway);
  await saveIntegration(gateway, { slug: 'notes', url: upstream.url });
  const circuit_breaker = { enabled: false };
  await saveIntegration(gateway, { slug: 'hostile', url: hostile.url, configurations: { circuit_breaker } });

  const ask = async (
    body: unknown,
    { slug = 'notes', key, headers = {}, method = 'POST' }: Asked = {},
  ): Promise<Answered> => {
    const response = await fetch(`${gateway.url}/${slug}/mcp`, {
      method,
      headers: {
        ...(key !== null && { 'x-gw-api-key': key ?? gateway.workspaceKey }),
        'content-type': 'application/json',
        accept: 'application/json, text/event-stream',
        ...headers,
      },
      ...(method === 'POST' && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    });
    const text = await response.text();
    const data = text.startsWith('{') || text === '' ? text : (text.split('data: ').at(-1) ?? '');
    return {
      status: response.status,
      headers: response.headers,
      body: (data === '' ? null : JSON.parse(data)) as Json,
    };
  };

  const session = async (asked: Asked = {}, capabilities: object = {}): Promise<Record<string, string>> => {
    const { headers, body } = await ask(initialize(capabilities), asked);
    expect(body.result).toBeDefined();
    return { ...asked.headers, 'mcp-session-id': headers.get('mcp-session-id') ?? '' };
  };

  return {
    gateway,
    place,
    upstream,
    hostile,
    ask,
    session,
    async stop() {
      await gateway.stopWithoutFaults();
      for (const server of [upstream, hostile]) server.stop();
    },
  };
}
