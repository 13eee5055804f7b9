/** The guardrails of a workspace in memory: each is compiled when it is first used, and those that every request passes are known. */
import { findCheck } from '../guardrails/catalogue.ts';
import { type CompiledHook, type CompileSetup, compileHook } from '../guardrails/compile.ts';
import { parseSaved } from '../guardrails/hook.ts';
import { lazy } from '../lazy.ts';
import type { JsonObject } from '../providers/provider.ts';
import { usesOf } from '../secrets/mapping.ts';
import { decode } from '../store/json.ts';
import type { OrganisationDefaults, WorkspaceDefaults } from '../store/schema.ts';
import type { Vault } from '../store/vault.ts';
import type { GuardrailRow, GuardrailRows } from './read-guardrails.ts';
import type { SourcesFor } from './read-secrets.ts';

export interface SavedGuardrail {
  id: string;
  slug: string;
  versionId: string;
  /** Null when it no longer compiles: requests that must pass it are refused. */
  hook(): CompiledHook | null;
}

export interface WorkspaceGuardrails {
  /** The operator has switched all guardrails off. */
  readonly isOff?: boolean;
  /** By id or slug: the workspace's own, or the organisation's. */
  find(reference: string): SavedGuardrail | null;
  /** Ids of those that every request passes, in their order; a reference that leads nowhere is kept as it is. */
  readonly defaults: { readonly input: readonly string[]; readonly output: readonly string[] };
  /** For hooks that a config writes out. */
  readonly setup: CompileSetup;
}

interface Defaults {
  workspace: Pick<WorkspaceDefaults, 'input_guardrails' | 'output_guardrails'>;
  organisation: OrganisationDefaults;
}

export const guardrailSealedFor = 'guardrail';
export const pluginSealedFor = 'plugin-credentials';

export function workspaceGuardrails(
  { guardrails, plugins, excluded }: GuardrailRows,
  defaults: Defaults,
  vault: Vault,
  sources: SourcesFor,
  warn: (message: string) => void,
): WorkspaceGuardrails {
  const credentials = new Map(
    plugins.map(({ plugin, credentials_sealed }) => [
      plugin,
      lazy(() => opened(vault, plugin, credentials_sealed, warn)),
    ]),
  );
  const secrets = new Map(
    plugins.map(({ plugin, secret_mappings }) => [plugin, usesOf(decode(secret_mappings), sources(null))]),
  );
  // Addresses are checked when they are dialled; when they are saved it only saves a surprise.
  const setup: CompileSetup = {
    find: findCheck,
    credentialsOf: (plugin) => credentials.get(plugin)?.() ?? {},
    secretsOf: (plugin) => secrets.get(plugin),
    faultOfUrl: () => null,
  };
  const known = new Map<string, SavedGuardrail>();
  for (const row of guardrails) {
    const saved: SavedGuardrail = {
      id: row.id,
      slug: row.slug,
      versionId: row.version_id,
      hook: lazy(() => compiled(row, setup, vault, warn)),
    };
    known.set(row.id, saved);
    known.set(row.slug, saved);
  }
  const inForce = (direction: 'input' | 'output'): readonly string[] => {
    const own = defaults.workspace[`${direction}_guardrails`];
    const organisation = excluded.includes(direction) ? [] : defaults.organisation[`${direction}_guardrails`];
    return [...own, ...organisation];
  };
  return {
    find: (reference) => known.get(reference) ?? null,
    defaults: { input: inForce('input'), output: inForce('output') },
    setup,
  };
}

export const noGuardrails: WorkspaceGuardrails = {
  find: () => null,
  defaults: { input: [], output: [] },
  setup: { find: findCheck, credentialsOf: () => ({}), faultOfUrl: () => null },
};

function opened(vault: Vault, plugin: string, sealed: string, warn: (message: string) => void): JsonObject {
  try {
    return JSON.parse(vault.open(sealed, pluginSealedFor));
  } catch {
    warn(
      `The credentials of the plugin ${plugin} cannot be read; its checks report an error until they are saved again.`,
    );
    return {};
  }
}

function compiled(
  row: GuardrailRow,
  setup: CompileSetup,
  vault: Vault,
  warn: (message: string) => void,
): CompiledHook | null {
  const reason = (what: string) =>
    `The guardrail ${row.slug} (version ${row.version_id}) ${what}; requests that must pass it are refused until it is saved again.`;
  try {
    const { checks, actions } = JSON.parse(vault.open(row.content_sealed, guardrailSealedFor));
    const parsed = parseSaved(checks, actions);
    const hook = parsed.ok ? compileHook({ ...parsed.value, versionId: row.version_id }, row.slug, setup) : parsed;
    if (hook.ok) return hook.value;
    warn(
      reason(
        `does not fit this release at ${hook.faults
          .map(({ path }) => path)
          .slice(0, 10)
          .join(', ')}`,
      ),
    );
  } catch {
    warn(reason('cannot be read'));
  }
  return null;
}
