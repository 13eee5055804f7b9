/** Asking agents for their cards: at an address that somebody typed in, or to try an integration out. */
import type { z } from 'zod';
import { withUrl } from '../../catalog/agents/card.ts';
import { type CardResult, keepCard } from '../../catalog/agents/cards.ts';
import { readAgentUpstream } from '../../catalog/agents/read.ts';
import { faultOfCustomHost } from '../../http/custom-host.ts';
import { ApiError, invalid } from '../../http/errors.ts';
import { workspaceQuery } from '../integrations/schema.ts';
import { type Call, endpoint } from '../kernel/endpoint.ts';
import { catalogChange, everyCaller, integrationAccess } from '../provisioning/access.ts';
import { agentFamily } from '../provisioning/family.ts';
import { reachAgentIntegration } from './access.ts';
import { agentBase } from './configurations.ts';
import { asAgentIntegration } from './record.ts';
import { agentCard, agentIntegrationPath, agentIntegrationRecord, cardQuestion, cardTestResult } from './schema.ts';

const tag = 'Agent integrations';

export const asCardTest = (url: string, result: CardResult): z.output<ReturnType<typeof cardTestResult>> => ({
  success: result.found,
  ...(result.statusCode !== null && { status_code: result.statusCode }),
  response_time_ms: result.responseTimeMs,
  url,
  agent_name: result.found ? String(result.card.name) : null,
  ...(!result.found && { error: result.error }),
});

type FoundCard = z.output<ReturnType<typeof agentCard>>;

/** The card as it came; a failure in the words of the catalogue. `badCard`: the status for what is no card. */
export function cardOrRefusal(result: CardResult, badCard: 400 | 422): FoundCard {
  if (result.found) return agentCard().parse(result.card);
  const { fault, error } = result;
  if (fault === 'timeout') throw new ApiError('AB04', `The agent: ${error}`, { status: 504 });
  if (fault === 'unreachable') throw new ApiError('AB04', `The agent: ${error}`, { status: 502 });
  if (fault === 'address') throw invalid('endpoint', error);
  throw new ApiError('AB01', `The agent card ${error}`, { status: badCard });
}

const fetchAgentCard = endpoint({
  method: 'POST',
  path: '/agent-integrations/fetch-agent-card',
  tag,
  summary: 'Fetch the card of an agent that is not registered yet',
  description:
    'Looks at .well-known/agent-card.json below the endpoint, then at .well-known/agent.json. The card must be a JSON object of at most 1 MB with a name and a url; a card of A2A 1.0 gets the url of its first interface.',
  access: {
    callers: everyCaller,
    scope: {
      anyOf: [
        'organisation_agent_integrations.create',
        'organisation_agent_integrations.update',
        'workspace_agent_integrations.create',
        'workspace_agent_integrations.update',
      ],
    },
    level: 'workspace',
  },
  audit: { resource: 'agent_integration', action: 'invoke' },
  atomic: false,
  throttle: 'sensitive',
  body: cardQuestion,
  reply: agentCard,
  async handle({ caller, body, commit, services, note }) {
    const endpointUrl = agentBase(body.endpoint ?? body.url ?? '');
    const fault = faultOfCustomHost(endpointUrl, services.settings.trustedHosts);
    if (fault) throw invalid('endpoint', fault);
    const result = await services.agents.at(endpointUrl, body.headers ?? {}, caller.organisationId);
    await commit(async () => note({ details: { endpoint: endpointUrl, success: result.found } }));
    return cardOrRefusal(result.found ? { ...result, card: withUrl(result.card) } : result, 400);
  },
});

/** Asks the agent of the integration for its card, and keeps it. */
async function fetchCard({ caller, params, db, commit, now, services, changed, note }: CardCall) {
  const row = await reachAgentIntegration(db, caller, params.agentIntegration, 'update');
  const result = await services.agents.of(await readAgentUpstream(db, row, services.vault), { fresh: true });
  await commit(async (tx) => {
    if (await keepCard(tx, now, row.id, result)) changed(catalogChange(row));
    note({ resourceId: row.id, details: { slug: row.slug, success: result.found } });
  });
  return { row, result };
}

type CardCall = Call<{ agentIntegration: string }, unknown, unknown>;

const testIntegration = endpoint({
  method: 'POST',
  path: '/agent-integrations/:agentIntegration/test',
  tag,
  summary: 'Try whether the agent of an integration hands out its card',
  access: integrationAccess(agentFamily, 'update'),
  audit: { resource: 'agent_integration', action: 'invoke' },
  atomic: false,
  params: agentIntegrationPath,
  query: workspaceQuery,
  reply: cardTestResult,
  async handle(call) {
    const { row, result } = await fetchCard(call);
    return asCardTest(row.url, result);
  },
});

const syncIntegration = endpoint({
  method: 'POST',
  path: '/agent-integrations/:agentIntegration/sync',
  tag,
  summary: 'Fetch the card of an agent integration anew, and its skills with it',
  access: integrationAccess(agentFamily, 'update'),
  audit: { resource: 'agent_integration', action: 'update' },
  atomic: false,
  params: agentIntegrationPath,
  query: workspaceQuery,
  reply: agentIntegrationRecord,
  async handle(call) {
    const { row } = await fetchCard(call);
    return asAgentIntegration(await reachAgentIntegration(call.db, call.caller, row.id, 'update'), call.services.vault);
  },
});

export const cardEndpoints = [fetchAgentCard, testIntegration, syncIntegration];
