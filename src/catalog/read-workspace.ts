/** Reads everything that the gateway may use in a workspace, in a few queries. */
import { settingsInForce } from '../identity/settings.ts';
import { entityLimits } from '../limits/entity-limits.ts';
import { PolicyIndex } from '../limits/policy-index.ts';
import { policySource } from '../limits/policy-source.ts';
import type { Db } from '../store/database.ts';
import { decode } from '../store/json.ts';
import type { Vault } from '../store/vault.ts';
import { readAgentCatalog } from './agents/read.ts';
import type { WorkspaceCatalog } from './catalog.ts';
import { readMcpCatalog } from './mcp/read.ts';
import { readGuardrails } from './read-guardrails.ts';
import { readSources } from './read-secrets.ts';
import { type ConfigRow, savedPlans } from './saved-plans.ts';
import { readPrompts } from './saved-prompts.ts';
import { mappingsOf, type ProviderRow, savedProviders } from './saved-providers.ts';
import { workspaceGuardrails } from './workspace-guardrails.ts';

/** Null when the workspace does not exist. What cannot be used is left out and told to `warn`; the rest of the workspace goes on. */
export async function readWorkspace(
  db: Db,
  vault: Vault,
  workspaceId: string,
  now: Date,
  warn: (message: string) => void,
): Promise<WorkspaceCatalog | null> {
  const workspace = await db
    .selectFrom('workspaces as workspace')
    .innerJoin('organisations as organisation', 'organisation.id', 'workspace.organisation_id')
    .select([
      'workspace.slug',
      'workspace.settings',
      'workspace.defaults',
      'workspace.organisation_id',
      'workspace.rate_limits',
      'workspace.usage_limits',
      'organisation.name as organisation_name',
      'organisation.settings as organisation_settings',
      'organisation.workspace_overrides',
      'organisation.defaults as organisation_defaults',
    ])
    .where('workspace.id', '=', workspaceId)
    .where('workspace.status', '=', 'active')
    .where('organisation.status', '=', 'active')
    .executeTakeFirst();
  if (!workspace) return null;
  const [configs, providerRows, modelRows, guardrailRows, policies, mcp, agents, prompts] = await Promise.all([
    configsOf(db, workspaceId),
    providersOf(db, workspaceId),
    modelsOf(db, workspaceId),
    readGuardrails(db, workspace.organisation_id, workspaceId),
    policiesOf(db, workspaceId),
    readMcpCatalog(db, vault, workspaceId, warn),
    readAgentCatalog(db, vault, workspaceId, warn),
    readPrompts(db, vault, workspaceId, workspace.organisation_id),
  ]);
  const plans = savedPlans(configs, vault, warn);
  const place = { organisationId: workspace.organisation_id, workspaceId };
  const sources = await readSources(db, vault, place, [
    ...mappingsOf(providerRows),
    ...guardrailRows.plugins.flatMap(({ secret_mappings }) => decode(secret_mappings)),
  ]);
  const providers = savedProviders(providerRows, modelRows, vault, sources, now, warn);
  const bySlug = new Map(providers.map((provider) => [provider.slug, provider]));
  return {
    organisationId: workspace.organisation_id,
    organisationName: workspace.organisation_name,
    workspaceId,
    workspaceSlug: workspace.slug,
    settings: settingsInForce(
      { settings: decode(workspace.organisation_settings), overrides: decode(workspace.workspace_overrides) },
      decode(workspace.settings),
    ),
    metadata: decode(workspace.defaults).metadata,
    plan: plans,
    provider: (slug) => bySlug.get(slug) ?? null,
    prompts,
    providers,
    guardrails: workspaceGuardrails(
      guardrailRows,
      { workspace: decode(workspace.defaults), organisation: decode(workspace.organisation_defaults) },
      vault,
      sources,
      warn,
    ),
    limits: entityLimits(
      {
        organisationId: workspace.organisation_id,
        scope: 'workspace',
        entityId: workspaceId,
        name: workspace.slug,
      },
      decode(workspace.rate_limits),
      decode(workspace.usage_limits),
    ),
    policies: new PolicyIndex(policies.map(policySource)),
    mcp,
    agents,
  };
}

const configsOf = (db: Db, workspaceId: string): Promise<ConfigRow[]> =>
  db
    .selectFrom('configs as config')
    .innerJoin('config_versions as version', 'version.id', 'config.version_id')
    .select(['config.id', 'config.slug', 'config.version_id', 'version.config_sealed'])
    .where('config.workspace_id', '=', workspaceId)
    .where('config.status', '=', 'active')
    .execute();

const policiesOf = (db: Db, workspaceId: string) =>
  db
    .selectFrom('policies')
    .selectAll()
    .where('workspace_id', '=', workspaceId)
    .where('status', '=', 'active')
    .orderBy('created_at')
    .orderBy('id')
    .execute();

const providersOf = (db: Db, workspaceId: string): Promise<ProviderRow[]> =>
  db
    .selectFrom('providers as provider')
    .innerJoin('integrations as integration', 'integration.id', 'provider.integration_id')
    .leftJoin('integration_workspaces as grant', (join) =>
      join
        .onRef('grant.integration_id', '=', 'provider.integration_id')
        .onRef('grant.workspace_id', '=', 'provider.workspace_id'),
    )
    .select([
      'provider.id',
      'provider.organisation_id',
      'provider.workspace_id',
      'provider.rate_limits',
      'provider.usage_limits',
      'provider.slug',
      'provider.status',
      'provider.expires_at',
      'integration.id as integration_id',
      'integration.slug as integration_slug',
      'integration.workspace_id as integration_workspace_id',
      'integration.ai_provider_id',
      'integration.key_sealed',
      'integration.configurations_sealed',
      'integration.secret_mappings',
      'provider.secret_mappings as provider_secret_mappings',
      'integration.allow_all_models',
      'integration.pricing_adjustments',
      'grant.enabled as grant_enabled',
      'grant.status as grant_status',
      'grant.rate_limits as grant_rate_limits',
      'grant.usage_limits as grant_usage_limits',
    ])
    .where('provider.workspace_id', '=', workspaceId)
    .where('provider.status', 'in', ['active', 'exhausted', 'expired'])
    .where('integration.status', '=', 'active')
    .orderBy('provider.created_at')
    .orderBy('provider.id')
    .execute();

const modelsOf = (db: Db, workspaceId: string) =>
  db
    .selectFrom('integration_models as model')
    .selectAll('model')
    .where('model.integration_id', 'in', (eb) =>
      eb
        .selectFrom('providers as provider')
        .select('provider.integration_id')
        .where('provider.workspace_id', '=', workspaceId)
        .where('provider.status', '!=', 'archived'),
    )
    .execute();
