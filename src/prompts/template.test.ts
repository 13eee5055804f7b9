/** The template language, row by row of its table, and against a second reading of that table. */
import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import { TemplateFault } from './fault.ts';
import { beginRendering, renderText, type Variables } from './render.ts';
import { parseTemplate } from './template.ts';

const saved: Record<string, string> = {
  greeting: 'Hi {{name}}',
  'greeting@2': 'Hello {{name}}',
  'greeting@latest': 'Hey {{name}}',
  outer: '[{{>greeting}}]',
  loop: 'a{{>loop-back}}',
  'loop-back': 'b{{>loop}}',
};

function render(text: string, variables: Variables = {}): string {
  return renderText(
    parseTemplate(text),
    beginRendering({
      variables,
      findPartial: ({ slug, version }) => {
        const found = saved[version === 'published' ? slug : `${slug}@${version}`];
        return found === undefined ? null : parseTemplate(found);
      },
    }),
  );
}

function faultOf(text: string, variables: Variables = {}): TemplateFault {
  try {
    render(text, variables);
  } catch (fault) {
    if (fault instanceof TemplateFault) return fault;
    throw fault;
  }
  throw new Error(`${text.slice(0, 60)} rendered`);
}

describe('tags', () => {
  const cases: [what: string, template: string, variables: Variables, rendered: string][] = [
    ['a variable', 'Hello {{name}}!', { name: 'Ada' }, 'Hello Ada!'],
    ['a missing variable', 'Hello {{name}}!', {}, 'Hello !'],
    ['null', '[{{x}}]', { x: null }, '[]'],
    ['a name with spaces', '{{ first name }}', { 'first name': 'Ada' }, 'Ada'],
    ['a field', '{{user.name}}', { user: { name: 'Ada' } }, 'Ada'],
    ['a field of nothing', '[{{user.name}}]', { user: 'Ada' }, '[]'],
    ['a variable with a dot in its name', '{{user.name}}', { 'user.name': 'Ada' }, 'Ada'],
    ['an element of a list', '{{list.1}}', { list: ['a', 'b'] }, 'b'],
    ['what every object is born with', '[{{constructor}}{{__proto__}}{{toString.name}}]', {}, '[]'],
    ['no escaping', '{{html}} {{{html}}} {{&html}} {{& html }}', { html: '<b>"&' }, '<b>"& <b>"& <b>"& <b>"&'],
    ['numbers and booleans', '{{n}} {{z}} {{t}} {{f}}', { n: 1.5, z: 0, t: true, f: false }, '1.5 0 true false'],
    ['objects and lists as JSON', '{{o}} {{l}}', { o: { a: [1] }, l: ['x'] }, '{"a":[1]} ["x"]'],
    ['a section over a list', '{{#l}}<{{.}}>{{/l}}', { l: [1, 'b'] }, '<1><b>'],
    ['a section over objects', '{{#l}}{{a}}{{b}};{{/l}}', { l: [{ a: 1 }, { a: 2 }], b: 'x' }, '1x;2x;'],
    ['a section of an object', '{{#o}}{{a}}{{/o}}', { o: { a: 1 } }, '1'],
    ['a section of an empty object', '{{#o}}shown{{/o}}', { o: {} }, 'shown'],
    ['a section of a scalar', '{{#s}}({{.}}){{/s}}', { s: 'yes' }, '(yes)'],
    [
      'sections that are skipped',
      '{{#a}}A{{/a}}{{#b}}B{{/b}}{{#c}}C{{/c}}{{#d}}D{{/d}}',
      { a: false, b: '', c: [] },
      '',
    ],
    ['inverted sections', '{{^a}}A{{/a}}{{^b}}B{{/b}}{{^c}}C{{/c}}', { a: [], c: 1 }, 'AB'],
    ['a comment', 'a{{! nothing {of} it }}b', {}, 'ab'],
    ['a partial', '{{>greeting}}', { name: 'Ada' }, 'Hi Ada'],
    ['versions of a partial', '{{> greeting@2 }} {{>greeting@latest}}', { name: 'Ada' }, 'Hello Ada Hey Ada'],
    ['a partial in a partial', '{{>outer}}', { name: 'Ada' }, '[Hi Ada]'],
    ['a partial in a section', '{{#l}}{{>greeting}} {{/l}}', { l: [{ name: 'A' }, { name: 'B' }] }, 'Hi A Hi B '],
    ['a private partial', '{{>>mine}}', { mine: '<{{name}}>', name: 'Ada' }, '<Ada>'],
    ['a value is no template', '{{a}}', { a: '{{b}}', b: 'no' }, '{{b}}'],
    ['a change of delimiters is text', 'a {{=<% %>=}} b', {}, 'a {{=<% %>=}} b'],
    ['single braces', '{"a": {"b": 1}} {x}', {}, '{"a": {"b": 1}} {x}'],
    ['more variables than tags', 'x', { a: 1 }, 'x'],
  ];
  for (const [what, template, variables, rendered] of cases) {
    test(what, () => expect(render(template, variables)).toBe(rendered));
  }
});

