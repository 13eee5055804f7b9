/** Aporia: the policies of a project. */
import { z } from 'zod';
import { both } from '../checks/events.ts';
import { messagesOf, partnerCheck, secret, verdictOf, withoutSlash } from './partner.ts';

/** Whoever else speaks, such as a tool, is another. */
const roles: ReadonlySet<string> = new Set(['system', 'user', 'assistant']);

export const aporiaValidate = partnerCheck({
  id: 'aporia.validateProject',
  title: 'Aporia project',
  description: 'Asks the policies of an Aporia project.',
  events: both,
  credentials: () => ({ apiKey: secret(), apiEndpoint: z.string().max(2_048).default('https://gr-prd.aporia.com') }),
  parameters: () => ({ projectID: z.string().min(1).max(255) }),
  example: { projectID: 'PROJECT' },
  onError: false,
  async run(asking, { projectID }, { apiKey, apiEndpoint }) {
    const { context, ask, text } = asking;
    const messages = messagesOf(asking)
      .filter(({ role }) => context.isInput || role !== 'assistant')
      .map(({ role, content }) => ({ role: roles.has(role) ? role : 'other', content }));
    const answer = await ask(
      `${withoutSlash(apiEndpoint)}/${encodeURIComponent(projectID)}/validate`,
      {
        messages,
        explain: true,
        validation_target: context.isInput ? 'prompt' : 'response',
        ...(!context.isInput && { response: text }),
      },
      { 'X-APORIA-API-KEY': apiKey },
    );
    return verdictOf(answer.action === 'passthrough', 'Aporia', {
      action: answer.action ?? null,
      revisedResponse: answer.revised_response ?? null,
      details: answer.policy_execution_result ?? null,
    });
  },
});
