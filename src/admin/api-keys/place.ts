/** Where a key lives, and what is in force there: settings, metadata schema, the workspace's config for user keys. */
import { userKeyRights } from '../../identity/rights.ts';
import { grantableTo, type Scope } from '../../identity/scopes.ts';
import { type OrganisationSettings, settingsInForce } from '../../identity/settings.ts';
import type { Db } from '../../store/database.ts';
import { decode } from '../../store/json.ts';
import { countOf } from '../kernel/lists/list-queries.ts';
import { liveKeys } from './live.ts';

export interface KeyPlace {
  organisationId: string;
  /** The organisation's own settings. */
  organisationSettings: OrganisationSettings;
  /** The settings in force in the workspace; the organisation's where there is none. */
  settings: OrganisationSettings;
  metadataSchema: Record<string, unknown> | null;
  workspace: { id: string; isDefault: boolean; userKeyConfig: string | null } | null;
}

export async function keyPlace(db: Db, organisationId: string, workspaceId: string | null): Promise<KeyPlace> {
  const organisation = await db
    .selectFrom('organisations')
    .select(['settings', 'workspace_overrides', 'properties'])
    .where('id', '=', organisationId)
    .executeTakeFirstOrThrow();
  const organisationSettings = decode(organisation.settings);
  const metadataSchema = decode(organisation.properties).api_key_metadata_schema;
  if (workspaceId === null) {
    return {
      organisationId,
      organisationSettings,
      settings: organisationSettings,
      metadataSchema,
      workspace: null,
    };
  }
  const workspace = await db
    .selectFrom('workspaces')
    .select(['is_default', 'settings', 'defaults'])
    .where('id', '=', workspaceId)
    .where('organisation_id', '=', organisationId)
    .executeTakeFirstOrThrow();
  const layer = { settings: organisationSettings, overrides: decode(organisation.workspace_overrides) };
  return {
    organisationId,
    organisationSettings,
    settings: settingsInForce(layer, decode(workspace.settings)),
    metadataSchema,
    workspace: {
      id: workspaceId,
      isDefault: workspace.is_default === 1,
      userKeyConfig: decode(workspace.defaults).user_api_key_config,
    },
  };
}

/** A person's standing in a workspace, or null when they do not belong to it; those who run the organisation always do. */
export async function standingIn(db: Db, organisationId: string, workspaceId: string, userId: string) {
  const row = await db
    .selectFrom('organisation_members as member')
    .leftJoin('workspace_members as standing', (join) =>
      join
        .onRef('standing.user_id', '=', 'member.user_id')
        .on('standing.workspace_id', '=', workspaceId)
        .on('standing.status', '=', 'active'),
    )
    .select(['member.role as organisationRole', 'standing.role as workspaceRole'])
    .where('member.organisation_id', '=', organisationId)
    .where('member.user_id', '=', userId)
    .where('member.status', '=', 'active')
    .executeTakeFirst();
  if (!row || (row.organisationRole === 'member' && row.workspaceRole === null)) return null;
  return row;
}

/** Everything that a user key may hold and this person's role gives under the settings in force. */
export async function scopesOfMember(db: Db, place: KeyPlace, workspaceId: string, userId: string): Promise<Scope[]> {
  const standing = await standingIn(db, place.organisationId, workspaceId, userId);
  if (!standing) return [];
  const rights = userKeyRights(workspaceId, grantableTo('U'), standing, place.organisationSettings, place.settings);
  return [...(rights.workspaces.get(workspaceId) ?? [])];
}

/** How many user keys a person has that count against `user_api_key_limit`. */
export function liveUserKeys(db: Db, workspaceId: string, userId: string): Promise<number> {
  const keys = liveKeys(db)
    .where('user_id', '=', userId)
    .where('workspace_id', '=', workspaceId)
    .where('type', '=', 'workspace-user')
    .where('status', 'in', ['active', 'exhausted']);
  return countOf(keys);
}

/** When a key made without an expiry ends; a longest life also bounds keys whose maker did not think of one. */
export function defaultExpiry(settings: OrganisationSettings, now: Date): string | null {
  const ttl = settings.user_api_key_ttl?.default_ttl ?? settings.user_api_key_ttl?.max_ttl ?? null;
  return ttl === null ? null : new Date(now.getTime() + ttl * 1000).toISOString();
}
