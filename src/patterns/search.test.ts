/** The linear search finds what the built-in engine finds, at once or piece by piece, and never takes longer than its fuel. */
import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import { compileSearch, OutOfFuel, type Search } from './search.ts';
import type { PatternFlags } from './syntax.ts';

const fuel = () => ({ steps: 10_000_000 });

function searchOf(source: string, flags: PatternFlags = {}): Search {
  const compiled = compileSearch(source, flags);
  if ('fault' in compiled) throw new Error(compiled.fault);
  return compiled.search;
}

function allOf(search: Search, text: string): string[] {
  const found: string[] = [];
  for (let from = 0; from <= text.length; ) {
    const span = search.find(text, from, fuel());
    if (!span) break;
    found.push(`${span.start}-${span.end}`);
    from = span.end === span.start ? span.end + 1 : span.end;
  }
  return found;
}

const builtIn = (source: string, flags: string, text: string): string[] =>
  [...text.matchAll(new RegExp(source, `g${flags}`))].map((match) => `${match.index}-${match.index + match[0].length}`);

const patterns: [source: string, flags: string][] = [
  ['a', ''],
  ['a+b', ''],
  ['a+?b?', ''],
  ['(a|ab)(c|bcd)', ''],
  ['a|ab|abc', ''],
  ['^a', 'm'],
  ['b$', 'm'],
  ['^ab$', ''],
  ['\\bab\\b', ''],
  ['\\Bb', ''],
  ['[a-c]{2,3}', ''],
  ['[^a]b', ''],
  ['(?:ab)*c', ''],
  ['a.c', 's'],
  ['AB', 'i'],
  ['(?=ab)a', ''],
  ['a(?!b)', ''],
  ['(?<=a)b', ''],
  ['', ''],
  ['a*', ''],
  ['(a*)*b', ''],
];

const asFlags = (flags: string): PatternFlags => ({
  ignoreCase: flags.includes('i'),
  multiline: flags.includes('m'),
  dotAll: flags.includes('s'),
  unicode: flags.includes('u'),
});

describe('the search finds what the built-in engine finds', () => {
  for (const [source, flags] of patterns) {
    test(`/${source}/${flags}`, () => {
      const search = searchOf(source, asFlags(flags));
      fc.assert(
        fc.property(
          fc.string({ unit: fc.constantFrom('a', 'b', 'c', 'd', 'A', 'B', '\n', ' '), maxLength: 24 }),
          (text) => {
            expect(allOf(search, text)).toEqual(builtIn(source, flags, text));
          },
        ),
        { numRuns: 300 },
      );
    });
  }

  test('properties of Unicode and characters of two units', () => {
    expect(allOf(searchOf('\\p{Lu}+', { unicode: true }), 'ab ÄÖ c')).toEqual(['3-5']);
    expect(allOf(searchOf('\\u{1F600}', { unicode: true }), 'x😀y')).toEqual(['1-3']);
  });
});

describe('piece by piece', () => {
  for (const [source, flags] of patterns) {
    const { scanner } = searchOf(source, asFlags(flags));
    if (!scanner || source === '' || source === 'a*') continue;
    test(`/${source}/${flags} finds the same as at once, and nothing before what it called settled`, () => {
      fc.assert(
        fc.property(
          fc.array(fc.string({ unit: fc.constantFrom('a', 'b', 'c', 'd', '\n', ' '), maxLength: 5 }), { maxLength: 8 }),
          (pieces) => {
            const scan = scanner();
            const found: string[] = [];
            let gone = 0;
            let text = '';
            const read = (final: boolean) => {
              const { found: spans, settled } = scan.read(text, final, fuel());
              for (const { start, end } of spans) found.push(`${start + gone}-${end + gone}`);
              // One character stays, since an edge may look back at it.
              const drop = Math.max(0, settled - 1);
              scan.drop(drop);
              text = text.slice(drop);
              gone += drop;
            };
            for (const piece of pieces) {
              text += piece;
              read(false);
            }
            read(true);
            expect(found).toEqual(allOf(searchOf(source, asFlags(flags)), pieces.join('')));
          },
        ),
        { numRuns: 300 },
      );
    });
  }

  test('text that begins no match is settled at once', () => {
    const scan = searchOf('sk-[a-z0-9]{8,}').scanner?.();
    expect(scan?.read('nothing to see', false, fuel()).settled).toBe(14);
    expect(scan?.read('nothing to see, sk-ab', false, fuel()).settled).toBe(16);
  });
});

describe('details of a match', () => {
  test('groups and captures are those of the built-in engine', () => {
    const search = searchOf('(?<user>[a-z]+)@([a-z]+)(x)?');
    const text = 'to bob@corp now';
    const span = search.find(text, 0, fuel());
    expect(span && search.details(text, span, fuel())).toEqual({
      matchedText: 'bob@corp',
      index: 3,
      groups: { user: 'bob' },
      captures: ['bob', 'corp', null],
    });
  });
});

test('what takes too long is refused, not waited for', () => {
  const search = searchOf('a(.*b)?');
  expect(() => allOfWith(search, 'a'.repeat(20_000), { steps: 100_000 })).toThrow(OutOfFuel);
});

function allOfWith(search: Search, text: string, shared: { steps: number }): void {
  for (let from = 0; from < text.length; ) {
    const span = search.find(text, from, shared);
    if (!span) return;
    from = Math.max(span.end, from + 1);
  }
}
