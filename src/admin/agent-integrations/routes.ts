/** Agent integrations: agents that the organisation or a workspace has registered. */
import { actorId } from '../../identity/caller.ts';
import type { AgentIntegrationTable } from '../../store/tables/agents.ts';
import { workspaceQuery } from '../integrations/schema.ts';
import { endpoint, type Resource } from '../kernel/endpoint.ts';
import { empty } from '../kernel/fields.ts';
import { newestFirst } from '../kernel/lists/list-queries.ts';
import { sentFields } from '../kernel/validate.ts';
import { integrationAccess, placeFor, shownIntegrations } from '../provisioning/access.ts';
import { agentFamily } from '../provisioning/family.ts';
import { archiveIntegrations, ensureServer } from '../provisioning/grants.ts';
import {
  changedColumns,
  listedIntegrations,
  newIntegrationColumns,
  recordIntegrationChange,
  settingsToStore,
} from '../provisioning/integrations.ts';
import { created, integrationFilters } from '../provisioning/schema.ts';
import { reachAgentIntegration } from './access.ts';
import { cardEndpoints } from './card-routes.ts';
import { agentBase, checkAgentSettings } from './configurations.ts';
import { asAgentIntegration } from './record.ts';
import {
  agentIntegrationPath,
  agentIntegrationRecord,
  agentIntegrationUpdate,
  changeableFields,
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
  reply: created,
  async handle(call) {
    const { caller, workspace, body, db, now, services } = call;
    const workspaceId = placeFor(agentFamily, caller, workspace);
    const url = agentBase(body.url);
    const owner = { organisationId: caller.organisationId, workspaceId };
    const stored = await settingsToStore(agentFamily, call, owner, body, null, (settings, mapped) =>
      checkAgentSettings(settings, { url, authType: body.auth_type, mapped }, services.settings.trustedHosts),
    );
    const row: AgentIntegrationTable = {
      ...(await newIntegrationColumns(agentFamily, call, workspaceId, body)),
      ...stored,
      url,
      protocol: body.protocol,
      auth_type: body.auth_type,
      agent_card: null,
      card_digest: null,
      card_status: 'pending',
      card_fetched_at: null,
      card_error: null,
    };
    await db.insertInto('agent_integrations').values(row).execute();
    if (workspaceId !== null) await ensureServer(agentFamily, db, now, row, workspaceId, actorId(caller));
    recordIntegrationChange(call, row, { url, auth_type: row.auth_type });
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
  query: integrationFilters,
  paging: { size: 100, max: 1000 },
  reply: listedAgentIntegrations,
  async handle({ caller, workspace, query, page, db, services }) {
    const matches = db.selectFrom('agent_integrations').where(shownIntegrations(agentFamily, caller, workspace, query));
    const listed = await newestFirst(matches, page);
    return listedIntegrations(agentFamily, db, listed, page, (row) => asAgentIntegration(row, services.vault));
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
  async handle(call) {
    const { caller, params, body, db, now, services } = call;
    const row = await reachAgentIntegration(db, caller, params.agentIntegration, 'update');
    const fields = sentFields(body, changeableFields());
    const url = body.url === undefined ? row.url : agentBase(body.url);
    const authType = body.auth_type ?? row.auth_type;
    const owner = { organisationId: row.organisation_id, workspaceId: row.workspace_id };
    const stored = await settingsToStore(agentFamily, call, owner, body, row, (settings, mapped) =>
      checkAgentSettings(settings, { url, authType, mapped }, services.settings.trustedHosts),
    );
    const columns: Partial<AgentIntegrationTable> = {
      ...changedColumns(body, now),
      ...stored,
      url,
      auth_type: authType,
      ...((authType !== row.auth_type || body.configurations) && { card_status: 'pending' as const }),
      // The card of another agent says nothing of this one.
      ...(url !== row.url && { card_status: 'pending' as const, agent_card: null, card_digest: null }),
    };
    await db.updateTable('agent_integrations').set(columns).where('id', '=', row.id).execute();
    recordIntegrationChange(call, row, { fields });
    return { success: true as const, ...asAgentIntegration({ ...row, ...columns }, services.vault) };
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
  async handle(call) {
    const { caller, params, db, now } = call;
    const row = await reachAgentIntegration(db, caller, params.agentIntegration, 'delete');
    await archiveIntegrations(agentFamily, db, now, [row.id]);
    recordIntegrationChange(call, row, { name: row.name });
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
