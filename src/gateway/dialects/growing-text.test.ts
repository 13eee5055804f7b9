import { expect, test } from 'bun:test';
import { GrowingText } from './growing-text.ts';

test('the text is what came, at any time', () => {
  const text = new GrowingText();
  let expected = '';
  for (let count = 0; count < 50; count++) {
    expect(text.whole).toBe(expected);
    for (let piece = 0; piece < count % 7; piece++) {
      text.push(`${count}.${piece} é`);
      expected += `${count}.${piece} é`;
    }
  }
  expect(text.whole).toBe(expected);
});

test('a character that comes in two halves is whole again, and half a one stays half', () => {
  const text = new GrowingText();
  for (const piece of ['a', '\ud83d', '\ude00', '\ud83d', 'z'.repeat(200)]) text.push(piece);
  expect(text.whole).toBe(`a\ud83d\ude00\ud83d${'z'.repeat(200)}`);
});
