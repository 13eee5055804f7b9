import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import { planForProvider } from '../../catalog/compile.ts';
import { newAttemptRecord } from '../attempt/attempt.ts';
import { usageOfAnswer } from './usage.ts';

function reportedIn(text: string, modelKnown: boolean) {
  const record = newAttemptRecord(planForProvider({ from: 'request' }).root);
  record.status = 200;
  record.received = Buffer.from(text);
  return usageOfAnswer('chatComplete', record, modelKnown);
}

const figures = { prompt_tokens: 3, completion_tokens: 4, total_tokens: 7 };

describe('the usage of a whole answer', () => {
  test.each([
    ['stands at its end', JSON.stringify({ id: 'a', choices: [], usage: figures })],
    ['stands at its front', JSON.stringify({ usage: figures, choices: [{ text: 'a' }] })],
    [
      'is followed by other fields',
      JSON.stringify({ choices: [], usage: figures, system_fingerprint: null, tags: {} }),
    ],
    ['is written with blanks and line breaks', JSON.stringify({ choices: [], usage: figures, tier: 'a' }, null, 2)],
    ['comes before others of that name', JSON.stringify({ usage: figures, steps: [{ usage: { prompt_tokens: 99 } }] })],
    ['comes before talk of it', JSON.stringify({ usage: figures, text: '","usage":{"prompt_tokens":99}}' })],
    ['comes behind talk of it', JSON.stringify({ text: '"usage":{"prompt_tokens":99}', usage: figures })],
    ['comes before a name that ends alike', JSON.stringify({ usage: figures, 'my"usage': { prompt_tokens: 99 } })],
  ])('that %s', (_, text) => {
    expect(reportedIn(text, true)?.usage).toMatchObject({ inputTokens: 3, outputTokens: 4 });
  });

  test('is none where there is none, or the answer is no JSON', () => {
    for (const text of [
      '{}',
      '[]',
      '',
      'usage',
      '{"usage":null}',
      '{"usage":{',
      '{"a":{"usage":{"prompt_tokens":3}}}',
    ]) {
      expect(reportedIn(text, true)).toBeNull();
    }
  });

  test('is the same whether the rest of the answer is read or not', () => {
    const name = fc.constantFrom('usage', 'a"usage', 'usage"', 'a', '\\', 'choices');
    const value = fc.letrec((tie) => ({
      any: fc.oneof(
        { depthSize: 'small' },
        fc.constantFrom('"usage":', '\\"usage":{', '","usage":{"prompt_tokens":9}', '', '\\'),
        fc.nat(9),
        fc.constant(null),
        fc.record({ prompt_tokens: fc.nat(9), completion_tokens: fc.nat(9) }),
        fc.array(tie('any'), { maxLength: 3 }),
        fc.dictionary(name, tie('any'), { maxKeys: 3 }),
      ),
    })).any;
    const answer = fc.dictionary(name, value, { maxKeys: 4 });
    fc.assert(
      fc.property(answer, fc.constantFrom(0, 2), (json, blanks) => {
        const text = JSON.stringify(json, null, blanks);
        expect(reportedIn(text, true)?.usage).toEqual(reportedIn(text, false)?.usage);
      }),
      { numRuns: 3_000 },
    );
  });

  test('tells the model where nobody knows it', () => {
    const text = JSON.stringify({ model: 'behind-the-name', usage: figures });
    expect(reportedIn(text, false)?.model).toBe('behind-the-name');
  });
});
