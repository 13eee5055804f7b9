/** Pillar Security. */
import { z } from 'zod';
import type { Check } from '../check.ts';
import { after, before } from '../checks/events.ts';
import { bearer, partnerCheck, secret, verdictOf } from './partner.ts';

const scanners = ['prompt_injection', 'pii', 'secrets', 'toxic_language', 'invisible_characters'] as const;

const scan = (name: 'scanPrompt' | 'scanResponse', side: 'prompt' | 'response'): Check =>
  partnerCheck({
    id: `pillar.${name}`,
    title: `Pillar ${side} scan`,
    description: `Asks scanners of Pillar Security about the ${side}.`,
    events: side === 'prompt' ? before : after,
    credentials: () => ({ apiKey: secret() }),
    parameters: () => ({ scanners: z.array(z.enum(scanners)).max(10) }),
    example: { scanners: ['prompt_injection', 'secrets'] },
    onError: false,
    async run({ text, ask }, { scanners: wanted }, { apiKey }) {
      if (wanted.length === 0)
        return { verdict: true, data: null, error: { name: 'Error', message: 'no scanners are given' } };
      const answer = await ask(
        `https://api.pillarseclabs.com/api/v1/scan/${side}`,
        { message: text, scanners: Object.fromEntries(wanted.map((scanner) => [scanner, true])) },
        bearer(apiKey),
      );
      const found = scanners.filter(
        (scanner) => answer[scanner] !== undefined && answer[scanner] !== null && answer[scanner] !== false,
      );
      return verdictOf(found.length === 0, 'Pillar', { found });
    },
  });

export const pillarScanPrompt = scan('scanPrompt', 'prompt');
export const pillarScanResponse = scan('scanResponse', 'response');
