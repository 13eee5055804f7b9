/** An MCP server as the data plane uses it: where it is, how it is called, and what of it may be seen by whom. */

import type { SecretUse } from '../../secrets/mapping.ts';
import type { AccessRules } from '../access-rules.ts';
import type { CompiledApi } from './openapi/compile.ts';
import type { McpSettings } from './settings.ts';
import type { CapabilityType, McpMetadata } from './types.ts';

/** `openapi`: an HTTP API whose operations are the tools. */
export type McpTransport = 'http' | 'sse' | 'openapi';
export type McpAuthType = 'none' | 'headers' | 'oauth_auto' | 'oauth_client_credentials';

/** What must be known to speak to an upstream. */
export interface McpUpstream {
  /** The server's id, or the integration's own where that is probed. */
  id: string;
  integrationId: string;
  /** As logs and errors name it. */
  slug: string;
  organisationId: string;
  /** Null for an integration of the organisation that is probed itself. */
  workspaceId: string | null;
  url: string;
  transport: McpTransport;
  authType: McpAuthType;
  settings: McpSettings;
  /** The operations, where it is an API and no MCP server. */
  api?: CompiledApi | null;
  /** Settings whose values live in secret managers; absent: none. */
  secrets?: readonly SecretUse[];
  /** Changes with everything that an open connection depends on. */
  revision: string;
}

export interface McpServer extends McpUpstream, AccessRules {
  workspaceId: string;
  name: string;
  description: string | null;
  integrationSlug: string;
  capabilities: CapabilityRules;
  /** Ids or slugs of the guardrails that its tool calls pass: its own, else those of its integration. */
  guardrails: { input: readonly string[]; output: readonly string[] };
  metadata: McpMetadata;
  createdAt: string;
  updatedAt: string;
}

/** Which capabilities may be listed and used. */
export interface CapabilityRules {
  /** True unless it is switched off, or not switched on where new ones arrive switched off. */
  allows(type: CapabilityType, key: string): boolean;
  /** Switched off by name. */
  isOff(type: CapabilityType, key: string): boolean;
  /** The URI patterns that are known, and whether they may be used. */
  readonly templates: readonly { matches(uri: string): boolean; enabled: boolean }[];
  /** The digest of a tool's approved definition; null where any definition counts. */
  pinOf(tool: string): string | null;
}

export interface McpCatalog {
  readonly servers: readonly McpServer[];
  /** By the slug of the server, else by that of its integration. */
  bySlug(slug: string): McpServer | null;
}
