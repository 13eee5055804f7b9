/** Providers: integrations as one workspace uses them, each with limits of its own. */
import { conflict, forbidden, notFound } from '../../http/errors.ts';
import { actorId, type Caller } from '../../identity/caller.ts';
import type { Change } from '../../store/changes.ts';
import type { Db } from '../../store/database.ts';
import { encode } from '../../store/json.ts';
import type { IntegrationTable } from '../../store/tables/catalog.ts';
import { findIntegration } from '../integrations/access.ts';
import { workspaceQuery } from '../integrations/schema.ts';
import { storedMappings } from '../integrations/secret-mappings.ts';
import { isProviderSlugTaken, newProviderSlug } from '../integrations/slugs.ts';
import { readTagsQuery } from '../integrations/tags.ts';
import { type Dependant, endpoint, type Resource } from '../kernel/endpoint.ts';
import { empty } from '../kernel/fields.ts';
import { countOf } from '../kernel/lists/list-queries.ts';
import { asList, listOf } from '../kernel/lists/paging.ts';
import { sentFields } from '../kernel/validate.ts';
import { providerAccess, reachProvider, requireActiveWorkspace, requireWorkspace } from './access.ts';
import { insertProvider } from './insert.ts';
import { appliedLimits } from './limits.ts';
import { pageOfPairs } from './pairs.ts';
import { asProviderRecord } from './record.ts';
import {
  changeableFields,
  newProvider,
  providerFilters,
  providerPath,
  providerRecord,
  providerUpdate,
  savedProvider,
} from './schema.ts';

const tag = 'Providers';

const createProvider = endpoint({
  method: 'POST',
  path: '/providers',
  tag,
  summary: 'Make a provider in a workspace from an integration',
  access: providerAccess('create'),
  audit: { resource: 'provider', action: 'create' },
  body: newProvider,
  reply: savedProvider,
  async handle({ caller, workspace, body, db, now, changed, note }) {
    const { id: workspaceId } = requireActiveWorkspace(workspace);
    const integration = await usableIntegration(db, caller, workspaceId, body.integration_id);
    const slug = body.slug ?? newProviderSlug(body.name);
    if (await isProviderSlugTaken(db, workspaceId, slug)) {
      throw conflict(`The slug ${slug} is taken by another provider of the workspace, perhaps a deleted one`);
    }
    const limits = appliedLimits(body, null, now);
    const owner = { organisationId: caller.organisationId, workspaceId };
    const secretMappings = await storedMappings(db, owner, body.secret_mappings ?? []);
    const id = await insertProvider(db, now, {
      organisationId: caller.organisationId,
      workspaceId,
      integrationId: integration.id,
      slug,
      name: body.name,
      note: body.note || null,
      limits,
      tags: body.tags ?? null,
      secretMappings,
      createdBy: actorId(caller),
    });
    changed({ topic: 'catalog', id: workspaceId });
    note({ resourceId: id, details: { slug, integration: integration.slug } });
    return { object: 'provider' as const, id, slug };
  },
});

/** The integration, if the workspace may use it: its own, or one that the organisation handed to it. */
async function usableIntegration(
  db: Db,
  caller: Caller,
  workspaceId: string,
  reference: string,
): Promise<IntegrationTable> {
  const integration = await findIntegration(db, caller.organisationId, reference);
  if (!integration) throw notFound('integration');
  if (integration.workspace_id === workspaceId) return integration;
  const grant = await db
    .selectFrom('integration_workspaces')
    .select('enabled')
    .where('integration_id', '=', integration.id)
    .where('workspace_id', '=', workspaceId)
    .executeTakeFirst();
  if (grant?.enabled !== 1) throw forbidden('This integration is not enabled for the workspace');
  return integration;
}

const listProviders = endpoint({
  method: 'GET',
  path: '/providers',
  tag,
  summary: 'List the providers of a workspace, newest first',
  access: providerAccess('list'),
  query: providerFilters,
  paging: { size: 50, max: 1000 },
  reply: () => listOf(providerRecord()),
  async handle({ caller, workspace, query, page, db, now, services }) {
    const { organisationId } = caller;
    const { id } = requireWorkspace(workspace);
    const choice = { organisationId, workspaces: [id], tags: readTagsQuery(query.tags), search: query.search };
    const { pairs, total } = await pageOfPairs(db, choice, page);
    return asList(
      pairs.map((pair) => asProviderRecord(services.vault, now, pair)),
      total,
    );
  },
});

