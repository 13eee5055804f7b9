/** Cato Networks: AI firewall. */
import { z } from 'zod';
import { objectOf, objectsOf } from '../../providers/json.ts';
import { both } from '../checks/events.ts';
import { bearer, editsOf, messagesOf, partnerCheck, secret, verdictOf, withoutSlash } from './partner.ts';

export const catoAnalyze = partnerCheck({
  id: 'cato.analyze',
  title: 'Cato analysis',
  description: 'Asks the AI firewall of Cato Networks about the conversation.',
  events: both,
  transforms: true,
  credentials: () => ({
    apiKey: secret(),
    apiBase: z.string().max(2_048).default('https://api.aisec.catonetworks.com'),
  }),
  parameters: () => ({ userEmail: z.string().max(254).optional(), keyAlias: z.string().max(255).optional() }),
  example: { userEmail: 'ann@example.com' },
  // Where nothing is to be done, no action stands beside the analysis.
  answersWith: ['required_action', 'analysis_result', 'redacted_chat'],
  onError: true,
  async run(asking, { userEmail, keyAlias }, { apiKey, apiBase }) {
    const messages = messagesOf(asking);
    const answer = await asking.ask(
      `${withoutSlash(apiBase)}/fw/v1/analyze`,
      { messages },
      {
        ...bearer(apiKey),
        ...(userEmail && { 'x-cato-user-email': userEmail }),
        ...(keyAlias && { 'x-cato-gateway-key-alias': keyAlias }),
      },
    );
    const action = objectOf(answer.required_action).action_type;
    const result = verdictOf(action !== 'block_action', 'Cato', { action: action ?? null });
    if (action !== 'anonymize_action') return result;
    const redacted = objectsOf(objectOf(answer.redacted_chat).all_redacted_messages).at(-1)?.content;
    // The last message is the one that is looked at; where it has several parts they are replaced together.
    const texts = asking.context.segments.map((_, index) =>
      index === 0 && typeof redacted === 'string' ? redacted : index === 0 ? null : '',
    );
    return { ...result, edits: typeof redacted === 'string' ? editsOf(asking, texts) : [] };
  },
});
