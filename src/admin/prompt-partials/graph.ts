/** Which partials lead to which: what a template needs besides itself, and whether it needs itself. */
import { invalid } from '../../http/errors.ts';
import { openPartialText } from '../../prompts/sealed.ts';
import { type PartialReference, parseTemplate, partialsOf, type Template, walkTags } from '../../prompts/template.ts';
import type { Db } from '../../store/database.ts';
import type { Vault } from '../../store/vault.ts';
import { type ItemRow, isSharedWith } from '../prompts/access.ts';

const mostVisited = 500;

interface Visit {
  row: ItemRow;
  reference: PartialReference;
  template: Template;
}

/** All partials behind these references, each once; unknown ones are left out, for they may yet be made. */
export async function partialsBehind(
  db: Db,
  vault: Vault,
  workspaceId: string,
  references: readonly PartialReference[],
): Promise<Visit[]> {
  const visits: Visit[] = [];
  const seen = new Set<string>();
  const waiting = [...references];
  for (let next = waiting.pop(); next && visits.length < mostVisited; next = waiting.pop()) {
    const key = `${next.slug}@${next.version}`;
    if (seen.has(key)) continue;
    seen.add(key);
    const visit = await visitOf(db, vault, workspaceId, next);
    if (!visit) continue;
    visits.push(visit);
    waiting.push(...partialsOf(visit.template));
  }
  return visits;
}

async function visitOf(db: Db, vault: Vault, workspaceId: string, reference: PartialReference): Promise<Visit | null> {
  const workspace = await db
    .selectFrom('workspaces')
    .select('organisation_id')
    .where('id', '=', workspaceId)
    .executeTakeFirstOrThrow();
  const row = await db
    .selectFrom('prompt_partials')
    .selectAll()
    .where('organisation_id', '=', workspace.organisation_id)
    .where((eb) => eb.or([eb('slug', '=', reference.slug), eb('id', '=', reference.slug)]))
    .where('status', '=', 'active')
    .executeTakeFirst();
  if (!row) return null;
  if (row.workspace_id !== workspaceId && !(await isSharedWith(db, row.id, [workspaceId]))) return null;
  const versions = db.selectFrom('prompt_partial_versions').select('string_sealed').where('partial_id', '=', row.id);
  const { version } = reference;
  const found = await (typeof version === 'number'
    ? versions.where('version', '=', version)
    : versions.where('id', '=', version === 'latest' ? row.latest_version_id : row.default_version_id)
  ).executeTakeFirst();
  if (!found) return null;
  return { row, reference, template: parseTemplate(openPartialText(vault, found.string_sealed)) };
}

/** Refuses a partial that would contain itself once it is published, and says where. */
export async function requireNoCycle(
  db: Db,
  vault: Vault,
  row: ItemRow,
  template: Template,
  field: string,
): Promise<void> {
  const isSelf = ({ slug, version }: PartialReference) =>
    (slug === row.slug || slug === row.id) && typeof version !== 'number';
  for (const reference of partialsOf(template)) {
    const direct = isSelf(reference);
    const behind = direct ? [] : await partialsBehind(db, vault, row.workspace_id, [reference]);
    const through = behind.find((visit) => partialsOf(visit.template).some(isSelf));
    if (!direct && !through) continue;
    const { line, column } = placeOf(template, reference);
    const way = through ? `leads back to ${row.slug} through ${through.row.slug}` : 'names this partial itself';
    throw invalid(field, `line ${line}, column ${column}: {{>${reference.slug}}} ${way}`);
  }
}

function placeOf(template: Template, { slug, version }: PartialReference) {
  let place = { line: 1, column: 1 };
  walkTags(template, (node) => {
    if (node.kind === 'partial' && node.reference.slug === slug && node.reference.version === version) {
      place = node.place;
    }
  });
  return place;
}
