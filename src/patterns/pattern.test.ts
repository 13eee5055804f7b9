/** Patterns against the built-in engine, and against what would keep that busy for hours. */
import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import { compilePattern } from './pattern.ts';

const room = () => ({ instructions: 100_000 });

function found(source: string, text: string, steps = 1e9): boolean {
  const result = compilePattern(source, room());
  if ('fault' in result) throw new Error(`${source} ${result.fault}`);
  return result.pattern.test(text, { steps });
}

describe('a pattern', () => {
  const texts = [
    '',
    'a',
    'ab',
    'abc',
    'aab',
    'gpt-4o',
    'claude-3-5',
    'a\nb',
    '/v1/chat/completions',
    'ünï',
    'A_1 b',
    '😀',
  ];

  test.each([
    '',
    'a',
    '^a',
    'b$',
    '^$',
    '^ab?c*$',
    'a|b|^c',
    '(a|b)+$',
    '(?:ab)+',
    '(?<word>a)b',
    '[abc]',
    '[^abc]',
    '[a-c]{2,3}',
    '[\\w-]+',
    '[\\d-a]',
    '[]',
    '[^]',
    '[-a]',
    '[a-]',
    '[\\b]',
    '.',
    '^.$',
    '^..$',
    '\\d',
    '\\D',
    '\\w+\\b',
    '\\bb',
    '\\B-',
    '\\s',
    '\\S',
    '\\.',
    '\\/chat\\/',
    '\\x61',
    '\\u0061',
    '\\u{2}',
    '\\cJ',
    '\\n',
    '\\0',
    '\\x',
    '\\p{L}',
    '{',
    'a{,2}',
    'a{2}',
    'a{1,}',
    'a{0}',
    'a??b',
    'a*?b',
    'a+?',
    '(a*)*$',
    '(?:)*b',
    '(|a)+b',
    '^(?!gpt)',
    '^(?=.*4o)gpt',
    '(?<=-)4',
    '(?<!-)4',
    '(?!a(?!b))a',
    '(?=(?<=a)b)b',
    '^(?!.*(b|c)).*a',
    '(?:a|(?!b).)+$',
    '(?=a)*b',
    'a(?=b)(?!bc)',
    ']',
    '}',
    '\\-',
    '\\_',
  ])('/%s/ finds what the built-in engine finds', (source) => {
    for (const text of texts) expect([text, found(source, text)]).toEqual([text, new RegExp(source).test(text)]);
  });

  test('made at random finds what the built-in engine finds', () => {
    const atom = fc.constantFrom('a', 'b', '.', '[ab]', '[^a]', '\\b', '\\B', '^', '$', '\\w', '\\W', '-');
    const { pattern } = fc.letrec<{ pattern: string }>((tie) => ({
      pattern: fc.oneof(
        { maxDepth: 4 },
        atom,
        fc.tuple(tie('pattern'), tie('pattern')).map(([a, b]) => a + b),
        fc.tuple(tie('pattern'), tie('pattern')).map(([a, b]) => `(${a}|${b})`),
        fc
          .tuple(tie('pattern'), fc.constantFrom('*', '+', '?', '{2}', '{1,2}', '{0,}', '*?'))
          .map(([a, sign]) => `(?:${a})${sign}`),
        fc.tuple(fc.constantFrom('?=', '?!', '?<=', '?<!'), tie('pattern')).map(([look, a]) => `(${look}${a})`),
      ),
    }));
    const text = fc.string({ unit: fc.constantFrom('a', 'b', '-', '\n'), maxLength: 7 });
    fc.assert(
      fc.property(pattern, text, (source, sample) => found(source, sample) === new RegExp(source).test(sample)),
      { numRuns: 5_000 },
    );
  });

  test.each([
    ['exponential', '^(a+)+$'],
    ['exponential through a choice', '^(a|a)*$'],
    ['polynomial', '^.*.*.*.*.*.*x$'],
    ['with nested look-aheads', '^(?=(a+)+(?!a*b))(a|aa)+$'],
  ])('that is %s elsewhere is matched in linear time', (_case, source) => {
    const result = compilePattern(source, room());
    if ('fault' in result) throw new Error(result.fault);
    const fuel = { steps: 1e9 };
    expect(result.pattern.test(`${'a'.repeat(2_000)}!`, fuel)).toBe(false);
    expect(1e9 - fuel.steps).toBeLessThan(200_000);
  });

  test('finds nothing once the fuel of the request is used up, not even by negation', () => {
    expect(found('a$', `${'b'.repeat(1_000)}a`, 100)).toBe(false);
    expect(found('(?!b)', `${'b'.repeat(1_000)}a`, 100)).toBe(false);
  });

  test.each([
    ['(', 'is no regular expression'],
    ['a**', 'is no regular expression'],
    ['(a)\\1', 'refers back to a group, which is not supported'],
    ['(?<x>a)\\k<x>', 'refers back to a group, which is not supported'],
    ['a{2001}', 'is too large'],
    ['(?:(?:a{50}){50}){50}', 'is too large'],
    ['((?:){1000000}){1000000}', 'is too large, alone or together with those before it'],
    ['a'.repeat(1_001), 'is longer than 1000 characters'],
    ['('.repeat(51) + ')'.repeat(51), 'nests more than 50 groups'],
  ])('%s is refused', (source, fault) => {
    expect(compilePattern(source, room())).toEqual({ fault });
  });

  test('shares its room with the others of the config', () => {
    const shared = { instructions: 30 };
    expect(compilePattern('abcde', shared)).toHaveProperty('pattern');
    expect(compilePattern('abcde', shared)).toHaveProperty('pattern');
    expect(compilePattern('abcde', shared)).toHaveProperty('fault');
  });
});
