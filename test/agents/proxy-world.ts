/** A gateway with one agent behind it, and calls of that agent. */
import { randomUUID } from 'node:crypto';
import type { Scope } from '../../src/identity/scopes.ts';
import { startGateway } from '../harness.ts';
import { addKey, home } from '../people.ts';
import { saveAgent, startAgent, trustLoopback } from './upstream.ts';

export interface Asked {
  key?: string;
  slug?: string;
  headers?: Record<string, string>;
}

export const said = (text: string, more: object = {}) => ({
  message: { kind: 'message', messageId: randomUUID(), role: 'user', parts: [{ kind: 'text', text }], ...more },
});

export async function startProxyWorld() {
  const agent = await startAgent('sdk-agent.ts');
  const gateway = await startGateway(trustLoopback);
  const place = await home(gateway);
  await saveAgent(gateway, { slug: 'sample', url: agent.url });

  const call = (path: string, init: RequestInit & Asked = {}) => {
    const { key = gateway.workspaceKey, slug = 'sample', headers, ...rest } = init;
    const own = { 'x-gw-api-key': key, 'content-type': 'application/json', ...headers };
    return fetch(`${gateway.url}/v1/agent/${slug}${path}`, { ...rest, headers: own });
  };

  const rpc = async (method: string, params: object, asked: Asked = {}) => {
    const body = JSON.stringify({ jsonrpc: '2.0', id: 7, method, params });
    const response = await call('', { method: 'POST', body, ...asked });
    return { status: response.status, body: await response.json() };
  };

  const newTask = async (asked: Asked = {}): Promise<{ id: string; contextId: string }> =>
    (await rpc('message/send', said('task one'), asked)).body.result;

  const seen = async () =>
    (await (await fetch(`${agent.url}/seen`)).json()) as { headers: Record<string, string>; left: number };

  const otherKey = async (scope: Scope = 'agents.invoke', userId: string | null = null): Promise<string> => {
    const { organisationId, workspaceId } = place;
    const type = userId === null ? 'workspace-service' : 'workspace-user';
    return (await addKey(gateway, { organisationId, workspaceId, userId, type, scopes: [scope] })).secret;
  };

  return {
    gateway,
    agent,
    place,
    call,
    rpc,
    newTask,
    seen,
    otherKey,
    async stop() {
      await gateway.stopWithoutFaults();
      agent.stop();
    },
  };
}

export type ProxyWorld = Awaited<ReturnType<typeof startProxyWorld>>;
