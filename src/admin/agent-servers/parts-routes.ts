/** The parts of an agent server: its skills, who may use it, and its agent's card. */
import { keepCard } from '../../catalog/agents/cards.ts';
import { readAgentUpstream } from '../../catalog/agents/read.ts';
import { asCardTest, cardOrRefusal } from '../agent-integrations/card-routes.ts';
import { agentCard, cardTestResult, skillFilters, skillsList, skillsUpdate } from '../agent-integrations/schema.ts';
import { listSkills, namedSkills } from '../agent-integrations/skills.ts';
import { workspaceQuery } from '../integrations/schema.ts';
import { endpoint } from '../kernel/endpoint.ts';
import { catalogChange, serverAccess } from '../provisioning/access.ts';
import { agentFamily } from '../provisioning/family.ts';
import { succeeded, userAccessFilters, userAccessUpdate } from '../provisioning/schema.ts';
import { recordServerChange } from '../provisioning/servers.ts';
import { listUserAccessOf, setUserAccessOf } from '../provisioning/user-access.ts';
import { ofSkills, ofUserAccess, reachAgentServer } from './access.ts';
import { agentServerPath, agentUserAccessList } from './schema.ts';

const tag = 'Agent servers';

const readCard = endpoint({
  method: 'GET',
  path: '/agent-servers/:agentServer/agent-card',
  tag,
  summary: 'Read the card of the agent behind a server, as the agent gives it',
  description: 'It is asked for with the credentials of the integration, and kept for a minute.',
  access: serverAccess(agentFamily, 'read'),
  params: agentServerPath,
  query: workspaceQuery,
  reply: agentCard,
  async handle({ caller, workspace, params, db, services }) {
    const { integration } = await reachAgentServer(db, caller, workspace, params.agentServer, 'read');
    const result = await services.agents.of(await readAgentUpstream(db, integration, services.vault), { fresh: false });
    return cardOrRefusal(result, 422);
  },
});

const testServer = endpoint({
  method: 'POST',
  path: '/agent-servers/:agentServer/test',
  tag,
  summary: 'Try whether the agent behind a server hands out its card',
  access: serverAccess(agentFamily, 'update'),
  audit: { resource: 'agent_server', action: 'invoke' },
  atomic: false,
  params: agentServerPath,
  query: workspaceQuery,
  reply: cardTestResult,
  async handle({ caller, workspace, params, db, commit, now, services, changed, note }) {
    const { server, integration } = await reachAgentServer(db, caller, workspace, params.agentServer, 'update');
    const result = await services.agents.of(await readAgentUpstream(db, integration, services.vault), { fresh: true });
    await commit(async (tx) => {
      if (await keepCard(tx, now, integration.id, result)) changed(catalogChange(integration));
      note({
        resourceId: server.id,
        workspaceId: server.workspace_id,
        details: { slug: server.slug, success: result.found },
      });
    });
    return asCardTest(integration.url, result);
  },
});

const listSkillsOfServer = endpoint({
  method: 'GET',
  path: '/agent-servers/:agentServer/skills',
  tag,
  summary: 'List the skills of an agent server',
  description: 'A skill is on the card when it is enabled here and by its integration (integration_enabled).',
  access: ofSkills('list'),
  params: agentServerPath,
  query: skillFilters,
  paging: { size: 100, max: 500, first: 1 },
  reply: skillsList,
  async handle({ caller, workspace, params, query, page, db }) {
    const scope = 'agent_server_skills.list';
    const { server, integration } = await reachAgentServer(db, caller, workspace, params.agentServer, 'read', scope);
    const own = await db.selectFrom('agent_server_skills').selectAll().where('server_id', '=', server.id).execute();
    const switches = new Map(own.map((row) => [row.skill_id, row.enabled === 1]));
    return listSkills(db, integration.id, query.search, page, switches);
  },
});

const switchSkills = endpoint({
  method: 'PUT',
  path: '/agent-servers/:agentServer/skills',
  tag,
  summary: 'Switch skills of an agent server on or off',
  description: 'What the integration switches off stays off, whatever is stored here.',
  access: ofSkills('update'),
  audit: { resource: 'agent_server', action: 'update' },
  params: agentServerPath,
  body: skillsUpdate,
  reply: succeeded,
  async handle(call) {
    const { caller, workspace, params, body, db, now } = call;
    const scope = 'agent_server_skills.update';
    const { server, integration } = await reachAgentServer(db, caller, workspace, params.agentServer, 'update', scope);
    for (const { row, enabled } of await namedSkills(db, integration.id, body)) {
      const state = { enabled: enabled ? 1 : 0, last_updated_at: now.toISOString() } as const;
      await db
        .insertInto('agent_server_skills')
        .values({ server_id: server.id, skill_id: row.skill_id, ...state })
        .onConflict((conflict) => conflict.columns(['server_id', 'skill_id']).doUpdateSet(state))
        .execute();
    }
    recordServerChange(call, server, { skills: body.skills });
    return { success: true as const };
  },
});

const listUserAccess = endpoint({
  method: 'GET',
  path: '/agent-servers/:agentServer/user-access',
  tag,
  summary: 'List who of the workspace may use an agent server',
  access: ofUserAccess('list'),
  params: agentServerPath,
  query: userAccessFilters,
  paging: { size: 100, max: 500, first: 1 },
  reply: agentUserAccessList,
  async handle({ caller, workspace, params, query, page, db }) {
    const scope = 'agent_server_user_access.list';
    const { server } = await reachAgentServer(db, caller, workspace, params.agentServer, 'read', scope);
    return listUserAccessOf(agentFamily, db, server, query.search, page);
  },
});

const setUserAccess = endpoint({
  method: 'PUT',
  path: '/agent-servers/:agentServer/user-access',
  tag,
  summary: 'Allow or deny people the use of an agent server',
  access: ofUserAccess('update'),
  audit: { resource: 'agent_server', action: 'update' },
  params: agentServerPath,
  body: userAccessUpdate,
  reply: succeeded,
  async handle(call) {
    const { caller, workspace, params, body, db, now } = call;
    const scope = 'agent_server_user_access.update';
    const { server } = await reachAgentServer(db, caller, workspace, params.agentServer, 'update', scope);
    await setUserAccessOf(agentFamily, db, now, server, body);
    const { user_access, default_user_access } = body;
    recordServerChange(call, server, { user_access, default_user_access });
    return { success: true as const };
  },
});

export const partEndpoints = [readCard, testServer, listSkillsOfServer, switchSkills, listUserAccess, setUserAccess];
