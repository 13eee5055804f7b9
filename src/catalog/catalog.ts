/** What the gateway may use in a workspace, in memory: its plans, its saved providers, its settings. The data plane reads nothing else. */
import type { OrganisationSettings } from '../identity/settings.ts';
import type { Limit } from '../limits/limit.ts';
import type { PolicyIndex } from '../limits/policy-index.ts';
import type { TargetFields } from '../providers/provider.ts';
import type { SecretUse } from '../secrets/mapping.ts';
import type { AgentCatalog } from './agents/server.ts';
import type { McpCatalog } from './mcp/server.ts';
import type { Plan } from './plan.ts';
import type { PromptShelf } from './saved-prompts.ts';
import type { WorkspaceGuardrails } from './workspace-guardrails.ts';

/** A saved provider with everything a call needs, its credential opened. */
export interface SavedProvider {
  id: string;
  slug: string;
  integrationId: string;
  integrationSlug: string;
  /** The id of the provider it speaks to: `openai`. */
  provider: string;
  credential: string | null;
  /** Fields whose values live in secret managers; absent: none. */
  secrets?: readonly SecretUse[];
  fields: TargetFields;
  customHost: string | null;
  customHeaders: Readonly<Record<string, string>>;
  status: 'active' | 'exhausted' | 'expired';
  /** The moment from which it counts as expired, ISO; null: never. */
  expiresAt: string | null;
  /** Whether the integration is enabled for the workspace. */
  enabled: boolean;
  models: ModelRules;
  pricingAdjustments: PricingAdjustments | null;
  /** Of the provider, then of its integration in this workspace; absent: none. */
  limits?: readonly Limit[];
}

export interface ModelRules {
  /** True: every model is allowed, except those listed as disabled. */
  allowAll: boolean;
  /** What is set for single models, by slug. */
  bySlug: ReadonlyMap<string, ModelRule>;
}

export interface ModelRule {
  enabled: boolean;
  /** The catalogue model whose format and price a custom or fine-tuned one has. */
  baseModel: string | null;
  customHost: string | null;
  customHeaders: Readonly<Record<string, string>>;
  /** Prices in US cents per unit, by the price table's keys; null: the catalogue's. */
  prices: Readonly<Record<string, number>> | null;
}

/** Factors on prices, by price key; `default` for the rest. */
export type PricingAdjustments = Readonly<Record<string, number>>;

export interface WorkspaceCatalog {
  organisationId: string;
  organisationName: string;
  workspaceId: string;
  workspaceSlug: string;
  /** The settings in force here. */
  settings: OrganisationSettings;
  /** The workspace's default metadata. */
  metadata: Readonly<Record<string, string>>;
  /** A saved config's plan by the config's id or slug. */
  plan(reference: string): Plan | null;
  provider(slug: string): SavedProvider | null;
  readonly providers: readonly SavedProvider[];
  readonly guardrails: WorkspaceGuardrails;
  /** Of the workspace itself; absent: none. */
  readonly limits?: readonly Limit[];
  /** Absent: none. */
  readonly policies?: PolicyIndex;
  readonly prompts: PromptShelf;
  /** The MCP servers of the workspace. */
  readonly mcp: McpCatalog;
  /** The agent servers of the workspace. */
  readonly agents: AgentCatalog;
}

export interface Catalog {
  /** The workspace's catalog: at once when it is in memory, else when it is loaded; null when the workspace does not exist. */
  workspace(workspaceId: string): WorkspaceCatalog | null | Promise<WorkspaceCatalog | null>;
}
