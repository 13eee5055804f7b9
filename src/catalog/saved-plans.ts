/** The plans of saved configs: each is compiled when it is first used, and then kept. */
import { lazy } from '../lazy.ts';
import type { Vault } from '../store/vault.ts';
import { compileConfig, parseConfig } from './compile.ts';
import type { Plan } from './plan.ts';

export interface ConfigRow {
  id: string;
  slug: string;
  version_id: string;
  config_sealed: string;
}

/** Finds a plan by the config's id or slug. A config that no longer compiles counts as missing, for itself alone. */
export function savedPlans(
  rows: readonly ConfigRow[],
  vault: Vault,
  warn: (message: string) => void,
): (reference: string) => Plan | null {
  const compiled = new Map<string, () => Plan | null>();
  for (const row of rows) {
    // A workspace may have many configs of which requests use a few; compiling all of them at once would hold up everybody.
    const plan = lazy(() => planOf(row, vault, warn));
    compiled.set(row.id, plan);
    compiled.set(row.slug, plan);
  }
  return (reference) => compiled.get(reference)?.() ?? null;
}

function planOf(row: ConfigRow, vault: Vault, warn: (message: string) => void): Plan | null {
  const reason = (what: string) =>
    `The config ${row.slug} (version ${row.version_id}) ${what}; requests that name it are refused until it is saved again.`;
  try {
    const parsed = parseConfig(JSON.parse(vault.open(row.config_sealed, 'config')), 'saved');
    if (parsed.ok) {
      return compileConfig(parsed.config, {
        id: row.id,
        saved: { configId: row.id, slug: row.slug, versionId: row.version_id },
      });
    }
    // Only where the faults are: what stands there may be a credential.
    const places = parsed.errors.slice(0, 10).map((fault) => fault.path || 'its root');
    warn(reason(`does not fit this release at ${places.join(', ')}`));
  } catch {
    warn(reason('cannot be read'));
  }
  return null;
}
