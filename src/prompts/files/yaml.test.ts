/** YAML that is written here is read back as it was. */
import { expect, test } from 'bun:test';
import fc from 'fast-check';
import { yamlOf } from './yaml.ts';

test('texts of several lines stand in as many lines', () => {
  const text = yamlOf({
    name: 'Greeting',
    parameters: { max_tokens: 20, stop: ['\n'] },
    messages: [{ role: 'system', content: 'You are {{kind}}.\n\n  - be kind\n' }],
  });
  expect(text).toBe(`name: Greeting
parameters:
  max_tokens: 20
  stop:
    - "\\n"
messages:
  - role: system
    content: |
      You are {{kind}}.

        - be kind
`);
});

test.each([
  'a\n',
  'a\n\n',
  '\na',
  '  a\nb',
  'a\n  b\n\n\n',
  'a: b # c\n- d',
  '\ta\nb',
  'a\r\nb',
  'yes',
  '1',
  '',
  ' ',
  '\n',
  '"x"\n\\n',
  'a\u2028b\nc',
  'a\u0085b\n',
  '---\n...\n',
  '{{#a}}\n{{/a}}',
  '|\n',
])('%j comes back', (text) => {
  const document = { a: text, list: [text, { b: text }, [text]], [text]: 1 };
  expect(Bun.YAML.parse(yamlOf(document))).toEqual(document);
});

test('any JSON comes back', () => {
  const text = fc.string({ unit: fc.constantFrom('a', ' ', '\n', '-', ':', '#', '"', "'", '{', '\t', 'é', '|', '>') });
  const { value } = fc.letrec((tie) => ({
    value: fc.oneof(
      { maxDepth: 3 },
      text,
      fc.integer(),
      fc.boolean(),
      fc.constant(null),
      fc.array(tie('value'), { maxLength: 3 }),
      fc.dictionary(fc.stringMatching(/^[a-z_]{1,5}$/), tie('value'), { maxKeys: 3, noNullPrototype: true }),
    ),
  }));
  fc.assert(
    fc.property(value, (json) => {
      const document = { json: json as string };
      expect(Bun.YAML.parse(yamlOf(document))).toEqual(document);
    }),
    { numRuns: 1_000, seed: 19 },
  );
});