describe('lines', () => {
  test('tags of sections and comments take their own line with them', () => {
    expect(render('a\n  {{#s}}  \nb\n{{/s}}\n{{! c }}\nd', { s: true })).toBe('a\nb\nd');
    expect(render('a\r\n{{^s}}\r\nb\r\n{{/s}}\r\nd')).toBe('a\r\nb\r\nd');
    expect(render('{{#s}}\nb\n{{/s}}', { s: true })).toBe('b\n');
  });

  test('a line with anything else on it stays', () => {
    expect(render('a {{#s}}\nb{{/s}}\n', { s: true })).toBe('a \nb\n');
    expect(render('{{name}}\n{{>greeting}}\n', { name: 'A' })).toBe('A\nHi A\n');
  });
});

describe('faults', () => {
  const cases: [template: string, line: number, column: number, says: RegExp][] = [
    ['a\nb {{name', 2, 3, /no closing }}/],
    ['{{{name}}', 1, 1, /no closing }}}/],
    ['one\n  {{#a}}x', 2, 3, /"a" is never closed/],
    ['{{#a}}\n{{/b}}', 2, 1, /"b" is closed here, but the open section is "a" of line 1, column 1/],
    ['x{{/a}}', 1, 2, /no section "a" is open/],
    ['{{}}', 1, 1, /names nothing/],
    ['{{ first {{second}}', 1, 1, /not closed/],
    ['{{>not a slug}}', 1, 1, /names no partial/],
    ['{{>greeting@production}}', 1, 1, /names no partial/],
    [`{{${'x'.repeat(300)}}}`, 1, 1, /255 characters/],
    ['\n{{>unknown}}', 2, 1, /no partial unknown/],
  ];
  for (const [template, line, column, says] of cases) {
    test(`${template.slice(0, 30)} is told with its line and column`, () => {
      const { place, message } = faultOf(template);
      expect(place).toEqual({ line, column });
      expect(message).toMatch(says);
    });
  }

  test('a missing partial is told apart from a fault of the text', () => {
    expect(faultOf('{{>unknown}}').kind).toBe('missing');
    expect(faultOf('{{').kind).toBe('invalid');
  });

  test('partials that contain each other are refused, with the way there', () => {
    expect(faultOf('{{>loop}}').message).toBe(
      'partial loop, partial loop-back, line 1, column 2: the partial loop contains itself',
    );
    expect(faultOf('{{>>p}}', { p: '{{>>p}}' }).message).toContain('the partial p contains itself');
  });

  test('a private partial must be text, and its own faults name the variable', () => {
    expect(faultOf('{{>>p}}', { p: { a: 1 } }).message).toBe(
      'line 1, column 1: the variable "p" is used as a template here and must be text',
    );
    expect(faultOf('{{>>p}}', { p: 'x\n{{#a}}' }).message).toContain('variable p, line 2, column 1');
  });
});

describe('hostile shapes', () => {
  test('deep nesting, a megabyte of tags and endless partials are refused', () => {
    expect(faultOf('{{#a}}'.repeat(100_000)).message).toContain('nested at most');
    expect(faultOf('{{a}}'.repeat(200_000)).message).toContain('10000 tags');
    expect(faultOf('{{'.repeat(500_000)).message).toContain('no closing');
    expect(faultOf('{{! '.repeat(250_000)).message).toContain('no closing');
    const chain = Object.fromEntries(Array.from({ length: 20 }, (_, n) => [`p${n}`, `{{>>p${n + 1}}}`]));
    expect(faultOf('{{>>p0}}', chain).message).toContain('at most 10 deep');
  });

  test('sections that multiply end at the budget', () => {
    const list = Array.from({ length: 1_000 }, () => 1);
    const multiplied = `${'{{#l}}'.repeat(10)}x${'{{/l}}'.repeat(10)}`;
    expect(faultOf(multiplied, { l: list }).message).toContain('steps');
    expect(faultOf('{{#l}}{{long}}{{/l}}', { l: list, long: 'x'.repeat(100_000) }).message).toContain('longer than');
    expect(faultOf('{{#l}}{{#l}}{{>>p}}{{/l}}{{/l}}', { l: list, p: `{{!${'x'.repeat(900_000)}}}` }).message).toContain(
      'steps',
    );
  });
});

