/** What an agent can do, and which of it is switched off for the whole organisation. */
import { endpoint } from '../kernel/endpoint.ts';
import { catalogChange } from '../provisioning/access.ts';
import { succeeded } from '../provisioning/schema.ts';
import { reachAgentIntegration, skillsAccess } from './access.ts';
import { agentIntegrationPath, skillFilters, skillsList, skillsUpdate } from './schema.ts';
import { listSkills, namedSkills } from './skills.ts';

const tag = 'Agent integrations';
const path = '/agent-integrations/:agentIntegration/skills';

const listAll = endpoint({
  method: 'GET',
  path,
  tag,
  summary: 'List the skills that the card of an agent integration tells',
  access: skillsAccess('list'),
  params: agentIntegrationPath,
  query: skillFilters,
  paging: { size: 100, max: 500, first: 1 },
  reply: skillsList,
  async handle({ caller, params, query, page, db }) {
    const row = await reachAgentIntegration(db, caller, params.agentIntegration, 'read');
    return listSkills(db, row.id, query.search, page, null);
  },
});

const switchSome = endpoint({
  method: 'PUT',
  path,
  tag,
  summary: 'Switch skills of an agent integration on or off',
  description:
    'What is switched off is on no card, in no workspace, and a message that names it in its metadata is refused.',
  access: skillsAccess('update'),
  audit: { resource: 'agent_integration', action: 'update' },
  params: agentIntegrationPath,
  body: skillsUpdate,
  reply: succeeded,
  async handle({ caller, params, body, db, now, changed, note }) {
    const integration = await reachAgentIntegration(db, caller, params.agentIntegration, 'update');
    for (const { row, enabled } of await namedSkills(db, integration.id, body)) {
      await db
        .updateTable('agent_skills')
        .set({ enabled: enabled ? 1 : 0, last_updated_at: now.toISOString() })
        .where('integration_id', '=', integration.id)
        .where('skill_id', '=', row.skill_id)
        .execute();
    }
    changed(catalogChange(integration));
    note({ resourceId: integration.id, details: { slug: integration.slug, skills: body.skills } });
    return { success: true as const };
  },
});

export const skillEndpoints = [listAll, switchSome];
