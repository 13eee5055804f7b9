/** Who is calling, and what they may do where. Both planes ask these questions in the same words. */
import type { Limit } from '../limits/limit.ts';
import type { TokenGrant } from './jwt/claims.ts';
import type { OrganisationRole, WorkspaceRole } from './roles.ts';
import type { Scope } from './scopes.ts';

export type KeyCallerKind = 'admin-key' | 'workspace-key' | 'user-key';
export type CallerKind = KeyCallerKind | 'session';

export interface Rights {
  /** Scopes on the organisation itself. */
  readonly organisation: ReadonlySet<Scope>;
  /** Scopes in every workspace of the organisation, for callers that run it. */
  readonly everyWorkspace: ReadonlySet<Scope> | null;
  /** Scopes in the workspaces that the caller belongs to. */
  readonly workspaces: ReadonlyMap<string, ReadonlySet<Scope>>;
}

interface CallerBase {
  readonly organisationId: string;
  readonly rights: Rights;
}

export interface KeyCaller extends CallerBase {
  readonly kind: KeyCallerKind;
  readonly keyId: string;
  readonly keyName: string;
  /** The one workspace of a workspace or user key. */
  readonly workspaceId: string | null;
  /** The owner of a user key. */
  readonly userId: string | null;
  readonly exhausted: boolean;
  readonly defaults: KeyDefaults;
  /** Absent: none. */
  readonly limits?: readonly Limit[];
  /** An organisation's JWT, which counts like a workspace key; absent for keys. */
  readonly token?: { readonly identity: string | null; readonly expiresAt: string; readonly grant: TokenGrant };
}

/** What a key brings into every request made with it. */
interface KeyDefaults {
  readonly configId: string | null;
  /** False: a request may not name another config. */
  readonly allowConfigOverride: boolean;
  readonly metadata: Readonly<Record<string, string>>;
  /** The full name of a user key's owner. */
  readonly userName: string | null;
}

export interface SessionCaller extends CallerBase {
  readonly kind: 'session';
  readonly sessionId: string;
  readonly userId: string;
  readonly email: string;
  readonly role: OrganisationRole;
  readonly workspaceRoles: ReadonlyMap<string, WorkspaceRole>;
  readonly csrfToken: string;
  readonly expiresAt: string;
}

export type Caller = KeyCaller | SessionCaller;

/** The id that audit rows and `created_by` fields name. */
export const actorId = (caller: Caller): string => (caller.kind === 'session' ? caller.userId : caller.keyId);
export const actorType = (caller: Caller): 'user' | 'api_key' => (caller.kind === 'session' ? 'user' : 'api_key');

/** True for those who run the whole organisation: admin keys, owners and admins. */
export const runsAll = (caller: Caller): boolean => caller.rights.everyWorkspace !== null;

type Holder = Pick<CallerBase, 'rights'>;

export const mayInOrganisation = (caller: Holder, scope: Scope): boolean => caller.rights.organisation.has(scope);

export const mayInWorkspace = (caller: Holder, scope: Scope, workspaceId: string): boolean =>
  caller.rights.everyWorkspace?.has(scope) ?? caller.rights.workspaces.get(workspaceId)?.has(scope) ?? false;

export const maySomewhere = (caller: Caller, scope: Scope): boolean =>
  caller.rights.everyWorkspace?.has(scope) ??
  [...caller.rights.workspaces.values()].some((scopes) => scopes.has(scope));

/** The workspaces in which the caller holds `scope`; `'all'` for those who run the organisation. */
export function workspacesWith(caller: Caller, scope: Scope): 'all' | string[] {
  if (caller.rights.everyWorkspace) return caller.rights.everyWorkspace.has(scope) ? 'all' : [];
  return [...caller.rights.workspaces].filter(([, scopes]) => scopes.has(scope)).map(([id]) => id);
}

/** The standing of a signed-in person in a workspace; null for outsiders and for every key. */
export function roleIn(caller: Caller, workspaceId: string): WorkspaceRole | null {
  if (caller.kind !== 'session') return null;
  if (caller.rights.everyWorkspace) return 'admin';
  return caller.workspaceRoles.get(workspaceId) ?? null;
}
