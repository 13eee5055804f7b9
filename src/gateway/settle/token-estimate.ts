/** How many tokens a model reads or writes of a value, for calls whose usage nobody reported. */
import { tokensIn } from '../../providers/tokens.ts';

/** What a picture, a recording or a page costs, give or take. */
export const mediaTokens = 1_000;
const shortestMedia = 1_000;
const encodedBytes = /^(?:data:|[\w+/-]{200})/;

/** The tokens of all texts in it, however deep; bytes in base64 are no text. */
export function tokensOf(value: unknown, model: string): number {
  const waiting: unknown[] = [value];
  let sum = 0;
  while (waiting.length > 0) {
    const next = waiting.pop();
    if (typeof next === 'string') sum += isMedia(next) ? mediaTokens : tokensIn(next, model);
    else if (typeof next === 'object' && next !== null) for (const inner of Object.values(next)) waiting.push(inner);
  }
  return sum;
}

export const isMedia = (text: string): boolean => text.length >= shortestMedia && encodedBytes.test(text);
