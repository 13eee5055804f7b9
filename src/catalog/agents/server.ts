/** An agent server as the data plane uses it: where the agent is, how it is called, and who may use what of it. */
import type { AccessRules } from '../access-rules.ts';
import type { McpUpstream } from '../mcp/server.ts';
import type { AgentInterface } from './card.ts';
import type { AgentSettings } from './settings.ts';

/** What must be known to speak to an agent. Credentials, breaker and address rules are those of any upstream. */
export interface AgentUpstream extends McpUpstream {
  settings: AgentSettings;
}

export interface AgentServer extends AgentUpstream, AccessRules {
  workspaceId: string;
  name: string;
  integrationSlug: string;
  /** Digest of the card as it was last fetched; null: it never was. */
  cardDigest: string | null;
  /** As the card last told; null: it was never fetched. */
  interfaces: readonly AgentInterface[] | null;
  /** Ids of skills that are switched off, by the integration or here. */
  skillsOff: ReadonlySet<string>;
}

export interface AgentCatalog {
  /** By the id or the slug of the server, else by the slug of its integration. */
  find(reference: string): AgentServer | null;
}
