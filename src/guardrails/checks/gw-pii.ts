/** Personal data: refused, or replaced by tokens. */
import { z } from 'zod';
import { type CheckResult, defineCheck, type Edit, failedCheck } from '../check.ts';
import type { CheckContext } from '../context.ts';
import { editsTo } from '../edits.ts';
import { entitiesIn } from '../pii/entities.ts';
import { type Entity, type PiiCategory, piiCategories } from '../pii/entity.ts';
import { PiiScanner } from '../pii/scanner.ts';
import { both } from './events.ts';
import { not } from './fields.ts';
import { backendOf, gwCredentials } from './gw-backend.ts';

const restorable = () =>
  z.boolean().default(false).describe('Puts what was replaced in the request back into the answer for the client');

export const gwPii = defineCheck({
  id: 'gw.pii',
  title: 'Detect PII',
  description:
    'Fails when the text holds personal data of one of the categories, or replaces it by tokens such as {{EMAIL_ADDRESS_1}}. Found by form and checksum; names only where the text introduces them.',
  category: 'PRO',
  events: both,
  network: { timeoutMs: 5_000, credentials: gwCredentials },
  transforms: true,
  parameters: () => ({
    categories: z.array(z.enum(piiCategories)).max(20),
    redact: z.boolean().default(false),
    restore: restorable(),
    not: not(),
  }),
  example: { categories: ['EMAIL_ADDRESS', 'CREDIT_CARD', 'SSN'], redact: true },
  prepare({ categories, redact, restore, not: inverted }, setup) {
    const wanted: ReadonlySet<PiiCategory> = new Set(categories);
    const backend = backendOf(setup);
    const verdictOf = (
      context: CheckContext,
      detected: ReadonlySet<string>,
      edits: Edit[],
      restores: Map<string, string>,
    ): CheckResult => {
      const found = categories.filter((category) => detected.has(category));
      const replaced = redact && !inverted && edits.length > 0;
      const verdict = inverted ? found.length > 0 : found.length === 0 || replaced;
      const explanation =
        found.length === 0 ? 'No personal data was found.' : `Personal data was found: ${found.join(', ')}.`;
      return {
        verdict,
        data: {
          verdict,
          not: inverted,
          explanation,
          restrictedCategories: categories,
          detectedCategories: [...detected],
        },
        ...(replaced && { edits }),
        ...(replaced && restore && context.isInput && { restores }),
      };
    };
    return {
      run(context, io) {
        if (categories.length === 0) return failedCheck('no categories are given', true);
        if (context.text === '') return failedCheck('there is no text to look at', true);
        if (redact && context.requestType === 'embed')
          return failedCheck('the input of embeddings is not changed', true);
        if (backend) return askBackend(context, (input) => backend('pii', { input, categories }, io), verdictOf);
        const tokens = new Tokens(restore && context.isInput);
        const detected = new Set<string>();
        const edits = context.segments.flatMap(({ text }, segment): Edit[] =>
          entitiesIn(text, wanted).map((entity) => {
            detected.add(entity.category);
            const token = tokens.of(entity, text);
            return { segment, start: entity.start, end: entity.end, text: token };
          }),
        );
        return verdictOf(context, detected, edits, tokens.restores);
      },
      stream:
        backend || inverted
          ? { needs: 'whole' }
          : { needs: 'window', open: () => new PiiScanner(wanted, redact ? new Tokens(false) : null) },
    };
  },
});

/** Numbers what is found, for each category. */
export class Tokens {
  readonly restores = new Map<string, string>();
  readonly #counts = new Map<string, number>();
  readonly #keeps: boolean;

  /** `keeps`: what was replaced can be put back. */
  constructor(keeps: boolean) {
    this.#keeps = keeps;
  }

  of({ category, start, end }: Entity, text: string): string {
    const count = (this.#counts.get(category) ?? 0) + 1;
    this.#counts.set(category, count);
    const token = `{{${category}_${count}}}`;
    if (this.#keeps) this.restores.set(token, text.slice(start, end));
    return token;
  }
}

const told = () =>
  z.array(
    z.looseObject({
      entities: z.array(z.looseObject({ text: z.string(), labels: z.record(z.string(), z.number()) })),
      processed_text: z.string(),
    }),
  );

async function askBackend(
  context: CheckContext,
  ask: (input: string[]) => Promise<{ answer: unknown; log: CheckResult['log'] & object }>,
  verdictOf: (
    context: CheckContext,
    detected: ReadonlySet<string>,
    edits: Edit[],
    restores: Map<string, string>,
  ) => CheckResult,
): Promise<CheckResult> {
  const { answer, log } = await ask(context.segments.map(({ text }) => text));
  const parsed = told().safeParse(answer);
  if (!parsed.success) return { ...failedCheck('the service answered in a form that is not known'), log };
  const detected = new Set(
    parsed.data.flatMap(({ entities }) => entities.flatMap((entity) => Object.keys(entity.labels))),
  );
  const edits = parsed.data.flatMap(({ processed_text }, segment) =>
    editsTo(segment, context.segments[segment]?.text ?? '', processed_text),
  );
  return { ...verdictOf(context, detected, edits, new Map()), log };
}
