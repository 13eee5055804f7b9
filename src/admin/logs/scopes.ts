/** Which rows of the log store a caller may see, as scopes of a query: visibility is part of the question, never of the answer. */
import { ApiError, forbidden, notFound } from '../../http/errors.ts';
import { type Caller, mayInWorkspace, runsAll, workspacesWith } from '../../identity/caller.ts';
import type { Scope } from '../../identity/scopes.ts';
import type { LogScope } from '../../logs/query.ts';
import { LogStoreAway, QueryTimeout } from '../../logs/query.ts';
import type { Db } from '../../store/database.ts';
import type { NamedWorkspace } from '../kernel/endpoint.ts';
import { findWorkspace } from '../kernel/workspace-lock.ts';
import { type LogVisibility, logVisibility, organisationVisibility } from './visibility.ts';

export interface VisibleLogs {
  scopes: LogScope[];
  /** True where bodies may be seen in all of them. */
  bodies: boolean;
}

export interface LogQueryContext {
  db: Db;
  caller: Caller;
  /** The workspace that the call names by its id, or that the key is bound to. */
  workspace: NamedWorkspace | null;
  /** The workspace that it names by its slug. */
  slug: string | undefined;
  /** Any of them must be held. */
  needs: readonly Scope[];
  /** True where nothing but sums is shown. */
  sums?: boolean;
}

const hidden = () => forbidden('Your role may not see the logs of this workspace; ask an administrator');

export async function visibleLogs(asked: LogQueryContext): Promise<VisibleLogs> {
  const { db, caller, needs, sums = false } = asked;
  const workspace = await namedWorkspace(asked);
  if (workspace) {
    const visible = scopeOf(caller, workspace.id, await logVisibility(db, caller, workspace.id), sums);
    if (!visible) throw hidden();
    return { scopes: [visible.scope], bodies: visible.bodies };
  }
  if (runsAll(caller)) {
    const visible = scopeOf(caller, null, await organisationVisibility(db, caller), sums);
    if (!visible) throw hidden();
    return { scopes: [visible.scope], bodies: visible.bodies };
  }
  const places = needs.flatMap((scope) => workspacesWith(caller, scope));
  const found = await Promise.all(
    [...new Set(places)].map(async (id) => scopeOf(caller, id, await logVisibility(db, caller, id), sums)),
  );
  const visible = found.filter((one) => one !== null);
  if (visible.length === 0) throw hidden();
  return { scopes: visible.map(({ scope }) => scope), bodies: visible.every(({ bodies }) => bodies) };
}

function scopeOf(caller: Caller, workspaceId: string | null, { rows, bodies, counted }: LogVisibility, sums: boolean) {
  const seen = sums ? counted : rows;
  if (seen === 'none') return null;
  const userId = seen === 'own' ? caller.userId : null;
  return { scope: { workspaceId, userId }, bodies };
}

async function namedWorkspace({ db, caller, workspace, slug, needs }: LogQueryContext): Promise<NamedWorkspace | null> {
  if (!slug) return workspace;
  const named = await findWorkspace(db, caller.organisationId, slug);
  if (workspace && named?.id !== workspace.id) {
    throw forbidden('This call names two different workspaces, or another one than its key belongs to');
  }
  if (!named || (named.status === 'archived' && !runsAll(caller))) throw notFound('workspace');
  if (!needs.some((scope) => mayInWorkspace(caller, scope, named.id))) {
    throw forbidden(`This call needs the scope ${needs.join(' or ')} in workspace ${named.slug}`);
  }
  return named;
}

/** A query that was ended is told as such, since the caller may ask for less; and so is a store that is away. */
export async function inTime<T>(query: Promise<T>): Promise<T> {
  try {
    return await query;
  } catch (error) {
    const away = (message: string) => new ApiError('AB04', message, { status: 503, headers: { 'retry-after': '1' } });
    if (error instanceof QueryTimeout) {
      throw away(`${error.message} and was ended; ask for a shorter range or fewer rows`);
    }
    if (error instanceof LogStoreAway) throw away('The log store does not answer at the moment; try again');
    throw error;
  }
}
