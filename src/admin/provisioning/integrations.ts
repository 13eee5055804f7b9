/** What is stored, shown and told of every integration, whether of an MCP server or of an agent. */
import { withoutAliases } from '../../catalog/mcp/settings.ts';
import type { SecretMapping } from '../../catalog/saved.ts';
import { openSettings, sealSettings } from '../../catalog/sealed-settings.ts';
import { conflict } from '../../http/errors.ts';
import { actorId, type Caller } from '../../identity/caller.ts';
import type { Db } from '../../store/database.ts';
import { decode, encode } from '../../store/json.ts';
import type { AgentIntegrationTable } from '../../store/tables/agents.ts';
import type { McpIntegrationTable } from '../../store/tables/mcp.ts';
import type { Vault } from '../../store/vault.ts';
import { type MappingOwner, type SentSecretMappings, storedMappings } from '../integrations/secret-mappings.ts';
import type { Call, Page } from '../kernel/endpoint.ts';
import type { Services } from '../kernel/services.ts';
import { catalogChange } from './access.ts';
import type { Family } from './family.ts';
import { grantCounts } from './grants.ts';
import { requireGuardrailsIn } from './guardrails.ts';
import { maskedSettings, unmaskedSettings } from './masking.ts';
import { isIntegrationSlugTaken, newIntegrationSlug } from './slugs.ts';

type StoredSettings = Pick<AgentIntegrationTable, 'configurations_sealed' | 'secret_mappings'>;

interface SentSettings {
  configurations?: Readonly<Record<string, unknown>> | null | undefined;
  secret_mappings?: SentSecretMappings | null | undefined;
}

/** The settings to store: what was sent over what is stored, where null takes a setting away. `check` throws where they do not fit together. */
export async function settingsToStore(
  { settings: purpose }: Family,
  { db, services: { vault, guardrails } }: { db: Db; services: Services },
  owner: MappingOwner,
  sent: SentSettings,
  stored: StoredSettings | null,
  check: (settings: Readonly<Record<string, unknown>>, mapped: readonly SecretMapping[]) => void,
): Promise<StoredSettings> {
  const mapped =
    sent.secret_mappings === undefined && stored
      ? decode(stored.secret_mappings)
      : await storedMappings(db, owner, sent.secret_mappings ?? []);
  const before = openSettings(vault, purpose, stored?.configurations_sealed ?? null);
  const configurations = sent.configurations ?? {};
  const merged = { ...before, ...unmaskedSettings(withoutAliases(configurations), before) };
  const settings = Object.fromEntries(Object.entries(merged).filter(([, value]) => value != null));
  check(settings, mapped);
  await requireGuardrailsIn({ db, guardrails, ...owner }, configurations);
  return { configurations_sealed: sealSettings(vault, purpose, settings), secret_mappings: encode(mapped) };
}

interface Sent {
  name: string;
  slug?: string | undefined;
  description?: string | null | undefined;
}

/** The columns that every new integration has; refuses a slug that is taken. */
export async function newIntegrationColumns(
  family: Family,
  { db, caller, now }: { db: Db; caller: Caller; now: Date },
  workspaceId: string | null,
  { name, slug, description }: Sent,
) {
  const { organisationId } = caller;
  if (slug && (await isIntegrationSlugTaken(family, db, organisationId, slug))) {
    throw conflict(`The slug ${slug} is taken by another ${family.word} integration, perhaps a deleted one`);
  }
  const at = now.toISOString();
  return {
    id: Bun.randomUUIDv7(),
    organisation_id: organisationId,
    workspace_id: workspaceId,
    slug: slug ?? (await newIntegrationSlug(family, db, organisationId, name)),
    name,
    description: description || null,
    status: 'active' as const,
    global_workspace_access: null,
    created_by: actorId(caller),
    created_at: at,
    last_updated_at: at,
  };
}

/** The columns of an integration or a server that an update with this body writes at least. */
export const changedColumns = (
  { name, description }: { name?: string | undefined; description?: string | null | undefined },
  now: Date,
) => ({
  ...(name !== undefined && { name }),
  ...(description !== undefined && { description: description || null }),
  last_updated_at: now.toISOString(),
});

/** What both kinds have. */
type Integration = Pick<
  AgentIntegrationTable,
  Exclude<keyof AgentIntegrationTable & keyof McpIntegrationTable, 'auth_type'>
>;

/** The fields that the records of all integrations have. */
export const integrationFields = (family: Family, row: Integration, vault: Vault) => ({
  id: row.id,
  slug: row.slug,
  name: row.name,
  description: row.description,
  url: row.url,
  configurations: maskedSettings(openSettings(vault, family.settings, row.configurations_sealed)),
  secret_mappings: decode(row.secret_mappings),
  global_workspace_access: row.global_workspace_access && decode(row.global_workspace_access),
  organisation_id: row.organisation_id,
  workspace_id: row.workspace_id,
  type: row.workspace_id === null ? ('organisation' as const) : ('workspace' as const),
  status: row.status,
  owner_id: row.created_by,
  created_at: row.created_at,
  last_updated_at: row.last_updated_at,
});

/** One page of integrations, each with the number of workspaces that may use it. */
export async function listedIntegrations<Row extends Integration, Shown>(
  family: Family,
  db: Db,
  { rows, total }: { rows: readonly Row[]; total: number },
  page: Page,
  shown: (row: Row) => Shown,
) {
  const ids = rows.map(({ id }) => id);
  const counts = await grantCounts(family, db, ids);
  return {
    data: rows.map((row) => ({
      ...shown(row),
      workspaces_count: row.workspace_id === null ? (counts.get(row.id) ?? 0) : 1,
    })),
    total,
    has_more: page.offset + rows.length < total,
  };
}

/** Tells the workspaces of the integration that it changed, and the audit trail what was done. */
export function recordIntegrationChange(
  { changed, note }: Pick<Call<unknown, unknown, unknown>, 'changed' | 'note'>,
  row: Pick<Integration, 'id' | 'organisation_id' | 'workspace_id' | 'slug'>,
  details: Record<string, unknown>,
): void {
  changed(catalogChange(row));
  note({
    resourceId: row.id,
    ...(row.workspace_id !== null && { workspaceId: row.workspace_id }),
    details: { slug: row.slug, ...details },
  });
}
