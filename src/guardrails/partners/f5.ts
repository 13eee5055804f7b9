/** F5 AI Guardrails (CalypsoAI). */
import { z } from 'zod';
import { objectOf } from '../../providers/json.ts';
import { both } from '../checks/events.ts';
import { bearer, eachSegment, editsOf, partnerCheck, secret, verdictOf, withoutSlash } from './partner.ts';

export const f5Scan = partnerCheck({
  id: 'f5-guardrails.scan',
  title: 'F5 guardrails',
  description: 'Asks the scanners of a project of F5 AI Guardrails about each text.',
  events: both,
  transforms: true,
  credentials: () => ({ apiKey: secret(), calypsoUrl: z.string().max(2_048).default('https://us1.calypsoai.app') }),
  parameters: () => ({ projectId: z.string().min(1).max(255), redact: z.boolean().default(false) }),
  example: { projectId: 'PROJECT', redact: true },
  answersWith: ['result'],
  onError: true,
  async run(asking, { projectId, redact }, { apiKey, calypsoUrl }) {
    const answers = await eachSegment(asking, (input) =>
      asking.ask(`${withoutSlash(calypsoUrl)}/backend/v1/scans`, { input, project: projectId }, bearer(apiKey)),
    );
    const texts: (string | null)[] = asking.context.segments.map(() => null);
    let verdict = true;
    for (const { segment, answer } of answers) {
      const { outcome } = objectOf(answer.result);
      const redacted = answer.redactedInput;
      if (outcome === 'cleared') continue;
      if (redact && typeof redacted === 'string') texts[segment] = redacted;
      else verdict = false;
    }
    return {
      ...verdictOf(verdict, 'F5', { outcomes: answers.map(({ answer }) => objectOf(answer.result).outcome ?? null) }),
      edits: editsOf(asking, texts),
    };
  },
});
