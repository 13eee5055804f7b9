/** What an update of the workspaces of an integration asks for, as changes of single grants. */
import type { GlobalWorkspaceAccess } from '../../catalog/saved.ts';
import { invalid, notFound } from '../../http/errors.ts';
import type { Db } from '../../store/database.ts';
import type { IntegrationTable } from '../../store/tables/catalog.ts';
import { activeWorkspaceIds } from '../workspaces/references.ts';
import { asTemplate, fromTemplate, type GrantChange } from './grants.ts';
import { storedGlobalAccess } from './record.ts';
import type { WorkspacesUpdate } from './workspaces-schema.ts';

/** What new workspaces get once the update is saved. */
export function savedGlobalAccess(
  integration: IntegrationTable,
  body: WorkspacesUpdate,
  now: Date,
): GlobalWorkspaceAccess {
  const stored = storedGlobalAccess(integration);
  const sent = body.global_workspace_access;
  if (!sent) return stored;
  return {
    enabled: sent.enabled,
    usage_limits:
      sent.usage_limits === undefined
        ? stored.usage_limits
        : (sent.usage_limits ?? []).map((limit, index) =>
            asTemplate(limit, now, `global_workspace_access.usage_limits.${index}`),
          ),
    rate_limits: sent.rate_limits === undefined ? stored.rate_limits : (sent.rate_limits ?? []),
    create_default_provider: body.create_default_provider,
    default_provider_slug: body.default_provider_slug ?? null,
  };
}

export const limitsOf = (global: GlobalWorkspaceAccess, now: Date): Pick<GrantChange, 'usageLimits' | 'rateLimits'> => {
  const [limit] = global.usage_limits;
  return { usageLimits: limit ? fromTemplate(limit, now) : null, rateLimits: global.rate_limits };
};

interface ListedChange extends GrantChange {
  /** The provider that a newly enabled workspace gets; null: none. */
  provider: { slug: string | null; path: string } | null;
}

/** What the list says, each workspace found by its id or slug. */
export async function listedChanges(db: Db, organisationId: string, body: WorkspacesUpdate): Promise<ListedChange[]> {
  const listed = body.workspaces ?? [];
  const references = listed.map((item) => item.id);
  const ids = await activeWorkspaceIds(db, organisationId, references);
  const seen = new Set<string>();
  return listed.map((item, index) => {
    const workspaceId = ids.get(item.id);
    if (workspaceId === undefined) throw notFound(`workspace: ${item.id}`);
    if (seen.has(workspaceId)) throw invalid(`workspaces.${index}.id`, 'names a workspace for the second time');
    seen.add(workspaceId);
    const path = `workspaces.${index}`;
    const named = item.default_provider_slug ?? null;
    return {
      workspaceId,
      enabled: item.enabled,
      ...(item.usage_limits !== undefined && { usageLimits: item.usage_limits?.[0] ?? null }),
      ...(item.rate_limits !== undefined && { rateLimits: item.rate_limits ?? [] }),
      resetUsage: item.reset_usage ?? false,
      path,
      provider:
        (item.create_default_provider ?? body.create_default_provider)
          ? {
              slug: named ?? body.default_provider_slug ?? null,
              path: named === null ? 'default_provider_slug' : `${path}.default_provider_slug`,
            }
          : null,
    };
  });
}

/** What overriding does to the workspaces that the list does not name: a list takes them out, without one only their limits change. */
export const overridden = (
  grants: Iterable<{ workspace_id: string; enabled: 0 | 1 }>,
  changes: readonly ListedChange[],
  body: WorkspacesUpdate,
): ListedChange[] => {
  const named = new Set(changes.map((change) => change.workspaceId));
  return [...grants]
    .filter((grant) => !named.has(grant.workspace_id))
    .map((grant) => ({
      workspaceId: grant.workspace_id,
      enabled: body.workspaces === undefined && grant.enabled === 1,
      path: 'global_workspace_access',
      provider: null,
    }));
};
