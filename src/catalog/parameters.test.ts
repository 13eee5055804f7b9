/** Parameters that a config adds to a body, replaces in it or takes out of it. */
import { describe, expect, test } from 'bun:test';
import { type ParameterPath, parseParameterPath, shapeParameters } from './parameters.ts';

type Params = Record<string, unknown> | null;

const path = (text: string): ParameterPath => {
  const parsed = parseParameterPath(text);
  if (!parsed) throw new Error(`${text} is no path`);
  return parsed;
};

const rules = (defaultParams: Params, overrideParams: Params, drops: string[]) => ({
  defaultParams,
  overrideParams,
  dropParams: drops.map(path),
});

const dropped = (body: Record<string, unknown>, ...drops: string[]) => shapeParameters(body, rules(null, null, drops));

describe('default, override and drop', () => {
  const client = {
    model: 'm',
    temperature: 0.2,
    tools: [{ function: { name: 'a', strict: true } }, { function: { name: 'b', strict: true } }],
    logprobs: true,
  };

  test('work together, in this order, on the example of the specification', () => {
    const shaped = shapeParameters(
      client,
      rules({ temperature: 1, max_tokens: 50 }, { model: 'x' }, ['logprobs', 'tools[*].function.strict', 'nope.a[3]']),
    );
    expect(shaped).toEqual({
      model: 'x',
      temperature: 0.2,
      max_tokens: 50,
      tools: [{ function: { name: 'a' } }, { function: { name: 'b' } }],
    });
    expect(client.logprobs).toBe(true);
    expect(client.tools[0]?.function.strict).toBe(true);
  });

  test.each<[string, Record<string, unknown>, ReturnType<typeof rules>, Record<string, unknown>]>([
    ['a default fills what is missing', {}, rules({ n: 1 }, null, []), { n: 1 }],
    ['a default leaves what was sent', { n: 2 }, rules({ n: 1 }, null, []), { n: 2 }],
    ['null counts as sent', { n: null }, rules({ n: 1 }, null, []), { n: null }],
    ['an override replaces', { n: 2 }, rules(null, { n: 1 }, []), { n: 1 }],
    ['an override adds', {}, rules(null, { n: 1 }, []), { n: 1 }],
    ['an override replaces a whole object', { m: { a: 1 } }, rules(null, { m: { b: 2 } }, []), { m: { b: 2 } }],
    ['an override beats a default', {}, rules({ n: 1 }, { n: 2 }, []), { n: 2 }],
    ['a drop beats an override', {}, rules(null, { n: 2 }, ['n']), {}],
    ['a drop beats a default', {}, rules({ n: 2 }, null, ['n']), {}],
  ])('%s', (_rule, body, leaf, expected) => {
    expect(shapeParameters(body, leaf)).toEqual(expected);
  });

  test.each<[string, ReturnType<typeof rules>]>([
    ['no rules', rules(null, null, [])],
    ['a default for what was sent', rules({ model: 'z' }, null, [])],
    ['an override with the value that was sent', rules(null, { model: 'm', logprobs: true }, [])],
    ['a path that leads nowhere', rules(null, null, ['nope', 'tools[9]', 'tools[*].nope', 'model.a', 'tools.length'])],
  ])('%s: the very same object comes back', (_case, leaf) => {
    expect(shapeParameters(client, leaf)).toBe(client);
  });

  test('what was not touched is shared, not copied', () => {
    const shaped = dropped(client, 'tools[0].function.strict');
    expect(shaped).not.toBe(client);
    expect(shaped.tools).not.toBe(client.tools);
    expect(Array.isArray(shaped.tools) && shaped.tools[1]).toBe(client.tools[1]);
  });

  test('names of the language are ordinary names', () => {
    const hostile: Record<string, unknown> = JSON.parse('{"__proto__": {"polluted": 1}}');
    const shaped = shapeParameters({ a: 1 }, rules(hostile, hostile, ['constructor.prototype', 'toString']));
    expect(Object.hasOwn(shaped, '__proto__')).toBe(true);
    expect(Object.getPrototypeOf(shaped)).toBe(Object.prototype);
    expect({}).not.toHaveProperty('polluted');
  });
});

describe('a path of drop_params', () => {
  const messages = [{ c: 0 }, { c: 1 }, { c: 2 }, { c: 3 }];
  const scoped = { messages: [{ content: [{ cache_control: { scope: 'x', type: 'e' } }, { text: 't' }] }] };
  const unscoped = { messages: [{ content: [{ cache_control: { type: 'e' } }, { text: 't' }] }] };

  test.each<[string, string[], Record<string, unknown>, Record<string, unknown>]>([
    ['a key', ['a'], { a: 1, b: 2 }, { b: 2 }],
    ['dotted', ['a.b'], { a: { b: 1, c: 2 } }, { a: { c: 2 } }],
    ['index in brackets', ['t[0].s'], { t: [{ s: 1, n: 1 }, { s: 2 }] }, { t: [{ n: 1 }, { s: 2 }] }],
    ['index with a dot', ['t.0.s'], { t: [{ s: 1, n: 1 }, { s: 2 }] }, { t: [{ n: 1 }, { s: 2 }] }],
    ['a whole element', ['messages[2]'], { messages }, { messages: [{ c: 0 }, { c: 1 }, { c: 3 }] }],
    ['wildcards', ['messages[*].content[*].cache_control.scope'], scoped, unscoped],
    ['wildcard with a dot', ['t.*.s'], { t: [{ s: 1 }, { s: 2 }] }, { t: [{}, {}] }],
    ['every element', ['messages[*]'], { messages }, { messages: [] }],
    ['escaped dot', ['a\\.b'], { 'a.b': 1, a: { b: 2 } }, { a: { b: 2 } }],
    ['escaped bracket', ['a\\[0\\]'], { 'a[0]': 1, a: [1] }, { a: [1] }],
    ['key in brackets', ['a[b]'], { a: { b: 1, c: 2 } }, { a: { c: 2 } }],
    ['index on an object: the literal key', ['a[0]'], { a: { 0: 'x', 1: 'y' } }, { a: { 1: 'y' } }],
    ['wildcard on an object: nothing', ['a[*]'], { a: { b: 1 } }, { a: { b: 1 } }],
    ['a literal star', ['a.*'], { a: { '*': 1, b: 2 } }, { a: { b: 2 } }],
    ['two indices, as written', ['messages[0]', 'messages[1]'], { messages }, { messages: [{ c: 2 }, { c: 3 }] }],
    ['two indices, other order', ['messages[1]', 'messages[0]'], { messages }, { messages: [{ c: 2 }, { c: 3 }] }],
    ['an element and a field in a later one', ['t[0]', 't[1].s'], { t: [{ s: 0 }, { s: 1 }] }, { t: [{}] }],
    ['a parent and its child', ['a.b', 'a'], { a: { b: 1 }, c: 1 }, { c: 1 }],
    ['siblings', ['a.b', 'a.c'], { a: { b: 1, c: 2, d: 3 } }, { a: { d: 3 } }],
  ])('%s', (_form, drops, body, expected) => {
    const before = structuredClone(body);
    expect(dropped(body, ...drops)).toEqual(expected);
    expect(body).toEqual(before);
  });

  test.each(['', '.', '.a', 'a.', 'a..b', 'a[', 'a[]', 'a]', 'a[0', 'a[0]b', 'a.[0]', 'a\\'])(
    '%p is refused',
    (text) => {
      expect(parseParameterPath(text)).toBeNull();
    },
  );
});
