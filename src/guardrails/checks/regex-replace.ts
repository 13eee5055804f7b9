/** Replaces what a pattern matches. */
import { z } from 'zod';
import { defineCheck, type Edit, failedCheck } from '../check.ts';
import { both } from './events.ts';
import { rule } from './fields.ts';
import { flaggedRule, newFuel, ruleScanner, spansOf } from './rule.ts';

export const regexReplace = defineCheck({
  id: 'default.regexReplace',
  title: 'Regex replace',
  description:
    'Replaces every match of the pattern. It fails only where `failOnDetection` is set and something matched.',
  category: 'BASIC',
  events: both,
  transforms: true,
  parameters: () => ({
    rule: rule().describe('A regular expression, alone or as /pattern/flags'),
    redactText: z.string().max(1_000).default('[REDACTED]'),
    failOnDetection: z.boolean().default(false),
  }),
  example: { rule: '/sk-[a-z0-9]{8,}/gi', redactText: '[KEY]' },
  prepare({ rule: source, redactText, failOnDetection }) {
    const { search, once } = flaggedRule(source);
    // Only the first match of each text is meant: a stream would have to remember which one that was.
    const open = once ? null : ruleScanner(search, redactText);
    return {
      run({ segments, text }) {
        if (text === '') return failedCheck('there is no text to replace in', true);
        const fuel = newFuel();
        const edits = segments.flatMap((segment, index): Edit[] =>
          spansOf(search, segment.text, fuel, once).map(({ start, end }) => ({
            segment: index,
            start,
            end,
            text: redactText,
          })),
        );
        const found = edits.length > 0;
        const verdict = !(found && failOnDetection);
        const explanation = found
          ? `The pattern ${source} matched and was replaced.`
          : `The pattern ${source} does not match the text.`;
        return { verdict, data: { regexPattern: source, verdict, explanation }, edits };
      },
      stream: open ? { needs: 'exact', open } : { needs: 'whole' },
    };
  },
});
