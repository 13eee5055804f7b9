/** Lakera Guard. */
import { z } from 'zod';
import { objectsOf } from '../../providers/json.ts';
import { both } from '../checks/events.ts';
import {
  bearer,
  editsOf,
  messagesOf,
  partnerCheck,
  replacedSpans,
  secret,
  verdictOf,
  withoutSlash,
} from './partner.ts';

export const lakeraGuard = partnerCheck({
  id: 'lakera.guard',
  title: 'Lakera Guard',
  description: 'Asks Lakera Guard about the conversation; personal data alone is replaced.',
  events: both,
  transforms: true,
  timeoutMs: 30_000,
  credentials: () => ({ apiKey: secret(), apiBase: z.string().max(2_048).default('https://api.lakera.ai') }),
  parameters: () => ({ projectID: z.string().max(255).optional(), endInclusive: z.boolean().default(false) }),
  example: { projectID: 'project-1' },
  answersWith: ['flagged'],
  onError: true,
  async run(asking, { projectID, endInclusive }, { apiKey, apiBase }) {
    const messages = messagesOf(asking);
    const answer = await asking.ask(
      `${withoutSlash(apiBase)}/v2/guard`,
      { messages, ...(projectID && { project_id: projectID }), payload: true, breakdown: true },
      bearer(apiKey),
    );
    if (answer.flagged !== true) return verdictOf(true, 'Lakera', { breakdown: answer.breakdown ?? [] });
    const detected = objectsOf(answer.breakdown).filter((entry) => entry.detected === true);
    const onlyPii =
      detected.length > 0 && detected.every(({ detector_type }) => String(detector_type).startsWith('pii'));
    const data = { breakdown: answer.breakdown ?? [] };
    if (!onlyPii) return verdictOf(false, 'Lakera', data);
    const last = messages.length - 1;
    const { segments } = asking.context;
    // Places are counted in the message that is looked at, whose parts stand a line apart.
    const spans = objectsOf(answer.payload)
      .filter(({ message_id }) => Number(message_id ?? last) === last)
      .map(({ start, end, detector_type }) => ({
        start: Number(start),
        end: Number(end) + (endInclusive ? 1 : 0),
        text: `[${nameOf(detector_type)}]`,
      }));
    let offset = 0;
    const texts = segments.map(({ text }) => {
      const from = offset;
      offset += text.length + 1;
      const own = spans
        .filter(({ start, end }) => start >= from && end <= from + text.length)
        .map((span) => ({ ...span, start: span.start - from, end: span.end - from }));
      return own.length > 0 ? replacedSpans(text, own) : null;
    });
    const edits = editsOf(asking, texts);
    // What was found in an earlier turn cannot be replaced there.
    return edits.length > 0 ? { ...verdictOf(true, 'Lakera', data), edits } : verdictOf(false, 'Lakera', data);
  },
});

const nameOf = (type: unknown): string =>
  String(type)
    .replace(/^pii\//, '')
    .toUpperCase();
