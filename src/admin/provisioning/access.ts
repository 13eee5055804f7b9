/** Who may touch integrations and servers: those of the organisation and those of a workspace have scopes of their own. */
import type { ExpressionBuilder } from 'kysely';
import { ApiError, forbidden, invalid, notFound } from '../../http/errors.ts';
import { type Caller, mayInOrganisation, mayInWorkspace, workspacesWith } from '../../identity/caller.ts';
import type { Scope } from '../../identity/scopes.ts';
import type { Change } from '../../store/changes.ts';
import type { Db } from '../../store/database.ts';
import type { Schema } from '../../store/schema.ts';
import type { NamedWorkspace } from '../kernel/endpoint.ts';
import { holdsInAnyCase, oneHoldsInAnyCase } from '../kernel/lists/list-queries.ts';
import type { Family } from './family.ts';
import type { IntegrationFilters, ServerFilters } from './schema.ts';

export type Action = 'create' | 'read' | 'update' | 'delete' | 'list';

export const everyCaller = ['admin-key', 'workspace-key', 'user-key', 'session'] as const;

const scopesOf = <const F extends Family['scope'], const A extends Action>(family: F, action: A) =>
  [`organisation_${family}_integrations.${action}`, `workspace_${family}_integrations.${action}`] as const;

/** One of the two families of scopes must be held, and the handler asks for the right one. */
export const integrationAccess = ({ scope }: Family, action: Action) => ({
  callers: everyCaller,
  scope: { anyOf: scopesOf(scope, action) },
  level: 'workspace' as const,
});

/** Those who run the organisation hand its integrations out. */
export const organisationAccess = ({ scope }: Family, action: 'read' | 'update') => ({
  callers: ['admin-key', 'session'] as const,
  scope: `organisation_${scope}_integrations.${action}` as const,
  level: 'organisation' as const,
});

export const serverAccess = ({ scope }: Family, action: Action) => ({
  callers: everyCaller,
  scope: `${scope}_servers.${action}` as const,
  level: 'workspace' as const,
});

function requireIntegrationScope(
  { word, scope: name }: Family,
  caller: Caller,
  workspaceId: string | null,
  action: Action,
): void {
  const [ofOrganisation, ofWorkspace] = scopesOf(name, action);
  const scope: Scope = workspaceId === null ? ofOrganisation : ofWorkspace;
  const held = workspaceId === null ? mayInOrganisation(caller, scope) : mayInWorkspace(caller, scope, workspaceId);
  if (held) return;
  const article = word === 'MCP' ? 'An MCP' : 'An agent';
  throw forbidden(
    workspaceId === null
      ? `${article} integration of the organisation needs the scope ${scope}, which keys of a workspace cannot hold`
      : `${article} integration of a workspace needs the scope ${scope} there`,
  );
}

/** The integration that was looked for, if the caller may do this to it. */
export function reached<Row extends { workspace_id: string | null }>(
  family: Family,
  caller: Caller,
  row: Row | undefined,
  action: Action,
): Row {
  if (!row) throw notFound(`${family.word} integration`);
  requireIntegrationScope(family, caller, row.workspace_id, action);
  return row;
}

/** Only what belongs to the organisation is handed to workspaces. */
export function requireOfOrganisation({ word }: Family, row: { workspace_id: string | null }): void {
  if (row.workspace_id === null) return;
  throw new ApiError(
    'AB01',
    `This ${word} integration belongs to one workspace; only those of the organisation are handed out`,
  );
}

/** The workspace that a new integration goes to; null: the organisation. */
export function placeFor(family: Family, caller: Caller, workspace: NamedWorkspace | null): string | null {
  if (workspace?.status === 'archived') {
    throw invalid('workspace_id', 'names an archived workspace, which takes no new integrations');
  }
  const workspaceId = workspace?.id ?? null;
  requireIntegrationScope(family, caller, workspaceId, 'create');
  return workspaceId;
}

/** Who must forget what they know: the workspace of the integration, or every workspace of the organisation. */
export const catalogChange = (row: { organisation_id: string; workspace_id: string | null }): Change => ({
  topic: 'catalog',
  id: row.workspace_id ?? row.organisation_id,
});

type Integrations = ExpressionBuilder<Schema, Family['integrations']>;
type Servers = ExpressionBuilder<Schema, Family['servers']>;

