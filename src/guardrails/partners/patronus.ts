/** Patronus: evaluators of answers. */
import { z } from 'zod';
import { listOf, objectOf, objectsOf } from '../../providers/json.ts';
import type { JsonObject } from '../../providers/provider.ts';
import type { Check } from '../check.ts';
import { after } from '../checks/events.ts';
import {
  type Asking,
  eachSegment,
  editsOf,
  inputText,
  partnerCheck,
  replacedSpans,
  secret,
  verdictOf,
} from './partner.ts';

const credentials = () => ({ apiKey: secret() });
const judged = 15_000;

async function evaluate(
  { ask }: Asking,
  apiKey: string,
  evaluator: string,
  criteria: string | null,
  input: string,
  output: string,
): Promise<JsonObject> {
  const answer = await ask(
    'https://api.patronus.ai/v1/evaluate',
    {
      evaluators: [{ evaluator, ...(criteria !== null && { criteria }), explain_strategy: 'always' }],
      evaluated_model_input: input,
      evaluated_model_output: output,
    },
    { 'x-api-key': apiKey },
  );
  const [first] = objectsOf(answer.results);
  const result = objectOf(first?.evaluation_result);
  if (typeof result.pass !== 'boolean') throw new Error('the service answered without a verdict');
  return result;
}

const evaluator = (name: string, title: string, kind: string, criteria: string | null): Check =>
  partnerCheck({
    id: `patronus.${name}`,
    title: `Patronus ${title}`,
    description: `Asks the evaluator ${kind}${criteria ? ` with ${criteria}` : ''} of Patronus about the answer.`,
    events: after,
    timeoutMs: kind === 'toxicity' ? 5_000 : judged,
    credentials,
    parameters: () => ({}),
    example: {},
    onError: false,
    async run(asking, _, { apiKey }) {
      const result = await evaluate(asking, apiKey, kind, criteria, inputText(asking), asking.text);
      return verdictOf(result.pass === true, 'Patronus', {
        score: result.score_raw ?? null,
        patronus: result.explanation ?? null,
      });
    },
  });

/** The places that the evaluator marks: the first and last character stay, of short ones none. */
const masked = (text: string): string =>
  text.length <= 4
    ? '*'.repeat(text.length)
    : text.charAt(0) + '*'.repeat(text.length - 2) + text.charAt(text.length - 1);

const redacting = (name: string, title: string): Check =>
  partnerCheck({
    id: `patronus.${name}`,
    title: `Patronus ${title}`,
    description: `Asks the evaluator ${name} of Patronus about the answer, or masks what it finds.`,
    events: after,
    transforms: true,
    credentials,
    parameters: () => ({ redact: z.boolean().default(false) }),
    example: { redact: true },
    onError: false,
    async run(asking, { redact }, { apiKey }) {
      const answers = await eachSegment(asking, (text) =>
        evaluate(asking, apiKey, name, null, inputText(asking), text),
      );
      const failed = answers.filter(({ answer }) => answer.pass !== true);
      const texts: (string | null)[] = asking.context.segments.map(() => null);
      for (const { segment, text, answer } of failed) {
        const positions = longestPositions(listOf(objectOf(answer.additional_info).positions).flatMap(spanOf));
        texts[segment] = replacedSpans(
          text,
          positions.map(({ start, end }) => ({ start, end, text: masked(text.slice(start, end)) })),
        );
      }
      return {
        ...verdictOf(failed.length === 0 || redact, 'Patronus', { found: failed.length }),
        ...(redact && { edits: editsOf(asking, texts) }),
      };
    },
  });

interface Place {
  start: number;
  end: number;
}

const spanOf = (entry: unknown): Place[] => {
  const pair = listOf(objectOf(entry).positions ?? entry);
  const [start, end] = pair;
  return typeof start === 'number' && typeof end === 'number' ? [{ start, end }] : [];
};

/** Of places that lie in each other the longest. */
const longestPositions = (places: readonly Place[]): Place[] =>
  places.filter(
    (place) =>
      !places.some(
        (other) =>
          other !== place &&
          other.start <= place.start &&
          other.end >= place.end &&
          other.end - other.start > place.end - place.start,
      ),
  );

export const patronusCustom = partnerCheck({
  id: 'patronus.custom',
  title: 'Patronus custom',
  description: 'Asks an evaluator of your own: `evaluator:criteria`, or the criteria of a judge.',
  events: after,
  timeoutMs: judged,
  credentials,
  parameters: () => ({ profile: z.string().min(1).max(255) }),
  example: { profile: 'judge:my-criteria' },
  onError: false,
  async run(asking, { profile }, { apiKey }) {
    const colon = profile.indexOf(':');
    const [kind, criteria] = colon < 0 ? ['judge', profile] : [profile.slice(0, colon), profile.slice(colon + 1)];
    const result = await evaluate(asking, apiKey, kind, criteria, inputText(asking), asking.text);
    return verdictOf(result.pass === true, 'Patronus', {
      score: result.score_raw ?? null,
      patronus: result.explanation ?? null,
    });
  },
});

export const patronusChecks: readonly Check[] = [
  evaluator('isConcise', 'conciseness', 'judge', 'patronus:is-concise'),
  evaluator('isHelpful', 'helpfulness', 'judge', 'patronus:is-helpful'),
  evaluator('isPolite', 'politeness', 'judge', 'patronus:is-polite'),
  evaluator('noApologies', 'no apologies', 'judge', 'patronus:no-apologies'),
  evaluator('noGenderBias', 'no gender bias', 'judge', 'patronus:no-gender-bias'),
  evaluator('noRacialBias', 'no racial bias', 'judge', 'patronus:no-racial-bias'),
  evaluator('retrievalAnswerRelevance', 'answer relevance', 'answer-relevance', null),
  evaluator('retrievalHallucination', 'hallucination', 'hallucination', null),
  evaluator('toxicity', 'toxicity', 'toxicity', null),
  patronusCustom,
  redacting('pii', 'PII'),
  redacting('phi', 'PHI'),
];
