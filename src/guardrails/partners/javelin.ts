/** Javelin. */
import { z } from 'zod';
import { objectOf, objectsOf } from '../../providers/json.ts';
import { both } from '../checks/events.ts';
import { partnerCheck, secret, verdictOf } from './partner.ts';

export const javelinGuardrails = partnerCheck({
  id: 'javelin.guardrails',
  title: 'Javelin guardrails',
  description: 'Asks the guardrails of an application of Javelin.',
  events: both,
  credentials: () => ({
    apiKey: secret(),
    application: z.string().min(1).max(255),
    domain: z.string().max(253).default('api-dev.javelin.live'),
  }),
  parameters: () => ({}),
  example: {},
  onError: true,
  async run({ text, ask }, _, { apiKey, application, domain }) {
    const answer = await ask(
      `https://${domain}/v1/guardrails/apply`,
      { input: { text }, config: {}, metadata: {} },
      { 'x-javelin-apikey': apiKey, 'x-javelin-application': application },
    );
    const assessments = objectsOf(answer.assessments).flatMap((entry) => Object.values(entry).map(objectOf));
    if (assessments.length === 0) throw new Error('the service answered without assessments');
    const rejecting = assessments.find(({ request_reject }) => request_reject === true);
    return verdictOf(rejecting === undefined, 'Javelin', {
      reject_prompt: objectOf(rejecting?.results).reject_prompt ?? rejecting?.reject_prompt ?? null,
      assessments: answer.assessments,
    });
  },
});
