/** Partials and their versions in the store. */
import { invalid, notFound } from '../../http/errors.ts';
import type { VersionAddress } from '../../prompts/address.ts';
import { TemplateFault } from '../../prompts/fault.ts';
import { openPartialText } from '../../prompts/sealed.ts';
import { parseTemplate, type Template } from '../../prompts/template.ts';
import type { Db } from '../../store/database.ts';
import type { PromptPartialVersionTable } from '../../store/tables/prompts.ts';
import type { Vault } from '../../store/vault.ts';
import type { ItemRow } from '../prompts/access.ts';
import { freeSlug, newItemRow } from '../prompts/store.ts';

export function checkPartial(text: string): Template {
  try {
    return parseTemplate(text);
  } catch (fault) {
    throw fault instanceof TemplateFault ? invalid('string', fault.message) : fault;
  }
}

interface NewPartial {
  organisationId: string;
  workspaceId: string;
  collectionId: string;
  name: string;
  slug?: string | undefined;
  string: string;
  description: string;
  createdBy: string;
}

export async function insertPartial(db: Db, vault: Vault, now: Date, made: NewPartial) {
  const row = newItemRow(made, await freeSlug(db, 'partial', made), now);
  const { id, slug, latest_version_id: versionId } = row;
  await db.insertInto('prompt_partials').values(row).execute();
  await insertPartialVersion(db, vault, now, { ...made, id: versionId, partialId: id, version: 1 });
  return { id, slug, versionId };
}

interface NewVersion {
  id: string;
  partialId: string;
  version: number;
  string: string;
  description: string;
  createdBy: string;
}

export async function insertPartialVersion(db: Db, vault: Vault, now: Date, made: NewVersion): Promise<void> {
  await db
    .insertInto('prompt_partial_versions')
    .values({
      id: made.id,
      partial_id: made.partialId,
      version: made.version,
      description: made.description,
      string_sealed: vault.seal(made.string, 'prompt-partial'),
      created_by: made.createdBy,
      created_at: now.toISOString(),
    })
    .execute();
}

/** Labels do not stand on partials. */
export async function partialVersion(
  db: Db,
  row: ItemRow,
  address: VersionAddress,
): Promise<PromptPartialVersionTable> {
  const versions = db.selectFrom('prompt_partial_versions').selectAll().where('partial_id', '=', row.id);
  if (address.by === 'label') throw notFound('version of this partial');
  const found = await (address.by === 'number'
    ? versions.where('version', '=', address.number)
    : versions.where('id', '=', address.by === 'latest' ? row.latest_version_id : row.default_version_id)
  ).executeTakeFirst();
  if (!found) throw notFound('version of this partial');
  return found;
}

export const textOf = (vault: Vault, version: PromptPartialVersionTable): string =>
  openPartialText(vault, version.string_sealed);

export const statusOf = (row: ItemRow, { id }: PromptPartialVersionTable) =>
  id === row.default_version_id ? ('active' as const) : ('archived' as const);
