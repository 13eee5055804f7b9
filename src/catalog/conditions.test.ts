/** Which branch a request takes: queries against its metadata, parameters and headers. */
import { describe, expect, test } from 'bun:test';
import { chosenChild, compileQuery, newPatternRoom, queryHolds, type RequestFacts } from './conditions.ts';

const facts: RequestFacts = {
  metadata: { plan: 'paid', seats: '12' },
  params: { model: 'fast', temperature: 0.7, stream: true, stop: null, messages: [{ role: 'user' }], n: 0 },
  pathname: '/v1/chat/completions',
  headers: new Headers({ 'X-Team': 'blue', authorization: 'Bearer secret' }),
  kind: 'chatComplete',
};

const answer = (query: unknown): boolean => queryHolds(compileQuery(query).query, facts);
const warningsOf = (query: unknown): string[] => compileQuery(query).warnings;

describe('a query', () => {
  test.each<[Record<string, unknown>, boolean]>([
    [{ 'metadata.plan': { $eq: 'paid' } }, true],
    [{ 'metadata.plan': 'paid' }, true],
    [{ 'metadata.plan': { $ne: 'free' } }, true],
    [{ 'metadata.tier': { $ne: 'x' } }, false],
    [{ 'params.temperature': { $gte: 0.7 } }, true],
    [{ 'params.temperature': { $gt: '0.5' } }, true],
    [{ 'params.temperature': { $eq: '0.7' } }, false],
    [{ 'params.model': { $in: ['fast', 'smart'] } }, true],
    [{ 'params.model': { $in: 'fast' } }, false],
    [{ 'params.model': { $regex: '^fa' } }, true],
    [{ 'params.model': { $regex: '(' } }, false],
    [{ 'params.model': { $regex: '^fa', $ne: 'fast' } }, false],
    [{ 'url.pathname': { $regex: '/chat/' } }, true],
    [{ $or: [{ 'metadata.plan': 'free' }, { 'params.model': 'fast' }] }, true],
    [{ $or: [{ 'params.model': 'fast' }], 'metadata.plan': 'free' }, false],
    [{ 'metadata.a.b': 'x' }, false],
    [{ 'metadata.plan': { $foo: 1 } }, false],
  ])('of the specification, %j, is %p', (query, expected) => {
    expect(answer(query)).toBe(expected);
  });

  test.each<[string, Record<string, unknown>, boolean]>([
    ['equality is strict: a number in metadata is a text', { 'metadata.seats': 12 }, false],
    ['and so is inequality', { 'metadata.seats': { $ne: 12 } }, true],
    ['a boolean is a value', { 'params.stream': true }, true],
    ['null is a value', { 'params.stop': null }, true],
    ['zero is a value', { 'params.n': 0 }, true],
    ['a list is no value', { 'params.messages': { $ne: 1 } }, false],
    ['$gt parses both sides', { 'metadata.seats': { $gt: 11 } }, true],
    ['$gt is strict', { 'metadata.seats': { $gt: 12 } }, false],
    ['$lt', { 'metadata.seats': { $lt: 12.5 } }, true],
    ['$lte', { 'metadata.seats': { $lte: 12 } }, true],
    ['$lte with more', { 'metadata.seats': { $lte: 11 } }, false],
    ['what is no number is not greater', { 'metadata.plan': { $gt: 1 } }, false],
    ['nor smaller', { 'metadata.plan': { $lt: 1 } }, false],
    ['nor equal', { 'metadata.plan': { $gte: 'paid' } }, false],
    ['$in is strict', { 'metadata.seats': { $in: [12] } }, false],
    ['$nin', { 'params.model': { $nin: ['smart'] } }, true],
    ['$nin with the value', { 'params.model': { $nin: ['fast'] } }, false],
    ['$nin without a list', { 'params.model': { $nin: 'smart' } }, false],
    ['$regex is unanchored', { 'params.model': { $regex: 'as' } }, true],
    ['$regex minds case', { 'params.model': { $regex: 'FAST' } }, false],
    ['$regex takes a number as text', { 'params.temperature': { $regex: '^0\\.7$' } }, true],
    ['$regex survives catastrophic patterns', { 'url.pathname': { $regex: '^(([a-z/0-9]+)+)+!$' } }, false],
    ['$contains', { 'url.pathname': { $contains: 'chat' } }, true],
    ['$exists', { 'metadata.plan': { $exists: true } }, true],
    ['$exists of a missing field', { 'metadata.tier': { $exists: true } }, false],
    ['$exists false of a missing field', { 'metadata.tier': { $exists: false } }, true],
    ['$exists false of a field', { 'metadata.plan': { $exists: false } }, false],
    ['operators beside each other all count', { 'params.temperature': { $gt: 0, $lt: 0.5 } }, false],
    ['keys beside each other all count', { 'metadata.plan': 'paid', 'params.model': 'smart' }, false],
    ['$and', { $and: [{ 'metadata.plan': 'paid' }, { 'params.model': 'fast' }] }, true],
    ['$and with a false one', { $and: [{ 'metadata.plan': 'paid' }, { 'params.model': 'smart' }] }, false],
    ['$and beside a key', { $and: [{ 'metadata.plan': 'paid' }], 'params.model': 'smart' }, false],
    ['$and beside $or', { $and: [{ 'metadata.plan': 'paid' }], $or: [{ 'params.model': 'smart' }] }, false],
    [
      'nested',
      { $or: [{ $and: [{ 'params.n': 0 }, { $or: [{ 'params.n': 1 }, { 'params.model': 'fast' }] }] }] },
      true,
    ],
    ['$not', { $not: { 'metadata.plan': 'free' } }, true],
    ['$not of a true one', { $not: { 'metadata.plan': 'paid' } }, false],
    ['an empty $or', { $or: [] }, false],
    ['nothing asked', {}, true],
    ['a header, in any case', { 'headers.x-team': 'blue' }, true],
    ['a header as it was written', { 'headers.X-Team': 'blue' }, true],
    ['the endpoint kind', { endpoint_type: { $in: ['chatComplete'] } }, true],
    ['a name of the language is no field', { 'params.constructor': { $exists: true } }, false],
    ['an unusable pattern leaves the rest', { $or: [{ 'params.model': { $regex: '(' } }, { 'params.n': 0 }] }, true],
  ])('%s', (_rule, query, expected) => {
    expect(answer(query)).toBe(expected);
    expect(warningsOf(query).length > 0).toBe(JSON.stringify(query).includes('"("'));
  });

  test.each(['$eq', '$ne', '$gt', '$gte', '$lt', '$lte', '$in', '$nin', '$regex', '$contains'])(
    '%s of a missing field is false',
    (operator) => {
      for (const operand of ['', 0, ['x'], '.*']) {
        expect(answer({ 'metadata.missing': { [operator]: operand } })).toBe(false);
      }
    },
  );

  test.each<[unknown, string]>([
    [{ 'metadata.a.b': 'x' }, 'metadata.a.b names nothing in a request'],
    [{ 'params.': 'x' }, 'params. names nothing in a request'],
    [{ plan: 'x' }, 'plan names nothing in a request'],
    [{ 'headers.authorization': { $regex: '^Bearer' } }, 'headers.authorization names nothing in a request'],
    [{ $nor: [] }, '$nor names nothing in a request'],
    [{ 'metadata.plan': { $foo: 1 } }, 'metadata.plan: $foo is not an operator'],
    [{ 'metadata.plan': {} }, 'metadata.plan is compared with nothing'],
    [{ 'metadata.plan': ['paid'] }, 'metadata.plan is compared with nothing'],
    [{ $or: { 'metadata.plan': 'paid' } }, '$or takes a list of queries'],
    [{ $and: ['metadata.plan'] }, 'a query is an object'],
    ['metadata.plan', 'a query is an object'],
  ])('that is malformed, %j, never holds and says why', (query, warning) => {
    expect(answer(query)).toBe(false);
    expect(answer({ $not: query })).toBe(false);
    expect(answer({ $or: [{ 'params.n': 0 }, query] })).toBe(false);
    expect(warningsOf(query)).toEqual([warning]);
  });

  test('with a pattern that cannot be used says why', () => {
    expect(warningsOf({ 'params.model': { $regex: '(' } })).toEqual([
      'params.model: the pattern is no regular expression',
    ]);
    expect(warningsOf({ 'params.model': { $regex: 5 } })).toEqual(['params.model: the pattern is not a text']);
  });
});

