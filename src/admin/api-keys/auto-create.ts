/** The user key that a person gets by joining a workspace, where the settings say so or the invite asks for it. */
import { applyMetadataSchema } from '../../identity/metadata-schema.ts';
import { enforcedPolicy } from '../../identity/rotation.ts';
import type { Scope } from '../../identity/scopes.ts';
import type { Change } from '../../store/changes.ts';
import type { Db } from '../../store/database.ts';
import type { Services } from '../kernel/services.ts';
import { recordKeyEvent, sealSecret } from './events.ts';
import { mintKey } from './mint.ts';
import { defaultExpiry, type KeyPlace, keyPlace, liveUserKeys, scopesOfMember } from './place.ts';

interface JoiningMember {
  organisationId: string;
  workspaceId: string;
  userId: string;
  /** Asked for by an invite: a key with exactly these is made, whatever the switch says. */
  scopes?: readonly Scope[];
}

/** Makes the key if it is due and answers what changed. Its secret waits, sealed, for its owner to reveal it. */
export async function autoCreateUserKey(
  db: Db,
  services: Services,
  now: Date,
  member: JoiningMember,
): Promise<Change[]> {
  const { organisationId, workspaceId, userId } = member;
  const place = await keyPlace(db, organisationId, workspaceId);
  if (!member.scopes && !switchedOn(place)) return [];
  const live = await liveUserKeys(db, workspaceId, userId);
  if (!member.scopes && live > 0) return [];
  if (live >= (place.settings.user_api_key_limit ?? Number.POSITIVE_INFINITY)) return [];
  const scopes = member.scopes ?? (await scopesOfMember(db, place, workspaceId, userId));
  if (scopes.length === 0) return [];

  const { user_api_key_rotation_period: rotationDays } = place.settings;
  const config = place.workspace?.userKeyConfig
    ? await services.configs.find(db, workspaceId, place.workspace.userKeyConfig)
    : null;
  const { id } = await mintKey(
    db,
    now,
    {
      organisationId,
      workspaceId,
      userId,
      type: 'workspace-user',
      name: 'Default key',
      creationMode: 'auto',
      scopes: [...new Set(scopes)],
      // A field that only a person can fill in must not keep them from joining; their first update will ask for it.
      metadata: applyMetadataSchema(place.metadataSchema, {}).metadata,
      configId: config?.id ?? null,
      expiresAt: defaultExpiry(place.settings, now),
      rotationPolicy: rotationDays === null ? null : enforcedPolicy(rotationDays, now),
      createdBy: null,
    },
    { prefix: services.settings.apiKeyPrefix },
    sealSecret(services),
  );
  await recordKeyEvent(
    db,
    services,
    now,
    { id, organisationId, workspaceId },
    {
      action: 'create',
      details: { type: 'workspace-user', user_id: userId, scopes_added: [...scopes], creation_mode: 'auto' },
    },
  );
  return [{ topic: 'api_key', id }];
}

/** Whether people get a key by joining this workspace. */
export const createsUserKeys = async (db: Db, organisationId: string, workspaceId: string): Promise<boolean> =>
  switchedOn(await keyPlace(db, organisationId, workspaceId));

/** The default workspace has a switch of its own, which replaces the general one there. */
const switchedOn = (place: KeyPlace): boolean =>
  place.workspace?.isDefault
    ? place.organisationSettings.default_workspace_user_api_key_auto_create
    : place.settings.user_api_key_auto_create;
