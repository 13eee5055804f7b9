/** Texts that are no language: keys struck at random, noise, one letter over and over. */
import { type CheckResult, defineCheck, excerptOf, failedCheck } from '../check.ts';
import { both } from './events.ts';
import { not } from './fields.ts';
import { backendOf, gwCredentials, labels } from './gw-backend.ts';

export const gwGibberish = defineCheck({
  id: 'gw.gibberish',
  title: 'Gibberish',
  description: 'Passes when the text looks like language. Judged by how its words are built.',
  category: 'PRO',
  events: both,
  network: { timeoutMs: 5_000, credentials: gwCredentials },
  parameters: () => ({ not: not() }),
  example: {},
  prepare({ not: inverted }, setup) {
    const backend = backendOf(setup);
    const judged = (text: string, label: string, analysis: unknown): CheckResult => {
      const verdict = (label === 'clean') !== inverted;
      const explanation = label === 'clean' ? 'The text looks like language.' : 'The text looks like gibberish.';
      return { verdict, data: { verdict, not: inverted, explanation, analysis, textExcerpt: excerptOf(text) } };
    };
    return {
      run({ text }, io) {
        if (text.trim() === '') return failedCheck('there is no text to look at', true);
        if (!backend) {
          const { label, score } = judgeText(text);
          return judged(text, label, [{ label, score }]);
        }
        return backend('gibberish', { input: text }, io).then(({ answer, log }) => {
          const parsed = labels().safeParse(answer);
          const top = parsed.success ? parsed.data[0]?.toSorted((a, b) => (b.score ?? 0) - (a.score ?? 0))[0] : null;
          return top
            ? { ...judged(text, top.label, answer), log }
            : { ...failedCheck('the service answered in a form that is not known'), log };
        });
      },
    };
  },
});

const longestRead = 4_000;
/** Pairs of letters that hardly stand together in any language written with Latin letters. */
const rarePairs =
  /[bcdfghjklmnpqrstvwxz]{6}|[jqxvz]{2}|q[^uai\W]|[bcdfgjkmpqtvwz][xq]|[xz][bcdfghjkmnpqrvw]|j[bcdfghklmnpqrstvwxz]|v[bcdfghjkmnpqtwxz]|(.)\1\1/;

export function judgeText(text: string): { label: 'clean' | 'noise'; score: number } {
  const sample = text.slice(0, longestRead);
  const letters = sample.match(/\p{L}/gu)?.length ?? 0;
  const visible = sample.replace(/\s/g, '').length;
  // Numbers and signs alone are data, not noise; a few letters among many signs are not.
  if (letters === 0) return { label: /[\p{N}\p{Emoji}]/u.test(sample) ? 'clean' : 'noise', score: 1 };
  if (letters / visible < 0.3 && visible > 20) return { label: 'noise', score: 0.9 };
  const latin = sample.match(/\p{Script=Latin}+/gu) ?? [];
  const latinLetters = latin.reduce((sum, word) => sum + word.length, 0);
  // Other scripts are taken at their word: their letters do not come from a slipped hand.
  if (latinLetters < letters / 2)
    return { label: new Set(sample).size < 4 && letters > 12 ? 'noise' : 'clean', score: 0.9 };
  const words = latin.filter((word) => word.length > 2);
  const weight = words.reduce((sum, word) => sum + word.length, 0);
  const odd = words.filter(isOdd).reduce((sum, word) => sum + word.length, 0);
  const share = weight === 0 ? 0 : odd / weight;
  return share > 0.4 ? { label: 'noise', score: share } : { label: 'clean', score: 1 - share };
}

/** A word that nobody could say. */
function isOdd(word: string): boolean {
  const plain = word.normalize('NFD').replace(/\p{M}/gu, '').toLowerCase();
  if (plain.length <= 4 && word === word.toUpperCase()) return false;
  const vowels = plain.match(/[aeiouyøæœı]/g)?.length ?? 0;
  if (plain.length >= 4 && vowels / plain.length < 0.15) return true;
  if (plain.length > 30) return true;
  return rarePairs.test(plain);
}
