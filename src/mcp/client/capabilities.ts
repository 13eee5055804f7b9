/** What a client is told of an upstream when it opens a session. */
import { isFields, type JsonRpcFields } from '../protocol/json-rpc.ts';
import type { ClientFacts, ServerFacts } from '../upstream/link.ts';

/** What the upstream can do and we hand on. */
const proxied = ['tools', 'prompts', 'resources', 'logging', 'completions', 'tasks', 'experimental', 'extensions'];

export const proxiedCapabilities = (capabilities: JsonRpcFields): JsonRpcFields =>
  Object.fromEntries(proxied.flatMap((name) => (capabilities[name] === undefined ? [] : [[name, capabilities[name]]])));

export const initializeResult = (
  version: string,
  { capabilities, serverInfo, instructions }: Omit<ServerFacts, 'protocolVersion'>,
): JsonRpcFields => ({
  protocolVersion: version,
  capabilities: proxiedCapabilities(capabilities),
  serverInfo: { name: 'unknown', version: '0', ...serverInfo },
  ...(instructions !== null && { instructions }),
});

/** Who a client says that it is. */
export const clientOf = (params: JsonRpcFields): ClientFacts => ({
  info: isFields(params.clientInfo) ? params.clientInfo : { name: 'unknown', version: '0' },
  capabilities: isFields(params.capabilities) ? params.capabilities : {},
});

export const paramHeaders = (headers: Readonly<Record<string, string>>): Record<string, string> =>
  Object.fromEntries(Object.entries(headers).filter(([name]) => name.startsWith('mcp-param-')));
