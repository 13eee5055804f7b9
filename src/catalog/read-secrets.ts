/** Reads the secret references that mappings of a workspace name. */
import { lazy } from '../lazy.ts';
import type { SecretSource } from '../secrets/manager.ts';
import type { FindSource } from '../secrets/mapping.ts';
import { sourceOf } from '../secrets/source.ts';
import type { Db } from '../store/database.ts';
import type { Vault } from '../store/vault.ts';
import type { SecretMapping } from './saved.ts';

/** `owner` is the workspace of the object with the mapping; null: the organisation's, whose administrators chose the reference themselves. */
export type SourcesFor = (owner: string | null) => FindSource;

const none: SourcesFor = () => () => null;

/** No query where nothing is mapped. */
export async function readSources(
  db: Db,
  vault: Vault,
  place: { organisationId: string; workspaceId: string | null },
  mappings: readonly SecretMapping[],
): Promise<SourcesFor> {
  if (mappings.length === 0) return none;
  const names = [...new Set(mappings.map(({ secret_reference_id }) => secret_reference_id))];
  const rows = await db
    .selectFrom('secret_references as reference')
    .leftJoin('secret_reference_workspaces as opened', (join) =>
      join.onRef('opened.reference_id', '=', 'reference.id').on('opened.workspace_id', '=', place.workspaceId ?? ''),
    )
    .select([
      'reference.id',
      'reference.organisation_id',
      'reference.slug',
      'reference.manager_type',
      'reference.auth_config_sealed',
      'reference.secret_path',
      'reference.secret_key',
      'reference.allow_all_workspaces',
      'opened.workspace_id as opened_to',
    ])
    .where('reference.organisation_id', '=', place.organisationId)
    .where('reference.status', '=', 'active')
    .where((eb) => eb.or([eb('reference.id', 'in', names), eb('reference.slug', 'in', names)]))
    .execute();
  const known = new Map<string, { isOpen: boolean; source: () => SecretSource | null }>();
  for (const row of rows) {
    const entry = {
      isOpen: row.allow_all_workspaces === 1 || row.opened_to !== null,
      source: lazy(() => openedOrNothing(() => sourceOf(row, vault))),
    };
    known.set(row.id, entry);
    known.set(row.slug, entry);
  }
  return (owner) => (reference) => {
    const found = known.get(reference);
    return found && (owner === null || found.isOpen) ? found.source() : null;
  };
}

/** One that the present master key does not open fails the calls that need it, and nothing else. */
function openedOrNothing(open: () => SecretSource): SecretSource | null {
  try {
    return open();
  } catch {
    return null;
  }
}