/** A template as a tree of its own, written out for the parser and evaluated here straight from the table. */
type Tree =
  | { text: string }
  | { name: string; marks: readonly [string, string] }
  | { section: string; inverted: boolean; inside: Tree[] }
  | { comment: string };

const word = fc.constantFrom('a', 'b', 'c', 'a.b', 'c.a', 'two words');
const safeText = fc.string({ unit: fc.constantFrom('x', 'y', ' ', '"', '\\', '{', '}', '<', 'é', '🙂'), maxLength: 6 });
const plain = safeText.filter((text) => !/\{\{|\}\}|^[{}]|[{}]$/.test(text)).map((text): Tree => ({ text }));
const marks = fc.constantFrom(['{{', '}}'], ['{{{', '}}}'], ['{{&', '}}'], ['{{ ', ' }}']) as fc.Arbitrary<
  [string, string]
>;

const { forest } = fc.letrec<{ tree: Tree; forest: Tree[] }>((tie) => ({
  forest: fc.array(tie('tree'), { maxLength: 4 }),
  tree: fc.oneof(
    { maxDepth: 4 },
    plain,
    fc.record({ name: fc.oneof(word, fc.constant('.')), marks }),
    fc.record({ section: word, inverted: fc.boolean(), inside: tie('forest') }),
    fc.record({ comment: fc.constantFrom('x', ' note ') }),
  ) as fc.Arbitrary<Tree>,
}));

const scalar = fc.constantFrom<unknown>('', 'text', 0, 1, -2.5, true, false, null);
const value = fc.oneof(
  scalar,
  fc.array(fc.oneof(scalar, fc.record({ a: scalar, b: scalar }, { requiredKeys: [] })), { maxLength: 3 }),
  fc.record({ a: scalar, b: scalar }, { requiredKeys: [] }),
);
const variables = fc.record({ a: value, b: value, c: value, 'two words': scalar }, { requiredKeys: [] });

const written = (trees: Tree[]): string =>
  trees
    .map((tree) => {
      if ('text' in tree) return tree.text;
      if ('name' in tree) return `${tree.marks[0]}${tree.name}${tree.marks[1]}`;
      if ('comment' in tree) return `{{!${tree.comment}}}`;
      return `{{${tree.inverted ? '^' : '#'}${tree.section}}}${written(tree.inside)}{{/${tree.section}}}`;
    })
    .join('');

function evaluated(trees: Tree[], contexts: unknown[]): string {
  const find = (name: string): unknown => {
    if (name === '.') return contexts.at(-1);
    const [first = '', second] = name.split('.');
    const holder = contexts.findLast((context) => typeof context === 'object' && context !== null && first in context);
    const found = (holder as Record<string, unknown> | undefined)?.[first];
    if (second === undefined) return found;
    return typeof found === 'object' && found !== null ? (found as Record<string, unknown>)[second] : undefined;
  };
  return trees
    .map((tree) => {
      if ('text' in tree) return tree.text;
      if ('comment' in tree) return '';
      if ('name' in tree) {
        const found = find(tree.name);
        return typeof found === 'string' ? found : found === null || found === undefined ? '' : JSON.stringify(found);
      }
      const found = find(tree.section);
      const shown = Array.isArray(found) ? found.length > 0 : Boolean(found);
      if (tree.inverted) return shown ? '' : evaluated(tree.inside, contexts);
      if (!shown) return '';
      const elements = Array.isArray(found) ? found : [found];
      return elements.map((element) => evaluated(tree.inside, [...contexts, element])).join('');
    })
    .join('');
}

describe('any template', () => {
  test('renders as the table says', () => {
    fc.assert(
      fc.property(forest, variables, (trees, given) => {
        // A line that is only a section or a comment is told by the tests of lines.
        const template = `|${written(trees)}|`;
        expect(render(template, given)).toBe(`|${evaluated(trees, [given])}|`);
      }),
      { numRuns: 2_000 },
    );
  });

  test('of any characters either renders or is refused with a place', () => {
    const pieces = fc.constantFrom(
      '{{',
      '}}',
      '{{{',
      '}}}',
      '#',
      '/',
      '^',
      '>',
      '>>',
      '!',
      '&',
      '=',
      'a',
      ' ',
      '\n',
      '.',
      '@',
    );
    fc.assert(
      fc.property(fc.array(pieces, { maxLength: 30 }), variables, (parts, given) => {
        try {
          render(parts.join(''), given);
        } catch (fault) {
          expect(fault).toBeInstanceOf(TemplateFault);
          expect((fault as TemplateFault).place).not.toBeNull();
        }
      }),
      { numRuns: 3_000 },
    );
  });
});
