/** Singulr. */
import { z } from 'zod';
import { listOf } from '../../providers/json.ts';
import { both } from '../checks/events.ts';
import { address, messagesOf, partnerCheck, secret, verdictOf, withoutSlash } from './partner.ts';

export const singulrGuard = partnerCheck({
  id: 'singulr.guard',
  title: 'Singulr guard',
  description: 'Asks a guardrail of Singulr about the conversation.',
  events: both,
  timeoutMs: 30_000,
  credentials: () => ({
    token: secret(),
    apiBase: address(),
    applicationId: z.string().min(1).max(255),
    guardrailId: z.string().min(1).max(255),
  }),
  parameters: () => ({}),
  example: {},
  answersWith: ['should_block'],
  onError: true,
  async run(asking, _, { token, apiBase, applicationId, guardrailId }) {
    const { context, ask } = asking;
    const answer = await ask(
      `${withoutSlash(apiBase)}/api/v1/ai-gateway/gw`,
      {
        input_type: context.isInput ? 'request' : 'response',
        request_data: {
          model: context.request.model,
          messages: messagesOf(asking).filter(({ role }) => context.isInput || role !== 'assistant'),
          tools: listOf(context.request.tools),
          ...(context.response && { model_response: context.response }),
        },
      },
      {
        'X-Singulr-Gateway-Token': token,
        'X-Singulr-Enforcement-Entity-Id': applicationId,
        'X-Singulr-Guardrail-Id': guardrailId,
      },
    );
    return verdictOf(answer.should_block !== true, 'Singulr', { blocking_due_to: answer.blocking_due_to ?? null });
  },
});
