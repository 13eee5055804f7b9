/** Agent integrations: agents that the organisation or a workspace has registered. */
import { conflict } from '../../http/errors.ts';
import { actorId } from '../../identity/caller.ts';
import { decode, encode } from '../../store/json.ts';
import type { AgentIntegrationTable } from '../../store/tables/agents.ts';
import { workspaceQuery } from '../integrations/schema.ts';
import { storedMappings } from '../integrations/secret-mappings.ts';
import { endpoint, type Resource } from '../kernel/endpoint.ts';
import { empty } from '../kernel/fields.ts';
import { holdsInAnyCase, newestFirst } from '../kernel/lists/list-queries.ts';
import { sentFields } from '../kernel/validate.ts';
import { requireGuardrailsIn } from '../mcp-servers/guardrails.ts';
import { catalogChange, integrationAccess, placeFor, shownIntegrations } from '../provisioning/access.ts';
import { agentFamily } from '../provisioning/family.ts';
import { archiveIntegrations, ensureServer, grantCounts } from '../provisioning/grants.ts';
import { isIntegrationSlugTaken, newIntegrationSlug } from '../provisioning/slugs.ts';
import { reachAgentIntegration } from './access.ts';
import { cardEndpoints } from './card-routes.ts';
import { agentBase, savedAgentSettings } from './configurations.ts';
import { asAgentIntegration } from './record.ts';
import {
  agentIntegrationFilters,
  agentIntegrationPath,
  agentIntegrationRecord,
  agentIntegrationUpdate,
  changeableFields,
  createdAgentIntegration,
  listedAgentIntegrations,
  newAgentIntegration,
  updatedAgentIntegration,
} from './schema.ts';
import { skillEndpoints } from './skills-routes.ts';
import { workspaceEndpoints } from './workspaces-routes.ts';

const tag = 'Agent integrations';

const createAgentIntegration = endpoint({
  method: 'POST',
  path: '/agent-integrations',
  tag,
  summary: 'Register an agent',
  description:
    'Without workspace_id it belongs to the organisation and is handed to workspaces by PUT /agent-integrations/{id}/workspaces. With it, it belongs to that workspace and comes with a server there. Its card is fetched within seconds.',
  access: integrationAccess(agentFamily, 'create'),
  audit: { resource: 'agent_integration', action: 'create' },
  body: newAgentIntegration,
  reply: createdAgentIntegration,
  async handle({ caller, workspace, body, db, now, services, changed, note }) {
    const { vault, settings } = services;
    const workspaceId = placeFor(agentFamily, caller, workspace);
    const { organisationId } = caller;
    const url = agentBase(body.url);
    const mappings = await storedMappings(db, { organisationId, workspaceId }, body.secret_mappings ?? []);
    const target = { url, authType: body.auth_type, mapped: mappings };
    const sealed = savedAgentSettings(vault, body.configurations ?? {}, null, target, settings.trustedHosts);
    const place = { db, guardrails: services.guardrails, organisationId, workspaceId };
    await requireGuardrailsIn(place, body.configurations ?? {});
    if (body.slug && (await isIntegrationSlugTaken(agentFamily, db, organisationId, body.slug))) {
      throw conflict(`The slug ${body.slug} is taken by another agent integration, perhaps a deleted one`);
    }
    const at = now.toISOString();
    const row: AgentIntegrationTable = {
      id: Bun.randomUUIDv7(),
      organisation_id: organisationId,
      workspace_id: workspaceId,
      slug: body.slug ?? (await newIntegrationSlug(agentFamily, db, organisationId, body.name)),
      name: body.name,
      description: body.description || null,
      status: 'active',
      url,
      protocol: body.protocol,
      auth_type: body.auth_type,
      configurations_sealed: sealed,
      secret_mappings: encode(mappings),
      global_workspace_access: null,
      agent_card: null,
      card_digest: null,
      card_status: 'pending',
      card_fetched_at: null,
      card_error: null,
      created_by: actorId(caller),
      created_at: at,
      last_updated_at: at,
    };
    await db.insertInto('agent_integrations').values(row).execute();
    if (workspaceId !== null) await ensureServer(agentFamily, db, now, row, workspaceId, actorId(caller));
    changed(catalogChange(row));
    note({
      resourceId: row.id,
      ...(workspaceId !== null && { workspaceId }),
      details: { slug: row.slug, url, auth_type: row.auth_type },
    });
    return { id: row.id, slug: row.slug };
  },
});

