/** Prompts and their versions in the store. */
import { conflict, notFound } from '../../http/errors.ts';
import { parseAddress, type VersionAddress, versionOf } from '../../prompts/address.ts';
import type { PromptContent } from '../../prompts/content.ts';
import { universalLabels } from '../../prompts/universal-labels.ts';
import type { Db } from '../../store/database.ts';
import type { PromptVersionTable } from '../../store/tables/prompts.ts';
import type { Vault } from '../../store/vault.ts';
import { slugOf } from '../kernel/slug.ts';
import { type ItemKind, type ItemRow, tableOf } from './access.ts';
import { sealedColumns } from './content.ts';

const slugLength = 10;

/** Free in the whole organisation: a shared prompt is called by the slug that its owner knows. */
export async function freeSlug(
  db: Db,
  kind: ItemKind,
  { organisationId, name, slug: chosen }: { organisationId: string; name: string; slug?: string | undefined },
): Promise<string> {
  for (;;) {
    const slug = chosen ?? slugOf('pp', name, slugLength);
    const taken = await db
      .selectFrom(tableOf[kind])
      .select('id')
      .where('organisation_id', '=', organisationId)
      .where('slug', '=', slug)
      .executeTakeFirst();
    if (!taken) return slug;
    if (chosen !== undefined)
      throw conflict(`The slug ${chosen} is taken in this organisation, perhaps by a deleted ${kind}`);
  }
}

interface NewPrompt extends NewItem {
  slug?: string | undefined;
  description: string;
  content: PromptContent;
  createdBy: string;
}

interface NewItem {
  organisationId: string;
  workspaceId: string;
  collectionId: string;
  name: string;
}

/** The row of a prompt or a partial whose first version, which is yet to be stored, is published at once. */
export function newItemRow({ organisationId, workspaceId, collectionId, name }: NewItem, slug: string, now: Date) {
  const versionId = Bun.randomUUIDv7();
  const at = now.toISOString();
  return {
    id: Bun.randomUUIDv7(),
    organisation_id: organisationId,
    workspace_id: workspaceId,
    collection_id: collectionId,
    slug,
    name,
    status: 'active' as const,
    default_version_id: versionId,
    latest_version_id: versionId,
    latest_version: 1,
    created_at: at,
    last_updated_at: at,
  };
}

export async function insertPrompt(db: Db, vault: Vault, now: Date, made: NewPrompt) {
  const row = newItemRow(made, await freeSlug(db, 'prompt', made), now);
  const { id, slug, latest_version_id: versionId } = row;
  await db.insertInto('prompts').values(row).execute();
  await insertVersion(db, vault, now, { id: versionId, promptId: id, version: 1, ...made });
  return { id, slug, versionId };
}

interface NewVersion {
  id: string;
  promptId: string;
  version: number;
  description: string;
  content: PromptContent;
  createdBy: string;
}

async function insertVersion(db: Db, vault: Vault, now: Date, made: NewVersion): Promise<void> {
  await db
    .insertInto('prompt_versions')
    .values({
      id: made.id,
      prompt_id: made.promptId,
      version: made.version,
      description: made.description,
      ...sealedColumns(vault, made.content),
      created_by: made.createdBy,
      created_at: now.toISOString(),
    })
    .execute();
}

/** A new version stands beside the published one until somebody publishes it. */
export async function addVersion(
  db: Db,
  vault: Vault,
  now: Date,
  row: ItemRow,
  made: { description: string; content: PromptContent; createdBy: string },
): Promise<string> {
  const id = Bun.randomUUIDv7();
  const version = row.latest_version + 1;
  await insertVersion(db, vault, now, { id, promptId: row.id, version, ...made });
  await db
    .updateTable('prompts')
    .set({ latest_version: version, latest_version_id: id })
    .where('id', '=', row.id)
    .execute();
  return id;
}

/** `slug@suffix` in a path, or a version named beside it. */
export function addressOf(path: string, version: string | undefined) {
  const { reference, version: suffix } = parseAddress(path);
  return { reference, version: version === undefined ? suffix : versionOf(version) };
}

export async function versionRow(db: Db, row: ItemRow, address: VersionAddress): Promise<PromptVersionTable> {
  const versions = db.selectFrom('prompt_versions').selectAll().where('prompt_id', '=', row.id);
  const found = await (address.by === 'number'
    ? versions.where('version', '=', address.number)
    : versions.where('id', '=', await versionIdOf(db, row, address))
  ).executeTakeFirst();
  if (!found) throw notFound('version of this prompt');
  return found;
}

async function versionIdOf(db: Db, row: ItemRow, address: Exclude<VersionAddress, { by: 'number' }>): Promise<string> {
  if (address.by === 'published') return row.default_version_id;
  if (address.by === 'latest') return row.latest_version_id;
  const labels = await labelsOfPrompt(db, row.id);
  const found = labels.find(({ name }) => name === address.label);
  if (!found) throw notFound(`version of this prompt: nothing is labelled ${address.label}`);
  return found.versionId;
}

export interface VersionLabel {
  id: string;
  name: string;
  versionId: string;
}

/** The labels of a prompt's versions, the oldest first. */
export async function labelsOfPrompt(db: Db, promptId: string): Promise<VersionLabel[]> {
  const rows = await db
    .selectFrom('prompt_version_labels as mapping')
    .leftJoin('prompt_labels as label', 'label.id', 'mapping.label_id')
    .select(['mapping.label_id as id', 'mapping.version_id', 'label.name'])
    .where('mapping.prompt_id', '=', promptId)
    .orderBy('mapping.created_at')
    .orderBy('mapping.label_id')
    .execute();
  return rows.flatMap(({ id, version_id, name }) => {
    const known = name ?? universalLabels.find((label) => label.id === id)?.name;
    return known === undefined ? [] : [{ id, name: known, versionId: version_id }];
  });
}

/** Archives prompts or partials with their shares. */
export async function archiveItems(
  db: Db,
  kind: ItemKind,
  now: Date,
  which: { id: string } | { workspaceId: string },
): Promise<void> {
  const [column, value] = 'id' in which ? (['id', which.id] as const) : (['workspace_id', which.workspaceId] as const);
  await db
    .updateTable(tableOf[kind])
    .set({ status: 'archived', last_updated_at: now.toISOString() })
    .where(column, '=', value)
    .where('status', '=', 'active')
    .execute();
}