describe('a conditional strategy', () => {
  const condition = (query: unknown, child: number) => ({ query: compileQuery(query).query, child });
  const never = condition({ 'params.model': 'smart' }, 0);
  const always = condition({ 'params.model': 'fast' }, 1);

  test('takes the first condition that holds, else the default, else none', () => {
    const later = condition({}, 2);
    expect(chosenChild({ conditions: [never, always, later], defaultChild: 3 }, facts)).toEqual({
      child: 1,
      condition: 1,
    });
    expect(chosenChild({ conditions: [never], defaultChild: 3 }, facts)).toEqual({ child: 3, condition: null });
    expect(chosenChild({ conditions: [never], defaultChild: null }, facts)).toBeNull();
  });

  test('stops matching patterns when a request has had its share of work', () => {
    const room = newPatternRoom();
    const heavy = { 'params.text': { $regex: '(a|b|c|d|e)*(a|b|c|d|e)*(a|b|c|d|e)*(a|b|c|d|e)*!' } };
    const matching = { query: compileQuery({ 'params.model': { $regex: 'fast' } }, room).query, child: 2 };
    const conditions = Array.from({ length: 50 }, () => ({ query: compileQuery(heavy, room).query, child: 0 }));
    const long = { ...facts, params: { model: 'fast', text: 'abcde'.repeat(10_000) } };
    expect(chosenChild({ conditions: [...conditions, matching], defaultChild: 1 }, long)?.child).toBe(1);
    expect(chosenChild({ conditions: [matching, ...conditions], defaultChild: 1 }, long)?.child).toBe(2);
  });
});
