/** About how many tokens a value comes to, told from the lengths of its texts: every call pays for this, and what it misses is learned. */
import { isMedia, mediaTokens } from '../settle/token-estimate.ts';

const perCharacter = 0.25;
/** What is not written in Latin letters takes more. */
const perOtherCharacter = 0.75;
const samples = 32;

export function roughTokens(value: unknown): number {
  const waiting: unknown[] = [value];
  let sum = 0;
  while (waiting.length > 0) {
    const next = waiting.pop();
    if (typeof next === 'string') sum += isMedia(next) ? mediaTokens : 1 + next.length * weightOf(next);
    else if (typeof next === 'object' && next !== null) {
      for (const name in next) waiting.push((next as Record<string, unknown>)[name]);
    }
  }
  return sum;
}

/** By a few characters of it. */
function weightOf(text: string): number {
  const step = Math.max(1, Math.floor(text.length / samples));
  let other = 0;
  let seen = 0;
  for (let index = 0; index < text.length; index += step) {
    if (text.charCodeAt(index) > 0x24f) other++;
    seen++;
  }
  return seen === 0 ? perCharacter : perCharacter + ((perOtherCharacter - perCharacter) * other) / seen;
}
