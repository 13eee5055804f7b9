/** The saved provider `@sandbox`: it answers without any network, so that a new organisation can make its first call at once. */
import type { Db } from '../../store/database.ts';
import { insertProvider } from '../providers/insert.ts';
import { insertIntegration } from './insert.ts';
import { isIntegrationSlugTaken, isProviderSlugTaken } from './slugs.ts';

const slug = 'sandbox';

interface Place {
  organisationId: string;
  workspaceId: string;
  createdBy: string | null;
}

/** To be called for every new workspace: `@sandbox` is there unless something else took its name. */
export async function insertSandbox(db: Db, now: Date, place: Place): Promise<void> {
  if (await isProviderSlugTaken(db, place.workspaceId, slug)) return;
  const named = { ...place, slug, name: 'Sandbox' };
  // Slugs of integrations are the organisation's, those of providers the workspace's.
  const taken = await isIntegrationSlugTaken(db, place.organisationId, slug);
  const integrationSlug = taken ? `${slug}-${place.workspaceId}` : slug;
  const integrationId = await insertIntegration(db, now, { ...named, slug: integrationSlug, aiProviderId: 'sandbox' });
  await insertProvider(db, now, { ...named, integrationId });
}
