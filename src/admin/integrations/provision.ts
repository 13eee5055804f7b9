/** What a new workspace starts with: the integrations that the organisation hands to every workspace. */
import type { Db } from '../../store/database.ts';
import { ensureDefaultProvider, saveGrant, templateGrant } from './grants.ts';
import { storedGlobalAccess } from './record.ts';
import { freeProviderSlug } from './slugs.ts';

/** To be called once for every workspace that is made in an organisation. */
export async function provisionNewWorkspace(
  db: Db,
  now: Date,
  workspaceId: string,
  organisationId: string,
): Promise<void> {
  const integrations = await db
    .selectFrom('integrations')
    .selectAll()
    .where('organisation_id', '=', organisationId)
    .where('workspace_id', 'is', null)
    .where('status', '=', 'active')
    .where('global_workspace_access', 'is not', null)
    .orderBy('created_at')
    .orderBy('id')
    .execute();
  for (const integration of integrations) {
    const access = storedGlobalAccess(integration);
    if (!access.enabled) continue;
    await saveGrant(db, null, templateGrant(integration.id, workspaceId, access, now));
    if (!access.create_default_provider) continue;
    // Nobody can choose another slug here, so a free one replaces one that is taken.
    const slug = await freeProviderSlug(db, workspaceId, access.default_provider_slug ?? integration.slug);
    await ensureDefaultProvider(db, now, integration, workspaceId, { slug, createdBy: null });
  }
}
