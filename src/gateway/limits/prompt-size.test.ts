/** The size of a prompt, held against the finer estimate that bills use and against the vocabularies that OpenAI publishes. */
import { expect, test } from 'bun:test';
import fc from 'fast-check';
import { encode } from 'gpt-tokenizer/encoding/o200k_base';
import { tokensOf } from '../settle/token-estimate.ts';
import { promptSize } from './prompt-size.ts';

test.each([
  ['English', 'The quick brown fox jumps over the lazy dog. '.repeat(50)],
  ['German', 'Der schnelle braune Fuchs springt über den faulen Hund. '.repeat(50)],
  ['Chinese', '敏捷的棕色狐狸跳过了懒狗。'.repeat(50)],
  ['Russian', 'Быстрая коричневая лиса прыгает через ленивую собаку. '.repeat(50)],
  ['code', 'for (let index = 0; index < list.length; index++) total += list[index] ?? 0;\n'.repeat(30)],
])('%s is within a factor of three of the finer estimate, the bound that a first call reserves by', (_, text) => {
  const rough = promptSize([{ role: 'user', content: text }], undefined, 'gpt-4o').tokens;
  const fine = tokensOf([{ role: 'user', content: text }], 'gpt-4o');
  expect(rough / fine).toBeWithin(1 / 3, 3);
});

test('bytes in base64 are no text', () => {
  const picture = `data:image/png;base64,${'iVBORw0KGgo'.repeat(10_000)}`;
  expect(promptSize([{ type: 'image_url', image_url: { url: picture } }], undefined, 'gpt-4o').tokens).toBeLessThan(
    1_100,
  );
});

const mostOf = (content: unknown, model = 'gpt-4o') =>
  promptSize([{ role: 'user', content }], undefined, model).mostTokens;

test('no text has more tokens than the bound, whatever it is made of', () => {
  const pieces = fc.oneof(
    fc.string({ unit: 'grapheme', maxLength: 60 }),
    fc.string({ unit: 'binary', maxLength: 60 }),
    fc.base64String({ maxLength: 400 }),
    fc.constantFrom('🏳️‍🌈', 'ﷺ', '\u0000', 'ΩΩ', '\t\t\t', '0x1f', '敏捷的棕色狐狸'),
  );
  fc.assert(
    fc.property(fc.array(pieces, { maxLength: 20 }), (texts) => {
      const text = texts.join('');
      // Each message costs a few tokens beside its text.
      expect(mostOf(text)).toBeGreaterThanOrEqual(encode(text, { disallowedSpecial: new Set() }).length + 7);
    }),
    { numRuns: 300 },
  );
});

test('a picture is bounded by what its model makes of the largest, and a document by a context', () => {
  const picture = [{ type: 'image_url', image_url: { url: 'https://pictures.test/a.png' } }];
  expect(mostOf(picture)).toBeGreaterThanOrEqual(1_445);
  expect(mostOf(picture, 'gpt-4o-mini')).toBeGreaterThanOrEqual(48_169);
  expect(mostOf([{ type: 'file', file: { file_id: 'file-1' } }])).toBeGreaterThanOrEqual(1_000_000);
  expect(
    promptSize([{ parts: [{ inlineData: { mimeType: 'audio/wav', data: 'x' } }] }], undefined, 'gemini').mostTokens,
  ).toBeGreaterThanOrEqual(1_000_000);
});
