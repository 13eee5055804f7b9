/** Zscaler AI Guard. */
import { z } from 'zod';
import { objectOf } from '../../providers/json.ts';
import { both } from '../checks/events.ts';
import { bearer, partnerCheck, secret, verdictOf, withoutSlash } from './partner.ts';

export const zscalerGuard = partnerCheck({
  id: 'zscaler.guard',
  title: 'Zscaler AI Guard',
  description: 'Asks a policy of Zscaler AI Guard about the text.',
  events: both,
  timeoutMs: 10_000,
  credentials: () => ({ apiKey: secret(), apiBase: z.string().max(2_048).default('https://api.us1.zseclipse.net') }),
  parameters: () => ({ policyId: z.string().min(1).max(64) }),
  example: { policyId: '900' },
  onError: true,
  async run({ context, text, ask }, { policyId }, { apiKey, apiBase }) {
    const answer = await ask(
      `${withoutSlash(apiBase)}/v1/detection/execute-policy`,
      { direction: context.isInput ? 'IN' : 'OUT', content: text, policyId },
      bearer(apiKey),
    );
    if (answer.statusCode !== 200) throw new Error(`the service answered with the code ${String(answer.statusCode)}`);
    const { action } = answer;
    if (action !== 'BLOCK' && action !== 'ALLOW' && action !== 'DETECT')
      throw new Error('the service answered with an unknown action');
    const blocking = Object.entries(objectOf(answer.detectorResponses)).filter(
      ([, detector]) => objectOf(detector).action === 'BLOCK',
    );
    return verdictOf(action !== 'BLOCK', 'Zscaler', {
      action,
      blockedBy: blocking.map(([name]) => name),
      transactionId: answer.transactionId ?? null,
    });
  },
});
