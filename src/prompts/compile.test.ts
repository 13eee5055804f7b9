/** Prompts as a whole: messages, plain text, raw templates, and the variables found in them. */
import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import { compilePrompt, type RenderedPrompt } from './compile.ts';
import { TemplateFault } from './fault.ts';
import type { Variables } from './render.ts';
import { parseTemplate } from './template.ts';
import { variablesOf } from './variables.ts';

const partials: Record<string, string> = {
  quoted: 'He said "{{x}}"\nand left',
  object: '{"role": "user", "content": "{{x}}"}',
};

const prompt = (string: string, isRaw = false, metadata: Record<string, unknown> = {}) =>
  compilePrompt({ string, isRaw, metadata, model: 'gpt-4o' });

const render = (string: string, variables: Variables, isRaw = false, metadata = {}): RenderedPrompt =>
  prompt(string, isRaw, metadata).render({
    variables,
    findPartial: ({ slug }) => (partials[slug] === undefined ? null : parseTemplate(partials[slug])),
  });

const chat = JSON.stringify([
  { role: 'system', content: 'You are {{kind}}.' },
  {
    role: 'user',
    content: [
      { type: 'text', text: '{{question}}' },
      { type: 'image_url', image_url: { url: '{{url}}' } },
    ],
  },
]);

describe('messages', () => {
  test('every text in them is rendered, and nothing else changes', () => {
    expect(render(chat, { kind: 'kind', question: 'Why?', url: 'https://a.test' })).toEqual({
      messages: [
        { role: 'system', content: 'You are kind.' },
        {
          role: 'user',
          content: [
            { type: 'text', text: 'Why?' },
            { type: 'image_url', image_url: { url: 'https://a.test' } },
          ],
        },
      ],
    });
  });

  test('a value never becomes structure', () => {
    fc.assert(
      fc.property(fc.string(), (question) => {
        const { messages } = render(chat, { kind: '', question, url: '' }) as { messages: { content: unknown }[] };
        expect(messages).toHaveLength(2);
        expect(messages[1]?.content).toEqual([
          { type: 'text', text: question },
          { type: 'image_url', image_url: { url: '' } },
        ]);
      }),
    );
  });

  test('a fault names the message and the place in its text', () => {
    const broken = JSON.stringify([
      { role: 'user', content: 'fine' },
      { role: 'user', content: 'a\n {{#b}}' },
    ]);
    expect(() => prompt(broken)).toThrow('[1].content, line 2, column 2: the section "b" is never closed');
  });
});

describe('plain text', () => {
  test('is one message of the user', () => {
    expect(render('Hello {{name}}', { name: 'Ada' })).toEqual({ messages: [{ role: 'user', content: 'Hello Ada' }] });
    expect(render('[1] Hello', {})).toEqual({ messages: [{ role: 'user', content: '[1] Hello' }] });
  });

  test('is the prompt of a text completion where the prompt or its model says so', () => {
    expect(render('Hello', {}, false, { template_type: 'text' })).toEqual({ prompt: 'Hello' });
    const old = compilePrompt({ string: 'Hello', isRaw: false, metadata: {}, model: 'gpt-3.5-turbo-instruct' });
    expect(old.render({ variables: {}, findPartial: () => null })).toEqual({ prompt: 'Hello' });
  });
});

describe('raw templates', () => {
  const raw =
    '[{{#turns}}{"role": "{{role}}", "content": "{{text}}"}, {{/turns}}{"role": "user", "content": {{last}}}]';

  test('sections span messages, values in strings are escaped, others become structure', () => {
    const turns = [{ role: 'user', text: 'a "quote"\n' }];
    expect(render(raw, { turns, last: [{ type: 'text', text: 'x' }] }, true)).toEqual({
      messages: [
        { role: 'user', content: 'a "quote"\n' },
        { role: 'user', content: [{ type: 'text', text: 'x' }] },
      ],
    });
  });

  test('a value inside a string literal stays inside it, whatever it is', () => {
    const one = '[{"role": "user", "content": "\\"{{x}}\\\\"}]';
    fc.assert(
      fc.property(fc.string(), (x) => {
        expect(render(one, { x }, true)).toEqual({ messages: [{ role: 'user', content: `"${x}\\` }] });
      }),
    );
  });

  test('a partial inside a string literal is text, and elsewhere structure', () => {
    expect(render('[{"role": "user", "content": "{{>quoted}}"}, {{>object}}]', { x: 'a"b' }, true)).toEqual({
      messages: [
        { role: 'user', content: 'He said "a"b"\nand left' },
        { role: 'user', content: 'a"b' },
      ],
    });
  });

  test('what is no JSON or no messages once it is rendered is refused', () => {
    expect(() => render('[{{x}}', { x: 1 }, true)).toThrow(TemplateFault);
    expect(() => render('{"a": 1}', {}, true)).toThrow('must be a JSON array of messages');
  });
});

describe('variables', () => {
  test('are found with type, need and places', () => {
    const string = JSON.stringify([
      { role: 'system', content: 'Be {{tone}}.{{#vip}} Be quick.{{/vip}}{{^vip}} Take {{time}}.{{/vip}}' },
      { role: 'user', content: '{{user.name}} has:\n{{#items}}- {{.}}\n{{/items}}{{>>closing}}' },
    ]);
    const found = variablesOf(prompt(string));
    expect(found.map(({ name, type, required }) => [name, type, required])).toEqual([
      ['tone', 'text', true],
      ['vip', 'switch', false],
      ['time', 'text', false],
      ['user', 'object', true],
      ['items', 'list', false],
      ['closing', 'template', true],
    ]);
    expect(found[2]?.uses).toEqual([{ within: '[0].content', line: 1, column: 53, as: 'value', sections: ['vip'] }]);
    expect(found[4]?.uses[0]).toMatchObject({ within: '[1].content', line: 2, column: 1 });
  });
});
