/** Promptfoo's open endpoints. */
import { z } from 'zod';
import { objectOf, objectsOf } from '../../providers/json.ts';
import { before, both } from '../checks/events.ts';
import { eachSegment, editsOf, partnerCheck, replacedSpans, verdictOf } from './partner.ts';

const base = 'https://api.promptfoo.dev/v1';
const none = () => ({});

export const promptfooGuard = partnerCheck({
  id: 'promptfoo.guard',
  title: 'Promptfoo guard',
  description: 'Fails when Promptfoo takes the request for a jailbreak.',
  events: before,
  credentials: none,
  parameters: none,
  example: {},
  answersWith: ['results'],
  onError: true,
  async run({ text, ask }) {
    const answer = await ask(`${base}/guard`, { input: text });
    const [first] = objectsOf(answer.results);
    return verdictOf(objectOf(first?.categories).jailbreak !== true, 'Promptfoo', { results: answer.results ?? [] });
  },
});

export const promptfooHarm = partnerCheck({
  id: 'promptfoo.harm',
  title: 'Promptfoo harm',
  description: 'Fails when Promptfoo flags the text as harmful.',
  events: both,
  credentials: none,
  parameters: none,
  example: {},
  answersWith: ['results'],
  onError: true,
  async run({ text, ask }) {
    const answer = await ask(`${base}/harm`, { input: text });
    const [first] = objectsOf(answer.results);
    return verdictOf(first?.flagged !== true, 'Promptfoo', { categories: first?.categories ?? null });
  },
});

export const promptfooPii = partnerCheck({
  id: 'promptfoo.pii',
  title: 'Promptfoo PII',
  description: 'Fails when Promptfoo finds personal data, or replaces it.',
  events: both,
  transforms: true,
  credentials: none,
  parameters: () => ({ redact: z.boolean().default(false) }),
  example: { redact: true },
  answersWith: ['results'],
  onError: true,
  async run(asking, { redact }) {
    const answers = await eachSegment(asking, (input) => asking.ask(`${base}/pii`, { input }));
    const texts: (string | null)[] = asking.context.segments.map(() => null);
    let found = false;
    for (const { segment, text, answer } of answers) {
      const [first] = objectsOf(answer.results);
      if (first?.flagged !== true) continue;
      found = true;
      const spans = objectsOf(objectOf(first.payload).pii).map(({ start, end, entity_type }) => ({
        start: Number(start),
        end: Number(end),
        text: `[${String(entity_type)}]`,
      }));
      texts[segment] = replacedSpans(text, spans);
    }
    return {
      ...verdictOf(!found || redact, 'Promptfoo', { found }),
      ...(found && redact && { edits: editsOf(asking, texts) }),
    };
  },
});
