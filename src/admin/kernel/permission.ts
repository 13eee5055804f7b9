/** May this caller make this call here? Answers from the endpoint's declaration alone. */
import { forbidden, unauthenticated } from '../../http/errors.ts';
import {
  type Caller,
  type CallerKind,
  mayInOrganisation,
  mayInWorkspace,
  maySomewhere,
} from '../../identity/caller.ts';
import type { Scope } from '../../identity/scopes.ts';
import type { Access, NamedWorkspace } from './endpoint.ts';

const callerNames: Record<CallerKind, string> = {
  'admin-key': 'an admin key',
  'workspace-key': 'a workspace key',
  'user-key': 'a user key',
  session: 'the session of a signed-in user',
};

type Guarded = Exclude<Access, 'open'>;

export function requireKind(access: Guarded, caller: Caller): void {
  const isToken = caller.kind !== 'session' && caller.token !== undefined;
  if (isToken && access.jwt) return;
  if (isToken && access.level === 'organisation') {
    throw forbidden('A JWT works inside its workspace; make this call with an admin key or signed in');
  }
  if (access.callers.includes(caller.kind)) return;
  const allowed = access.callers.map((kind) => callerNames[kind]).join(' or ');
  const message = `This call is not open to ${callerNames[caller.kind]}; make it with ${allowed}`;
  throw access.others === 'unauthenticated' ? unauthenticated(message) : forbidden(message);
}

export const scopesOf = (access: Guarded): readonly Scope[] =>
  access.scope === null ? [] : typeof access.scope === 'string' ? [access.scope] : access.scope.anyOf;

/** With a workspace, the scope must be held in it; without one, somewhere, and the handler shows only what lies there. */
export function requireScope(access: Guarded, caller: Caller, workspace: NamedWorkspace | null): void {
  const scopes = scopesOf(access);
  if (scopes.length === 0) return;
  const held = scopes.some((scope) =>
    access.level === 'organisation'
      ? mayInOrganisation(caller, scope)
      : workspace
        ? mayInWorkspace(caller, scope, workspace.id)
        : maySomewhere(caller, scope),
  );
  if (!held && !(access.emptyForNewcomers && workspace === null && belongsNowhere(caller)))
    throw forbidden(
      `This call needs the scope ${scopes.join(' or ')}${workspace ? ` in workspace ${workspace.slug}` : ''}`,
    );
}

const belongsNowhere = (caller: Caller): boolean =>
  caller.kind === 'session' && caller.rights.everyWorkspace === null && caller.rights.workspaces.size === 0;
