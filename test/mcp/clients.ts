/** The protocol's official clients, connected to the gateway. */
import { Client as SessionClient } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import type { ClientCapabilities } from '@modelcontextprotocol/sdk/types.js';

/** A client of the session era, with whatever it can do besides asking. */
export async function sessionClient(
  url: string,
  headers: Record<string, string>,
  {
    capabilities = {},
    prepare = () => undefined,
  }: { capabilities?: ClientCapabilities; prepare?: (client: SessionClient) => void } = {},
): Promise<SessionClient> {
  const client = new SessionClient({ name: 'test-client', version: '1.0.0' }, { capabilities });
  prepare(client);
  const transport = new StreamableHTTPClientTransport(new URL(url), { requestInit: { headers } });
  // The two disagree about what is optional, and only here.
  await client.connect(transport as Parameters<SessionClient['connect']>[0]);
  return client;
}

export const textOf = (result: unknown): string => {
  const { content } = result as { content: { type: string; text?: string }[] };
  return content.map(({ text = '' }) => text).join('\n');
};
