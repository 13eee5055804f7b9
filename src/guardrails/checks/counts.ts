/** Checks that count: sentences, words and characters. */
import { z } from 'zod';
import { type Check, defineCheck, excerptOf, failedCheck } from '../check.ts';
import { both } from './events.ts';
import { not } from './fields.ts';

interface Counted {
  unit: 'sentence' | 'word' | 'character';
  most: number;
  count(text: string): number;
  /** A text without anything to count is an error. */
  needsText: boolean;
  minName: string;
  maxName: string;
}

function counting({ unit, most, count, needsText, minName, maxName }: Counted): Check {
  const plural = `${unit[0]?.toUpperCase()}${unit.slice(1)}s`;
  const [low, high] = [`min${plural}`, `max${plural}`];
  const bound = z.number().min(0).max(1e9);
  return defineCheck({
    id: `default.${unit}Count`,
    title: `${plural.slice(0, -1)} count`,
    description: `Passes when the text has at least \`${low}\` and at most \`${high}\` ${unit}s.`,
    category: 'BASIC',
    events: both,
    parameters: (): z.ZodRawShape => ({ [low]: bound.default(0), [high]: bound.default(most), not: not() }),
    example: { [low]: 1, [high]: 400 },
    prepare(parameters) {
      const [min, max] = [Number(parameters[low]), Number(parameters[high])];
      const inverted = parameters.not === true;
      return {
        run({ text }) {
          if (needsText && text === '') return failedCheck(`there is no text whose ${unit}s could be counted`);
          const counted = count(text);
          const verdict = (counted >= min && counted <= max) !== inverted;
          return {
            verdict,
            data: {
              [`${unit}Count`]: counted,
              [minName]: min,
              [maxName]: max,
              not: inverted,
              verdict,
              explanation: `The text has ${counted} ${unit}s; ${inverted ? 'not ' : ''}between ${min} and ${max} are asked for.`,
              textExcerpt: excerptOf(text),
            },
          };
        },
      };
    },
  });
}

export const sentenceCount = counting({
  unit: 'sentence',
  most: 99_999,
  count: (text) => countOf(text, (code) => code === 46 || code === 33 || code === 63),
  needsText: false,
  minName: 'minCount',
  maxName: 'maxCount',
});

export const wordCount = counting({
  unit: 'word',
  most: 99_999,
  count: countWords,
  needsText: true,
  minName: 'minWords',
  maxName: 'maxWords',
});

export const characterCount = counting({
  unit: 'character',
  most: 9_999_999,
  count: (text) => text.length,
  needsText: true,
  minName: 'minCharacters',
  maxName: 'maxCharacters',
});

function countOf(text: string, counts: (code: number) => boolean): number {
  let count = 0;
  for (let index = 0; index < text.length; index++) if (counts(text.charCodeAt(index))) count++;
  return count;
}

const space = /\s/;

function countWords(text: string): number {
  let count = 0;
  let inside = false;
  for (let index = 0; index < text.length; index++) {
    const code = text.charCodeAt(index);
    const isSpace = code <= 32 || (code >= 160 && space.test(text.charAt(index)));
    if (!isSpace && !inside) count++;
    inside = !isSpace;
  }
  return count;
}
