/** How a text ends. */
import { z } from 'zod';
import { defineCheck, excerptOf, failedCheck } from '../check.ts';
import { both } from './events.ts';
import { not } from './fields.ts';

export const endsWith = defineCheck({
  id: 'default.endsWith',
  title: 'Ends with',
  description: 'Passes when the text ends with the suffix, or with the suffix and a full stop.',
  category: 'BASIC',
  events: both,
  parameters: () => ({ suffix: z.string().max(10_000), not: not() }),
  example: { suffix: 'Thank you' },
  prepare: ({ suffix, not: inverted }) => ({
    run({ text }) {
      if (text === '' || suffix === '') return failedCheck('the text or the suffix is empty');
      const ends = text.endsWith(suffix) || text.endsWith(`${suffix}.`);
      const verdict = ends !== inverted;
      const explanation = `The text ${ends ? 'ends' : 'does not end'} with "${suffix}".`;
      return { verdict, data: { suffix, not: inverted, verdict, explanation, textExcerpt: excerptOf(text) } };
    },
  }),
});
