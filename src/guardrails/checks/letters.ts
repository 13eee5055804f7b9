/** Whether all letters are capitals, or none is. */
import { type Check, defineCheck, excerptOf, failedCheck } from '../check.ts';
import { both } from './events.ts';
import { not } from './fields.ts';

const allLetters = (id: string, title: string, wrong: RegExp, words: string, aliases: readonly string[] = []): Check =>
  defineCheck({
    id,
    aliases,
    title,
    description: `Passes when every Latin letter of the text is ${words}; a text without letters passes.`,
    category: 'BASIC',
    events: both,
    parameters: () => ({ not: not() }),
    example: {},
    prepare: ({ not: inverted }) => ({
      run({ text }) {
        if (text === '') return failedCheck('there is no text to look at');
        const verdict = !wrong.test(text) !== inverted;
        const explanation = `The letters of the text are ${verdict === inverted ? 'not all ' : ''}${words}.`;
        return { verdict, data: { verdict, not: inverted, explanation, textExcerpt: excerptOf(text) } };
      },
    }),
  });

export const allUpperCase = allLetters('default.alluppercase', 'All upper case', /[a-z]/, 'upper case', [
  'default.isAllUpperCase',
]);
export const allLowerCase = allLetters('default.alllowercase', 'All lower case', /[A-Z]/, 'lower case', [
  'default.isAllLowerCase',
]);
