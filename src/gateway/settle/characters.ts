/** How much a model reads or writes of a value, for calls whose usage nobody reported. */

/** About a thousand tokens: what a picture, a recording or a page costs, give or take. */
const mediaCharacters = 4_000;
const shortestMedia = 1_000;
const encodedBytes = /^(?:data:|[\w+/-]{200})/;

/** The characters of all texts in it, however deep; bytes in base64 are no text. */
export function charactersIn(value: unknown): number {
  const waiting: unknown[] = [value];
  let sum = 0;
  while (waiting.length > 0) {
    const next = waiting.pop();
    if (typeof next === 'string') sum += isMedia(next) ? mediaCharacters : next.length;
    else if (typeof next === 'object' && next !== null) for (const inner of Object.values(next)) waiting.push(inner);
  }
  return sum;
}

const isMedia = (text: string): boolean => text.length >= shortestMedia && encodedBytes.test(text);
