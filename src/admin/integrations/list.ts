/** Listing integrations: those of the workspaces that the caller may look into, and those that the organisation hands to them. */
import type { ExpressionBuilder } from 'kysely';
import { type Caller, mayInWorkspace, workspacesWith } from '../../identity/caller.ts';
import type { Scope } from '../../identity/scopes.ts';
import type { Db } from '../../store/database.ts';
import type { Schema } from '../../store/schema.ts';
import { endpoint, type NamedWorkspace } from '../kernel/endpoint.ts';
import { newestFirst, oneHoldsInAnyCase } from '../kernel/lists/list-queries.ts';
import { asList, listOf } from '../kernel/lists/paging.ts';
import { integrationAccess } from './access.ts';
import { asListed } from './record.ts';
import { type IntegrationFilters, integrationFilters, listedIntegration } from './schema.ts';
import { carries, readTagsQuery } from './tags.ts';

export const listIntegrations = endpoint({
  method: 'GET',
  path: '/integrations',
  tag: 'Integrations',
  summary: 'List integrations, newest first',
  description: 'A key of a workspace sees what its workspace can use: its own integrations and those handed to it.',
  access: integrationAccess('list'),
  query: integrationFilters,
  paging: { size: 100, max: 1000 },
  reply: () => listOf(listedIntegration()),
  async handle({ caller, workspace, query, page, db }) {
    const matches = matching(db, caller, workspace, query);
    const { rows, total } = await newestFirst(matches, page);
    return asList(rows.map(asListed), total);
  },
});

function matching(db: Db, caller: Caller, workspace: NamedWorkspace | null, query: IntegrationFilters) {
  const { type, ai_provider_id, search } = query;
  const tags = readTagsQuery(query.tags);
  let matches = db
    .selectFrom('integrations')
    .where('organisation_id', '=', caller.organisationId)
    .where('status', '=', 'active')
    .where((eb) =>
      eb.or([
        ...(type === 'organisation' ? [] : ofWorkspaces(eb, visible(caller, workspace, 'workspace_integrations.list'))),
        ...(type === 'workspace'
          ? []
          : ofOrganisation(eb, visible(caller, workspace, 'organisation_integrations.list'))),
      ]),
    );
  if (ai_provider_id) matches = matches.where('ai_provider_id', '=', ai_provider_id);
  for (const pair of tags) matches = matches.where(carries(pair));
  if (search) {
    matches = matches.where((eb) => oneHoldsInAnyCase(search, eb.ref('name'), eb.ref('slug')));
  }
  return matches;
}

/** The workspaces through which the caller looks; `'all'` only where no workspace is named. */
function visible(caller: Caller, workspace: NamedWorkspace | null, scope: Scope): 'all' | string[] {
  if (!workspace) return workspacesWith(caller, scope);
  return mayInWorkspace(caller, scope, workspace.id) ? [workspace.id] : [];
}

type Integrations = ExpressionBuilder<Schema, 'integrations'>;

function ofWorkspaces(eb: Integrations, workspaces: 'all' | string[]) {
  if (workspaces === 'all') return [eb('workspace_id', 'is not', null)];
  return workspaces.length > 0 ? [eb('workspace_id', 'in', workspaces)] : [];
}

function ofOrganisation(eb: Integrations, workspaces: 'all' | string[]) {
  const own = eb('workspace_id', 'is', null);
  if (workspaces === 'all') return [own];
  if (workspaces.length === 0) return [];
  const handed = eb.exists(
    eb
      .selectFrom('integration_workspaces as grant')
      .select('grant.integration_id')
      .whereRef('grant.integration_id', '=', 'integrations.id')
      .where('grant.workspace_id', 'in', workspaces)
      .where('grant.enabled', '=', 1),
  );
  return [eb.and([own, handed])];
}
