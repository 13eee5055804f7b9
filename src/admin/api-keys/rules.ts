/** The rules that a key's fields obey, on create and on update alike. */
import { forbidden, invalid, invalidFields } from '../../http/errors.ts';
import type { Caller } from '../../identity/caller.ts';
import { scopesBeyond, standingOf } from '../../identity/grants.ts';
import { applyMetadataSchema } from '../../identity/metadata-schema.ts';
import { outranks, runsOrganisation } from '../../identity/roles.ts';
import {
  enforcedPolicy,
  type RotationPolicy,
  type RotationPolicyInput,
  resolvePolicy,
} from '../../identity/rotation.ts';
import { grantableTo, parseScope, type Scope } from '../../identity/scopes.ts';
import type { Db } from '../../store/database.ts';
import { decode } from '../../store/json.ts';
import type { ApiKeyTable, ApiKeyType } from '../../store/schema.ts';
import type { Services } from '../kernel/services.ts';
import { columns } from './access.ts';
import { type KeyPlace, standingIn } from './place.ts';

/** The scopes in their one spelling, each once; a scope that this type of key cannot hold is named. */
export function readScopes(type: ApiKeyType, texts: readonly string[]): Scope[] {
  const grantable = new Set(grantableTo(columns[type]));
  const faults: { location: 'body'; path: string; message: string }[] = [];
  const scopes = new Set<Scope>();
  for (const [index, text] of texts.entries()) {
    const scope = parseScope(text);
    const path = `scopes.${index}`;
    if (!scope) faults.push({ location: 'body', path, message: `${text} is no scope` });
    else if (!grantable.has(scope))
      faults.push({ location: 'body', path, message: `${text} cannot be given to a ${type} key` });
    else scopes.add(scope);
  }
  if (faults.length > 0) throw invalidFields(faults);
  return [...scopes];
}

/** Nobody puts more into a key than they hold. */
export function requireGrantable(caller: Caller, workspaceId: string | null, scopes: readonly Scope[]): void {
  const beyond = scopesBeyond(caller, workspaceId, scopes);
  if (beyond.length > 0)
    throw forbidden(`You may give only scopes that you hold here; you do not hold ${beyond.join(', ')}`);
}

/** Whoever reads a secret can act with it, so that it may hold nothing that they lack; a person's own key never does more than they. */
export async function requireMayUse(db: Db, caller: Caller, key: ApiKeyTable): Promise<void> {
  if (key.user_id !== null && key.user_id === caller.userId) return;
  const beyond = scopesBeyond(caller, key.workspace_id, decode(key.scopes));
  if (beyond.length > 0) {
    throw forbidden(`This key holds more than you do, so that you may not have its secret: ${beyond.join(', ')}`);
  }
  if (key.user_id !== null && key.workspace_id !== null) {
    await requireMayActFor(db, caller, key.workspace_id, key.user_id);
  }
}

/** A user key acts with its owner's role, which must not stand above that of the person who gets the secret. */
export async function requireMayActFor(db: Db, caller: Caller, workspaceId: string, ownerId: string): Promise<void> {
  if (caller.kind !== 'session' || caller.userId === ownerId) return;
  const owner = await standingIn(db, caller.organisationId, workspaceId, ownerId);
  if (!owner) return;
  const rank = runsOrganisation(owner.organisationRole) ? 'admin' : (owner.workspaceRole ?? 'member');
  if (outranks(rank, standingOf(caller, workspaceId))) {
    throw forbidden('The owner of this key stands above you in the workspace; ask them, or one of its admins');
  }
}

/** The metadata to store: what was sent or stored, completed and checked by the organisation's schema. */
export function checkMetadata(place: KeyPlace, fields: Record<string, string>): Record<string, string> {
  const { metadata, faults } = applyMetadataSchema(place.metadataSchema, fields);
  if (faults.length > 0) {
    throw invalidFields(
      faults.map(({ path, message }) => ({ location: 'body', path: `defaults.metadata.${path}`, message })),
    );
  }
  return metadata;
}

/** The id of the config that the caller names. */
export async function findConfig(db: Db, services: Services, place: KeyPlace, reference: string): Promise<string> {
  const config = place.workspace ? await services.configs.find(db, place.workspace.id, reference) : null;
  if (config) return config.id;
  const reason = place.workspace
    ? 'names no config of this workspace'
    : 'an admin key belongs to no workspace, so no config can apply to it';
  throw invalid('defaults.config_id', reason);
}

/** The expiry as it is stored: in the future, and for user keys no later than the longest life allowed here. */
export function checkExpiry(place: KeyPlace, type: ApiKeyType, expiresAt: string | null, now: Date): string | null {
  const longest = type === 'workspace-user' ? (place.settings.user_api_key_ttl?.max_ttl ?? null) : null;
  if (expiresAt === null) {
    if (longest !== null) throw invalid('expires_at', `is required: user keys live at most ${longest} seconds here`);
    return null;
  }
  const moment = new Date(expiresAt);
  if (moment <= now) throw invalid('expires_at', 'must lie in the future');
  if (longest !== null && moment.getTime() > now.getTime() + longest * 1000) {
    throw invalid('expires_at', `is too late: user keys live at most ${longest} seconds here`);
  }
  return moment.toISOString();
}

/** The rotation policy to store; `undefined` is what a caller sends who does not mention it. */
export function checkPolicy(
  place: KeyPlace,
  type: ApiKeyType,
  input: RotationPolicyInput | null | undefined,
  stored: RotationPolicy | null,
  now: Date,
): RotationPolicy | null {
  const enforcedDays = type === 'workspace-user' ? place.settings.user_api_key_rotation_period : null;
  if (!input) return enforcedDays === null ? null : enforcedPolicy(enforcedDays, now);
  const verdict = resolvePolicy(input, { now, enforcedDays, stored });
  if ('policy' in verdict) return verdict.policy;
  const { field, message } = verdict.fault;
  throw invalid(field ? `rotation_policy.${field}` : 'rotation_policy', message);
}

/** A policy that is enforced stays. */
export function requireRemovablePolicy(place: KeyPlace, type: ApiKeyType): void {
  const days = type === 'workspace-user' ? place.settings.user_api_key_rotation_period : null;
  if (days !== null) throw invalid('rotation_policy', `may not be removed: user keys rotate every ${days} days here`);
}
