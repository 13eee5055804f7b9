/** Whether a pattern stands in the text. */
import { z } from 'zod';
import { defineCheck, excerptOf, failedCheck } from '../check.ts';
import { both } from './events.ts';
import { not, rule } from './fields.ts';
import { regexReplace } from './regex-replace.ts';
import { newFuel, plainRule, ruleScanner } from './rule.ts';

export const regexMatch = defineCheck({
  id: 'default.regexMatch',
  title: 'Regex match',
  description: 'Passes when the pattern is found in the text.',
  category: 'BASIC',
  events: both,
  transforms: true,
  parameters: () => ({
    rule: rule(),
    not: not(),
    redact: z.boolean().optional().describe('Replaces what matches, as default.regexReplace does'),
    redactText: z.string().max(1_000).optional(),
  }),
  example: { rule: '[0-9]{3}-[0-9]{4}', not: true },
  prepare({ rule: source, not: inverted, redact, redactText }, setup) {
    if (redact) return regexReplace.prepare({ rule: source, redactText }, setup);
    const search = plainRule(source);
    const open = inverted ? ruleScanner(search, null) : null;
    return {
      run({ text }) {
        if (text === '') return failedCheck('there is no text to match', false, 'Error', { not: inverted });
        const fuel = newFuel();
        const span = search.find(text, 0, fuel);
        const verdict = (span !== null) !== inverted;
        return {
          verdict,
          data: {
            regexPattern: source,
            not: inverted,
            verdict,
            explanation: `The pattern ${source} ${span ? 'was found in' : 'does not match'} the text.`,
            matchDetails: span && search.details(text, span, fuel),
            textExcerpt: excerptOf(text),
          },
        };
      },
      stream: open ? { needs: 'exact', open } : { needs: 'whole' },
    };
  },
});
