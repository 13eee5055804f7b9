/** Token counts from lengths, held against the finer estimate that bills use. */
import { expect, test } from 'bun:test';
import { tokensOf } from '../settle/token-estimate.ts';
import { roughTokens } from './rough-tokens.ts';

test.each([
  ['English', 'The quick brown fox jumps over the lazy dog. '.repeat(50)],
  ['German', 'Der schnelle braune Fuchs springt über den faulen Hund. '.repeat(50)],
  ['Chinese', '敏捷的棕色狐狸跳过了懒狗。'.repeat(50)],
  ['Russian', 'Быстрая коричневая лиса прыгает через ленивую собаку. '.repeat(50)],
  ['code', 'for (let index = 0; index < list.length; index++) total += list[index] ?? 0;\n'.repeat(30)],
])('%s is within a factor of three of the finer estimate, the bound that a first call reserves by', (_, text) => {
  const rough = roughTokens([{ role: 'user', content: text }]);
  const fine = tokensOf([{ role: 'user', content: text }], 'gpt-4o');
  expect(rough / fine).toBeWithin(1 / 3, 3);
});

test('bytes in base64 are no text', () => {
  const picture = `data:image/png;base64,${'iVBORw0KGgo'.repeat(10_000)}`;
  expect(roughTokens([{ type: 'image_url', image_url: { url: picture } }])).toBeLessThan(1_100);
});
