/** Makes providers; every way in which one comes passes here. */
import type { SecretMapping } from '../../catalog/saved.ts';
import type { Db } from '../../store/database.ts';
import { encode } from '../../store/json.ts';
import { type LimitColumns, unlimited } from './limits.ts';

interface NewProvider {
  organisationId: string;
  workspaceId: string;
  integrationId: string;
  slug: string;
  name: string;
  note?: string | null;
  limits?: LimitColumns;
  tags?: Record<string, string> | null;
  secretMappings?: readonly SecretMapping[];
  createdBy: string | null;
}

/** The caller has seen to it that the slug is free in the workspace. */
export async function insertProvider(db: Db, now: Date, provider: NewProvider): Promise<string> {
  const id = Bun.randomUUIDv7();
  const at = now.toISOString();
  await db
    .insertInto('providers')
    .values({
      id,
      organisation_id: provider.organisationId,
      workspace_id: provider.workspaceId,
      integration_id: provider.integrationId,
      slug: provider.slug,
      name: provider.name,
      note: provider.note ?? null,
      ...(provider.limits ?? unlimited),
      tags: provider.tags ? encode(provider.tags) : null,
      secret_mappings: encode([...(provider.secretMappings ?? [])]),
      created_by: provider.createdBy,
      created_at: at,
      last_updated_at: at,
    })
    .execute();
  return id;
}
