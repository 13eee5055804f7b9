/** The servers behind the joined address, and what stands for all of them where a single one is named. */

import { mayUse } from '../../catalog/access-rules.ts';
import type { WorkspaceCatalog } from '../../catalog/catalog.ts';
import type { McpServer } from '../../catalog/mcp/server.ts';
import { version } from '../../version.ts';
import { type CallContext, upstreamIdentityOf } from '../call-context.ts';
import type { McpDeps } from '../deps.ts';
import type { Principal } from '../principal.ts';
import { filledUpstream } from '../upstream/filled.ts';
import type { ServerFacts } from '../upstream/link.ts';

export const joinedSlug = 'mcp';

const known = new WeakMap<WorkspaceCatalog, McpServer>();

/** Stands in sessions and logs for all servers of a workspace together; it is never called. */
export function joinedServer(workspace: WorkspaceCatalog, organisationId: string): McpServer {
  const made = known.get(workspace);
  if (made) return made;
  const server: McpServer = {
    id: `joined ${workspace.workspaceId}`,
    integrationId: '',
    slug: joinedSlug,
    organisationId,
    workspaceId: workspace.workspaceId,
    url: '',
    transport: 'http',
    authType: 'none',
    settings: {},
    revision: '',
    name: 'All MCP servers',
    description: null,
    integrationSlug: '',
    granted: true,
    defaultAccess: 'allow',
    users: new Map(),
    capabilities: { allows: () => true, isOff: () => false, templates: [], pinOf: () => null },
    guardrails: { input: [], output: [] },
    metadata: {},
    createdAt: '',
    updatedAt: '',
  };
  known.set(workspace, server);
  return server;
}

/** Those that the caller may use, in a fixed order. */
export const usableServers = ({ workspace, userId }: Principal): readonly McpServer[] =>
  workspace.mcp.servers.filter(
    (server) => server.granted && mayUse(server, userId) && !(server.authType === 'oauth_auto' && userId === null),
  );

/** The context of one server within a call of the joined address. */
export async function contextFor(deps: McpDeps, context: CallContext, named: McpServer): Promise<CallContext> {
  const server = await filledUpstream(deps.upstream.secrets, named);
  const { principal, asked } = context;
  return {
    ...context,
    server,
    identity: upstreamIdentityOf(server, principal, asked),
    userClaims: await deps.endUser(server, asked.headers),
  };
}

export const joinedFacts = (principal: Principal): Omit<ServerFacts, 'protocolVersion'> => ({
  capabilities: {
    tools: { listChanged: true },
    prompts: { listChanged: true },
    resources: { listChanged: true, subscribe: true },
    completions: {},
    logging: {},
  },
  serverInfo: { name: 'gw', title: 'gw', version },
  instructions: instructionsFor(usableServers(principal)),
});

const mostText = 8_192;

function instructionsFor(servers: readonly McpServer[]): string {
  const lines = servers.map(
    ({ slug, name, description }) => `- ${slug}: ${name}${description === null ? '' : `. ${description}`}`,
  );
  return `Tools and prompts of several servers; names begin with the server and two underscores.\n${lines.join('\n')}`.slice(
    0,
    mostText,
  );
}
