/** Whether a caller may see and use one thing of a server. */
import { mayUse } from '../catalog/access-rules.ts';
import { digestOf } from '../catalog/digest.ts';
import type { McpServer } from '../catalog/mcp/server.ts';
import { type CapabilityDefinition, type CapabilityType, capabilityKey } from '../catalog/mcp/types.ts';
import type { CallContext } from './call-context.ts';
import { meets } from './claims.ts';
import { McpError, unknownPrompt, unknownResource, unknownTool } from './errors.ts';
import { needsWriteScope } from './identify.ts';
import type { Principal } from './principal.ts';
import { isFields, type JsonRpcFields, type RpcRequest } from './protocol/json-rpc.ts';

/** The server that a slug names, if the caller may use it at all. */
export function reachServer(principal: Principal, slug: string): McpServer {
  const server = principal.workspace.mcp.bySlug(slug);
  if (!server) throw new McpError('server_not_found', `there is no MCP server ${slug} in this workspace`);
  if (!server.granted) throw new McpError('forbidden', `the MCP server ${slug} is not enabled for this workspace`);
  if (!mayUse(server, principal.userId)) throw new McpError('forbidden', `you may not use the MCP server ${slug}`);
  if (server.authType === 'oauth_auto' && principal.userId === null) {
    throw new McpError(
      'forbidden',
      `each person signs in at the MCP server ${slug} by themselves: use a key that belongs to a user, or sign in with OAuth`,
    );
  }
  return server;
}

type Context = Pick<CallContext, 'server' | 'principal' | 'userClaims' | 'asked'>;

/** Whether a tool may be listed and called by its name alone. */
export function mayUseTool({ server, principal, userClaims }: Context, name: string): boolean {
  if (!server.capabilities.allows('tool', name)) return false;
  const rule = server.settings.tool_authorization?.[name];
  return !rule || meets({ ...principal.claims, ...userClaims }, rule.required_claims);
}

/** A tool whose definition is not the approved one is hidden. */
export function isApproved({ capabilities }: McpServer, definition: CapabilityDefinition): boolean {
  const pin = capabilities.pinOf(String(definition.name));
  return pin === null || pin === digestOf(definition);
}

export const isReadOnly = (definition: CapabilityDefinition | null): boolean =>
  isFields(definition?.annotations) && definition.annotations.readOnlyHint === true;

export const isRepeatable = (definition: CapabilityDefinition | null): boolean =>
  isFields(definition?.annotations) &&
  (definition.annotations.readOnlyHint === true || definition.annotations.idempotentHint === true);

export function visible(context: Context, type: CapabilityType, definition: CapabilityDefinition): boolean {
  const key = capabilityKey(type, definition);
  if (key === null) return false;
  if (type !== 'tool') return context.server.capabilities.allows(type, key);
  return mayUseTool(context, key) && isApproved(context.server, definition);
}

export const readsOnly = ({ scopes }: Principal): boolean =>
  scopes !== null && !scopes.has('mcp') && !scopes.has('mcp:write');

/** Throws where the request names something that the caller may not use; `definitionOf` is asked only where it matters. */
export async function authorise(
  context: Context,
  { method, params }: RpcRequest,
  definitionOf: (tool: string) => Promise<CapabilityDefinition | null>,
): Promise<void> {
  const { capabilities } = context.server;
  if (method === 'tools/call') {
    await authoriseTool(context, textIn(params, 'name'), { changes: true }, definitionOf);
  } else if (method === 'prompts/get') {
    const name = textIn(params, 'name');
    if (!capabilities.allows('prompt', name)) throw unknownPrompt(name);
  } else if (method === 'resources/read' || method === 'resources/subscribe') {
    const uri = textIn(params, 'uri');
    if (!mayRead(context.server, uri)) throw unknownResource(uri);
  }
}

/** Throws where the caller may not use the tool; `changes`: what they ask of it is not for tokens that only read, unless the tool only reads. */
export async function authoriseTool(
  context: Context,
  name: string,
  { changes }: { changes: boolean },
  definitionOf: (tool: string) => Promise<CapabilityDefinition | null>,
): Promise<void> {
  if (!mayUseTool(context, name)) throw unknownTool(name);
  const needsWrite = changes && readsOnly(context.principal);
  if (context.server.capabilities.pinOf(name) === null && !needsWrite) return;
  const definition = await definitionOf(name);
  if (!definition || !isApproved(context.server, definition)) throw unknownTool(name);
  if (needsWrite && !isReadOnly(definition)) throw needsWriteScope(context.asked);
}

/** A URI is closed that is switched off, or that may come from a template which is. */
function mayRead({ capabilities }: McpServer, uri: string): boolean {
  if (capabilities.isOff('resource', uri)) return false;
  const matching = capabilities.templates.filter(({ matches }) => matches(uri));
  return matching.length > 0 ? matching.every(({ enabled }) => enabled) : capabilities.allows('resource', uri);
}

function textIn(params: JsonRpcFields, field: string): string {
  const value = params[field];
  if (typeof value === 'string' && value !== '') return value;
  throw new McpError('invalid_params', `params.${field} must be text`);
}