const listAgentIntegrations = endpoint({
  method: 'GET',
  path: '/agent-integrations',
  tag,
  summary: 'List agent integrations, newest first',
  description: 'A key of a workspace sees what its workspace can use: its own integrations and those handed to it.',
  access: integrationAccess(agentFamily, 'list'),
  query: agentIntegrationFilters,
  paging: { size: 100, max: 1000 },
  reply: listedAgentIntegrations,
  async handle({ caller, workspace, query, page, db, services }) {
    const { search } = query;
    const shown = db
      .selectFrom('agent_integrations')
      .where('organisation_id', '=', caller.organisationId)
      .where('status', '=', 'active')
      .where(shownIntegrations(agentFamily, caller, workspace, query));
    const matches = search ? shown.where((eb) => holdsInAnyCase(eb.ref('name'), search)) : shown;
    const { rows, total } = await newestFirst(matches, page);
    const counts = await grantCounts(
      agentFamily,
      db,
      rows.map(({ id }) => id),
    );
    return {
      data: rows.map((row) => ({
        ...asAgentIntegration(row, services.vault),
        workspaces_count: row.workspace_id === null ? (counts.get(row.id) ?? 0) : 1,
      })),
      total,
      has_more: page.offset + rows.length < total,
    };
  },
});

const readAgentIntegration = endpoint({
  method: 'GET',
  path: '/agent-integrations/:agentIntegration',
  tag,
  summary: 'Read an agent integration; its credentials are masked',
  access: integrationAccess(agentFamily, 'read'),
  params: agentIntegrationPath,
  query: workspaceQuery,
  reply: agentIntegrationRecord,
  async handle({ caller, params, db, services }) {
    return asAgentIntegration(await reachAgentIntegration(db, caller, params.agentIntegration, 'read'), services.vault);
  },
});

const updateAgentIntegration = endpoint({
  method: 'PUT',
  path: '/agent-integrations/:agentIntegration',
  tag,
  summary: 'Change an agent integration; what is left out stays as it is',
  access: integrationAccess(agentFamily, 'update'),
  audit: { resource: 'agent_integration', action: 'update' },
  params: agentIntegrationPath,
  query: workspaceQuery,
  body: agentIntegrationUpdate,
  reply: updatedAgentIntegration,
  async handle({ caller, params, body, db, now, services, changed, note }) {
    const row = await reachAgentIntegration(db, caller, params.agentIntegration, 'update');
    const fields = sentFields(body, changeableFields());
    const { vault, settings } = services;
    const url = body.url === undefined ? row.url : agentBase(body.url);
    const authType = body.auth_type ?? row.auth_type;
    const { organisation_id: organisationId, workspace_id: workspaceId } = row;
    const mapped =
      body.secret_mappings === undefined
        ? decode(row.secret_mappings)
        : await storedMappings(db, { organisationId, workspaceId }, body.secret_mappings ?? []);
    const sealed = savedAgentSettings(
      vault,
      body.configurations ?? {},
      row.configurations_sealed,
      { url, authType, mapped },
      settings.trustedHosts,
    );
    const place = { db, guardrails: services.guardrails, organisationId, workspaceId };
    await requireGuardrailsIn(place, body.configurations ?? {});
    const columns: Partial<AgentIntegrationTable> = {
      url,
      auth_type: authType,
      configurations_sealed: sealed,
      last_updated_at: now.toISOString(),
      ...(body.name !== undefined && { name: body.name }),
      ...(body.description !== undefined && { description: body.description || null }),
      ...(body.secret_mappings !== undefined && { secret_mappings: encode(mapped) }),
      ...((authType !== row.auth_type || body.configurations) && { card_status: 'pending' as const }),
      // The card of another agent says nothing of this one.
      ...(url !== row.url && { card_status: 'pending' as const, agent_card: null, card_digest: null }),
    };
    await db.updateTable('agent_integrations').set(columns).where('id', '=', row.id).execute();
    changed(catalogChange(row));
    note({
      resourceId: row.id,
      ...(row.workspace_id !== null && { workspaceId: row.workspace_id }),
      details: { slug: row.slug, fields },
    });
    return { success: true as const, ...asAgentIntegration({ ...row, ...columns }, vault) };
  },
});

const deleteAgentIntegration = endpoint({
  method: 'DELETE',
  path: '/agent-integrations/:agentIntegration',
  tag,
  summary: 'Delete an agent integration together with its servers in every workspace',
  access: integrationAccess(agentFamily, 'delete'),
  audit: { resource: 'agent_integration', action: 'delete' },
  params: agentIntegrationPath,
  query: workspaceQuery,
  reply: empty,
  async handle({ caller, params, db, now, changed, note }) {
    const row = await reachAgentIntegration(db, caller, params.agentIntegration, 'delete');
    await archiveIntegrations(agentFamily, db, now, [row.id]);
    changed(catalogChange(row));
    note({
      resourceId: row.id,
      ...(row.workspace_id !== null && { workspaceId: row.workspace_id }),
      details: { slug: row.slug, name: row.name },
    });
    return {};
  },
});

export const agentIntegrationsResource: Resource = {
  name: 'agent-integrations',
  savesAddresses: true,
  endpoints: [
    createAgentIntegration,
    listAgentIntegrations,
    ...cardEndpoints,
    readAgentIntegration,
    updateAgentIntegration,
    deleteAgentIntegration,
    ...workspaceEndpoints,
    ...skillEndpoints,
  ],
};