const readProvider = endpoint({
  method: 'GET',
  path: '/providers/:provider',
  tag,
  summary: 'Read a provider',
  access: providerAccess('read'),
  params: providerPath,
  query: workspaceQuery,
  reply: providerRecord,
  async handle({ caller, workspace, params, db, now, services }) {
    await services.limits.flush();
    const pair = await reachProvider(db, caller, requireWorkspace(workspace), params.provider, 'read');
    return asProviderRecord(services.vault, now, pair);
  },
});

const updateProvider = endpoint({
  method: 'PUT',
  path: '/providers/:provider',
  tag,
  summary: 'Change a provider; what is left out stays as it is',
  access: providerAccess('update'),
  audit: { resource: 'provider', action: 'update' },
  params: providerPath,
  query: workspaceQuery,
  body: providerUpdate,
  reply: savedProvider,
  async handle({ caller, workspace, params, body, db, now, changed, note }) {
    const { provider } = await reachProvider(db, caller, requireWorkspace(workspace), params.provider, 'update');
    const fields = sentFields(body, changeableFields());
    const owner = { organisationId: provider.organisation_id, workspaceId: provider.workspace_id };
    const mappings =
      body.secret_mappings === undefined ? undefined : await storedMappings(db, owner, body.secret_mappings ?? []);
    await db
      .updateTable('providers')
      .set({
        ...(body.name !== undefined && { name: body.name }),
        ...(body.note !== undefined && { note: body.note || null }),
        ...(body.tags !== undefined && { tags: body.tags && encode(body.tags) }),
        ...(mappings && { secret_mappings: encode(mappings) }),
        ...appliedLimits(body, provider, now),
        last_updated_at: now.toISOString(),
      })
      .where('id', '=', provider.id)
      .execute();
    changed({ topic: 'catalog', id: provider.workspace_id });
    note({ resourceId: provider.id, details: { slug: provider.slug, fields } });
    return { object: 'provider' as const, id: provider.id, slug: provider.slug };
  },
});

const deleteProvider = endpoint({
  method: 'DELETE',
  path: '/providers/:provider',
  tag,
  summary: 'Delete a provider; its integration stays',
  access: providerAccess('delete'),
  audit: { resource: 'provider', action: 'delete' },
  params: providerPath,
  query: workspaceQuery,
  reply: empty,
  async handle({ caller, workspace, params, db, now, changed, note }) {
    const { provider } = await reachProvider(db, caller, requireWorkspace(workspace), params.provider, 'delete');
    await db
      .updateTable('providers')
      .set({ status: 'archived', next_usage_reset_at: null, last_updated_at: now.toISOString() })
      .where('id', '=', provider.id)
      .execute();
    changed({ topic: 'catalog', id: provider.workspace_id });
    note({ resourceId: provider.id, details: { slug: provider.slug, name: provider.name } });
    return {};
  },
});

const live = ['active', 'exhausted', 'expired'] as const;

const providersOfWorkspace: Dependant = {
  kind: 'providers',
  // Every workspace has a sandbox from its beginning; nobody misses it.
  count: (db, workspaceId) =>
    countOf(
      db
        .selectFrom('providers')
        .innerJoin('integrations as integration', 'integration.id', 'providers.integration_id')
        .where('providers.workspace_id', '=', workspaceId)
        .where('providers.status', 'in', live)
        .where('integration.ai_provider_id', '!=', 'sandbox'),
    ),
  async remove(db, workspaceId, now): Promise<Change[]> {
    await db
      .updateTable('providers')
      .set({ status: 'archived', next_usage_reset_at: null, last_updated_at: now.toISOString() })
      .where('workspace_id', '=', workspaceId)
      .where('status', 'in', live)
      .execute();
    return [{ topic: 'catalog', id: workspaceId }];
  },
};

export const providersResource: Resource = {
  name: 'providers',
  savesAddresses: true,
  endpoints: [createProvider, listProviders, readProvider, updateProvider, deleteProvider],
  dependants: [providersOfWorkspace],
};
