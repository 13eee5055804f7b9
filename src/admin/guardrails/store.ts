/** Guardrails and their versions in the store. Checks are kept sealed: they may hold credentials. */
import { guardrailSealedFor } from '../../catalog/workspace-guardrails.ts';
import { invalid } from '../../http/errors.ts';
import type { Db } from '../../store/database.ts';
import { decode } from '../../store/json.ts';
import type { GuardrailTable } from '../../store/tables/guardrails.ts';
import type { Vault } from '../../store/vault.ts';
import { slugOf } from '../kernel/slug.ts';
import type { GuardrailContent } from './content.ts';

const slugLength = 6;

export const openContent = (vault: Vault, sealed: string): GuardrailContent =>
  JSON.parse(vault.open(sealed, guardrailSealedFor));

export async function currentContent(db: Db, vault: Vault, row: GuardrailTable): Promise<GuardrailContent> {
  const { content_sealed } = await db
    .selectFrom('guardrail_versions')
    .select('content_sealed')
    .where('id', '=', row.version_id)
    .executeTakeFirstOrThrow();
  return openContent(vault, content_sealed);
}

interface NewGuardrail {
  organisationId: string;
  workspaceId: string | null;
  name: string;
  content: GuardrailContent;
  ownerId: string | null;
}

export async function insertGuardrail(db: Db, vault: Vault, now: Date, made: NewGuardrail): Promise<GuardrailTable> {
  const at = now.toISOString();
  const row: GuardrailTable = {
    id: Bun.randomUUIDv7(),
    organisation_id: made.organisationId,
    workspace_id: made.workspaceId,
    slug: await freeSlug(db, made.organisationId, made.name),
    name: made.name,
    status: 'active',
    version_id: Bun.randomUUIDv7(),
    owner_id: made.ownerId,
    updated_by: made.ownerId,
    created_at: at,
    last_updated_at: at,
  };
  await db.insertInto('guardrails').values(row).execute();
  await insertVersion(db, vault, now, {
    id: row.version_id,
    guardrailId: row.id,
    content: made.content,
    by: made.ownerId,
  });
  return row;
}

interface NewVersion {
  id: string;
  guardrailId: string;
  content: GuardrailContent;
  by: string | null;
}

export async function insertVersion(
  db: Db,
  vault: Vault,
  now: Date,
  { id, guardrailId, content, by }: NewVersion,
): Promise<void> {
  await db
    .insertInto('guardrail_versions')
    .values({
      id,
      guardrail_id: guardrailId,
      content_sealed: vault.seal(JSON.stringify(content), guardrailSealedFor),
      created_at: now.toISOString(),
      created_by: by,
    })
    .execute();
}

/** Free in the whole organisation: workspaces name its guardrails beside their own. */
async function freeSlug(db: Db, organisationId: string, name: string): Promise<string> {
  for (;;) {
    const slug = slugOf('guard', name, slugLength);
    const taken = await db
      .selectFrom('guardrails')
      .select('id')
      .where('organisation_id', '=', organisationId)
      .where('slug', '=', slug)
      .executeTakeFirst();
    if (!taken) return slug;
  }
}

/** What every request passes cannot go: requests would pass nothing, or be refused. */
export async function requireNoDefault(db: Db, row: GuardrailTable): Promise<void> {
  if (row.workspace_id === null) {
    const { defaults } = await db
      .selectFrom('organisations')
      .select('defaults')
      .where('id', '=', row.organisation_id)
      .executeTakeFirstOrThrow();
    if (names(decode(defaults), row))
      throw invalid('guardrail', 'is a default of the organisation; take it out of its defaults first');
  }
  const workspaces = await db
    .selectFrom('workspaces')
    .select(['slug', 'defaults'])
    .where('organisation_id', '=', row.organisation_id)
    .where('status', '=', 'active')
    .execute();
  const user = workspaces.find(({ defaults }) => names(decode(defaults), row));
  if (user) throw invalid('guardrail', `is a default of the workspace ${user.slug}; take it out of its defaults first`);
}

const names = (
  { input_guardrails: input, output_guardrails: output }: { input_guardrails: string[]; output_guardrails: string[] },
  { id, slug }: GuardrailTable,
): boolean => [...input, ...output].some((reference) => reference === id || reference === slug);

export async function archiveGuardrails(
  db: Db,
  now: Date,
  which: { id: string } | { workspaceId: string },
): Promise<void> {
  const [column, value] = 'id' in which ? (['id', which.id] as const) : (['workspace_id', which.workspaceId] as const);
  await db
    .updateTable('guardrails')
    .set({ status: 'archived', last_updated_at: now.toISOString() })
    .where(column, '=', value)
    .where('status', '=', 'active')
    .execute();
}
