/** Prompt Security. */
import { z } from 'zod';
import { objectOf } from '../../providers/json.ts';
import type { Check } from '../check.ts';
import { after, before } from '../checks/events.ts';
import { editsOf, partnerCheck, secret, verdictOf } from './partner.ts';

const protect = (name: 'protectPrompt' | 'protectResponse', side: 'prompt' | 'response'): Check =>
  partnerCheck({
    id: `promptsecurity.${name}`,
    title: `Prompt Security ${side}`,
    description: `Asks Prompt Security about the ${side}.`,
    events: side === 'prompt' ? before : after,
    transforms: true,
    credentials: () => ({ apiKey: secret(), apiDomain: z.string().min(1).max(253) }),
    parameters: () => ({
      policy: z.record(z.string().max(128), z.unknown()).optional(),
      redact: z.boolean().default(false),
      monitorOnly: z.boolean().default(false),
      user: z.string().max(255).optional(),
      userGroups: z.array(z.string().max(255)).max(100).optional(),
    }),
    example: { redact: true },
    onError: false,
    async run(asking, { policy, redact, monitorOnly, user, userGroups }, { apiKey, apiDomain }) {
      const answer = await asking.ask(
        `https://${apiDomain}/api/protect`,
        {
          [side]: asking.text,
          ...(user && { user }),
          ...(userGroups && { user_groups: userGroups }),
          ...(policy && { policy }),
        },
        { 'APP-ID': apiKey },
      );
      const result = objectOf(answer.result);
      const own = objectOf(result[side]);
      const modified = own.modified_text;
      const changes = redact && (own.action ?? result.action) === 'modify' && typeof modified === 'string';
      const verdict = monitorOnly || own.passed === true || changes;
      const texts = asking.context.segments.map((_, index) => (index === 0 ? String(modified) : ''));
      return {
        ...verdictOf(verdict, 'Prompt Security', {
          action: own.action ?? result.action ?? null,
          violations: own.violations ?? null,
        }),
        ...(changes && { edits: editsOf(asking, texts) }),
      };
    },
  });

export const promptSecurityPrompt = protect('protectPrompt', 'prompt');
export const promptSecurityResponse = protect('protectResponse', 'response');
