/** Tools of MCP servers of ours reach this point only where the client did not ask the gateway to run them: a provider could do nothing with them. */
import { isObject } from '../../providers/json.ts';
import type { JsonObject } from '../../providers/provider.ts';
import { GatewayError } from '../errors.ts';

const marker = '@gw-mcp/';

export function refuseServerTools({ tools, mcp_servers: servers }: Readonly<JsonObject>): void {
  if (tools !== undefined && [tools].flat().some(namesOurs)) throw notAsked('tools');
  if (Array.isArray(servers) && servers.some((server) => isObject(server) && isOurs(server.name))) {
    throw notAsked('mcp_servers');
  }
}

function namesOurs(tool: unknown): boolean {
  if (!isObject(tool)) return false;
  const { server_label, mcp_server_name, function: called } = tool;
  return isOurs(server_label) || isOurs(mcp_server_name) || (isObject(called) && isOurs(called.name));
}

const isOurs = (name: unknown): boolean => typeof name === 'string' && name.startsWith(marker);

const notAsked = (field: string): GatewayError =>
  new GatewayError('server_tools_not_enabled', `${field} names a server that the gateway itself would have to call`, {
    field,
  });
