/** Secret references in the store: found by id or slug, opened to workspaces, shown without their credentials. */
import { randomBytes } from 'node:crypto';
import type { z } from 'zod';
import { invalid, notFound } from '../../http/errors.ts';
import type { Resolution } from '../../secrets/resolver.ts';
import { openAuthConfig } from '../../secrets/source.ts';
import type { Db } from '../../store/database.ts';
import { decode } from '../../store/json.ts';
import type { SecretReferenceTable } from '../../store/tables/secrets.ts';
import type { Services } from '../kernel/services.ts';
import { recognisable } from '../kernel/slug.ts';
import { activeWorkspaceIds } from '../workspaces/references.ts';
import { maskedAuthConfig } from './auth-config.ts';
import type { listedReference, referenceRecord } from './schema.ts';

export async function reachReference(db: Db, organisationId: string, reference: string): Promise<SecretReferenceTable> {
  const row = await db
    .selectFrom('secret_references')
    .selectAll()
    .where('organisation_id', '=', organisationId)
    .where('status', '=', 'active')
    .where((eb) => eb.or([eb('id', '=', reference), eb('slug', '=', reference)]))
    .executeTakeFirst();
  if (!row) throw notFound('secret reference');
  return row;
}

/** Archived ones count: a slug is never given to something else. */
async function isSlugTaken(db: Db, organisationId: string, slug: string): Promise<boolean> {
  const row = await db
    .selectFrom('secret_references')
    .select('id')
    .where('organisation_id', '=', organisationId)
    .where('slug', '=', slug)
    .executeTakeFirst();
  return row !== undefined;
}

const longestSlug = 255;

export async function freeSlug(
  db: Db,
  organisationId: string,
  asked: string | undefined,
  name: string,
): Promise<string> {
  const wanted = asked ?? (recognisable(name, longestSlug) || 'secret');
  if (!(await isSlugTaken(db, organisationId, wanted))) return wanted;
  if (asked) throw invalid('slug', 'is taken by another secret reference, perhaps a deleted one');
  return `${wanted.slice(0, longestSlug - 7)}-${randomBytes(3).toString('hex')}`;
}

/** The ids of the workspaces that a reference is opened to; each must exist. */
export async function workspacesNamed(db: Db, organisationId: string, names: readonly string[]): Promise<string[]> {
  const ids = await activeWorkspaceIds(db, organisationId, names);
  const found = names.map((name, index) => {
    const id = ids.get(name);
    if (id === undefined) throw invalid(`allowed_workspaces.${index}`, 'names no workspace of this organisation');
    return id;
  });
  return [...new Set(found)];
}

export async function replaceWorkspaces(db: Db, referenceId: string, workspaceIds: readonly string[]): Promise<void> {
  await db.deleteFrom('secret_reference_workspaces').where('reference_id', '=', referenceId).execute();
  if (workspaceIds.length === 0) return;
  await db
    .insertInto('secret_reference_workspaces')
    .values(workspaceIds.map((workspace_id) => ({ reference_id: referenceId, workspace_id })))
    .execute();
}

export const asListed = (row: SecretReferenceTable): z.output<ReturnType<typeof listedReference>> => ({
  object: 'secret-reference',
  id: row.id,
  name: row.name,
  slug: row.slug,
  manager_type: row.manager_type,
  status: 'ACTIVE',
  created_at: row.created_at,
  last_updated_at: row.last_updated_at,
});

export async function asRecord(
  db: Db,
  row: SecretReferenceTable,
  { vault, secrets }: Pick<Services, 'vault' | 'secrets'>,
): Promise<z.output<ReturnType<typeof referenceRecord>>> {
  const opened = await db
    .selectFrom('secret_reference_workspaces as opened')
    .innerJoin('workspaces as workspace', 'workspace.id', 'opened.workspace_id')
    .select('workspace.slug')
    .where('opened.reference_id', '=', row.id)
    .orderBy('workspace.slug')
    .execute();
  return {
    ...asListed(row),
    organisation_id: row.organisation_id,
    description: row.description,
    secret_path: row.secret_path,
    secret_key: row.secret_key,
    allow_all_workspaces: row.allow_all_workspaces === 1,
    allowed_workspaces: opened.map(({ slug }) => slug),
    tags: row.tags && decode(row.tags),
    created_by: row.created_by,
    auth_config: maskedAuthConfig(row.manager_type, openAuthConfig(vault, row.auth_config_sealed)),
    resolution: shown(secrets.resolutionOf(row.id)),
  };
}

const shown = ({ state, resolvedAt, failedAt, error, usableUntil }: Resolution) => ({
  state,
  resolved_at: resolvedAt?.toISOString() ?? null,
  failed_at: failedAt?.toISOString() ?? null,
  error,
  usable_until: usableUntil?.toISOString() ?? null,
});