/** The condition under which an integration is on the list that a caller asks for. */
export function shownIntegrations(
  family: Family,
  caller: Caller,
  workspace: NamedWorkspace | null,
  { type, search }: IntegrationFilters,
) {
  const [handedScope, ownScope] = scopesOf(family.scope, 'list');
  const own = visible(caller, workspace, ownScope);
  const handed = visible(caller, workspace, handedScope);
  return (eb: Integrations) =>
    eb.and([
      eb('organisation_id', '=', caller.organisationId),
      eb('status', '=', 'active'),
      eb.or([
        ...(type === 'organisation' ? [] : ofWorkspaces(eb, own)),
        ...(type === 'workspace' ? [] : ofOrganisation(family, eb, handed)),
      ]),
      ...(search ? [holdsInAnyCase(eb.ref('name'), search)] : []),
    ]);
}

/** The condition under which a server is on the list that a caller asks for. */
export function shownServers(
  { scope }: Family,
  caller: Caller,
  workspace: NamedWorkspace | null,
  { id, search }: ServerFilters,
) {
  const workspaces = workspace ? [workspace.id] : workspacesWith(caller, `${scope}_servers.list`);
  return (eb: Servers) =>
    eb.and([
      eb('organisation_id', '=', caller.organisationId),
      eb('status', '=', 'active'),
      ...(workspaces === 'all' ? [] : [workspaces.length > 0 ? eb('workspace_id', 'in', workspaces) : eb.or([])]),
      ...(id ? [eb.or([eb('id', 'in', id), eb('slug', 'in', id)])] : []),
      ...(search ? [oneHoldsInAnyCase(search, eb.ref('name'), eb.ref('slug'))] : []),
    ]);
}

/** The condition that an active integration of the organisation goes by this id or slug. */
export const isNamed = (organisationId: string, reference: string) => (eb: Integrations) =>
  eb.and([
    eb('organisation_id', '=', organisationId),
    eb.or([eb('slug', '=', reference), eb('id', '=', reference)]),
    eb('status', '=', 'active'),
  ]);

/** The workspaces through which the caller looks; `'all'` only where no workspace is named. */
function visible(caller: Caller, workspace: NamedWorkspace | null, scope: Scope): 'all' | string[] {
  if (!workspace) return workspacesWith(caller, scope);
  return mayInWorkspace(caller, scope, workspace.id) ? [workspace.id] : [];
}

function ofWorkspaces(eb: Integrations, workspaces: 'all' | string[]) {
  if (workspaces === 'all') return [eb('workspace_id', 'is not', null)];
  return workspaces.length > 0 ? [eb('workspace_id', 'in', workspaces)] : [];
}

function ofOrganisation({ integrations, grants }: Family, eb: Integrations, workspaces: 'all' | string[]) {
  const own = eb('workspace_id', 'is', null);
  if (workspaces === 'all') return [own];
  if (workspaces.length === 0) return [];
  const handed = eb.exists(
    eb
      .selectFrom(grants)
      .select('integration_id')
      .whereRef(`${grants}.integration_id`, '=', `${integrations}.id`)
      .where(`${grants}.workspace_id`, 'in', workspaces)
      .where(`${grants}.enabled`, '=', 1),
  );
  return [eb.and([own, handed])];
}

/** The server of the caller's organisation that `reference` (id or slug) names, if the caller may do this to it. */
export async function reachServerRow(
  family: Family,
  db: Db,
  caller: Caller,
  workspace: NamedWorkspace | null,
  reference: string,
  action: Action,
  scope: Scope = `${family.scope}_servers.${action}`,
) {
  const missing = notFound(`${family.word} server`);
  const server = await db
    .selectFrom(family.servers)
    .selectAll()
    .where('organisation_id', '=', caller.organisationId)
    .where((eb) => eb.or([eb('id', '=', reference), eb('slug', '=', reference)]))
    .where('status', '=', 'active')
    .executeTakeFirst();
  if (!server || (workspace && server.workspace_id !== workspace.id)) throw missing;
  if (!mayInWorkspace(caller, scope, server.workspace_id)) {
    // Whoever cannot even read there is not told that it exists.
    if (!mayInWorkspace(caller, `${family.scope}_servers.read`, server.workspace_id)) throw missing;
    throw forbidden(`This call needs the scope ${scope} in the workspace of the server`);
  }
  return server;
}

export function requireActiveWorkspace(workspace: NamedWorkspace | null): NamedWorkspace {
  if (!workspace) throw invalid('workspace_id', 'is required: name the workspace by its id or slug');
  if (workspace.status === 'archived') throw invalid('workspace_id', 'names an archived workspace');
  return workspace;
}
