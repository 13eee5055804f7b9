/** The saved provider `@sandbox`: it answers without any network, so that a new organisation can make its first call at once. */
import type { Db } from '../../store/database.ts';
import { insertProvider } from '../providers/insert.ts';
import { insertIntegration } from './insert.ts';

interface Place {
  organisationId: string;
  workspaceId: string;
  createdBy: string | null;
}

/** To be called for the first workspace of a new organisation, in which no slug is taken yet. */
export async function insertSandbox(db: Db, now: Date, place: Place): Promise<void> {
  const named = { ...place, slug: 'sandbox', name: 'Sandbox' };
  const integrationId = await insertIntegration(db, now, { ...named, aiProviderId: 'sandbox' });
  await insertProvider(db, now, { ...named, integrationId });
}
