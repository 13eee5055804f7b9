/** The partials that a prompt or partial names, in the versions that callers reach without a number. */
import { compilePrompt } from '../../prompts/compile.ts';
import { openPartialText } from '../../prompts/sealed.ts';
import { type PartialReference, parseTemplate, partialsOf } from '../../prompts/template.ts';
import type { Db } from '../../store/database.ts';
import type { Vault } from '../../store/vault.ts';
import type { ItemKind, ItemRow } from './access.ts';
import { contentOf } from './content.ts';

export async function partialsOfPrompt(
  db: Db,
  vault: Vault,
  kind: ItemKind,
  row: ItemRow,
): Promise<PartialReference[]> {
  const ids = [row.default_version_id, row.latest_version_id];
  if (kind === 'prompt') {
    const versions = await db.selectFrom('prompt_versions').selectAll().where('id', 'in', ids).execute();
    return versions.flatMap((version) => [...compilePrompt(contentOf(vault, version)).partials]);
  }
  const versions = await db.selectFrom('prompt_partial_versions').selectAll().where('id', 'in', ids).execute();
  return versions.flatMap((version) => partialsOf(parseTemplate(openPartialText(vault, version.string_sealed))));
}
