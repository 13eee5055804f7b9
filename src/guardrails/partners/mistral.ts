/** Mistral moderation. */
import { z } from 'zod';
import { objectOf, objectsOf } from '../../providers/json.ts';
import { both } from '../checks/events.ts';
import { bearer, messagesOf, partnerCheck, secret, verdictOf } from './partner.ts';

const categories = [
  'sexual',
  'hate_and_discrimination',
  'violence_and_threats',
  'dangerous_and_criminal_content',
  'selfharm',
  'health',
  'financial',
  'law',
  'pii',
] as const;

export const mistralModerate = partnerCheck({
  id: 'mistral.moderateContent',
  title: 'Mistral moderation',
  description: 'Fails when Mistral flags the text in one of the categories.',
  events: both,
  credentials: () => ({ apiKey: secret() }),
  parameters: () => ({
    categories: z.array(z.enum(categories)).min(1).max(9),
    model: z.string().max(128).default('mistral-moderation-latest'),
  }),
  example: { categories: ['selfharm', 'pii'] },
  answersWith: ['results'],
  onError: true,
  async run(asking, { categories: selected, model }, { apiKey }) {
    const { context, ask, text } = asking;
    const isChat = context.isInput && (context.requestType === 'chatComplete' || context.requestType === 'messages');
    const answer = isChat
      ? await ask('https://api.mistral.ai/v1/chat/moderations', { model, input: [messagesOf(asking)] }, bearer(apiKey))
      : await ask('https://api.mistral.ai/v1/moderations', { model, input: [text] }, bearer(apiKey));
    const flags = objectsOf(answer.results).map((result) => objectOf(result.categories));
    const flagged = selected.filter((name) => flags.some((flag) => flag[name] === true));
    return verdictOf(flagged.length === 0, 'Mistral', { flaggedCategories: flagged });
  },
});
