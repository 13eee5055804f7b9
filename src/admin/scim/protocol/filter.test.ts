/** The filter language: what it reads, and how it refuses. */
import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import { ScimError } from './errors.ts';
import { type Filter, parseFilter, parsePatchPath } from './filter.ts';
import { fits } from './matches.ts';

const compare = (name: string, comparison: string, value: unknown) => ({
  kind: 'compare',
  path: { urn: null, name, sub: null },
  comparison,
  value,
});

describe('reading', () => {
  test('values are texts, numbers, booleans and null', () => {
    expect(parseFilter('a eq "x \\"y\\" \\u00e9"') as unknown).toEqual(compare('a', 'eq', 'x "y" é'));
    expect(parseFilter('a GT -1.5e2') as unknown).toEqual(compare('a', 'gt', -150));
    expect(parseFilter('a eq TRUE') as unknown).toEqual(compare('a', 'eq', true));
    expect(parseFilter('a ne null') as unknown).toEqual(compare('a', 'ne', null));
  });

  test('and binds closer than or, and parentheses closer than both', () => {
    expect(parseFilter('a pr or b pr and c pr')).toMatchObject({ kind: 'or', right: { kind: 'and' } });
    expect(parseFilter('(a pr or b pr) and c pr')).toMatchObject({ kind: 'and', left: { kind: 'or' } });
    expect(parseFilter('not (a pr) and b pr')).toMatchObject({ kind: 'and', left: { kind: 'not' } });
  });

  test('an attribute has a URN, a sub-attribute, or both', () => {
    expect(parseFilter('urn:ietf:params:scim:schemas:core:2.0:User:name.familyName co "O"')).toMatchObject({
      path: { urn: 'urn:ietf:params:scim:schemas:core:2.0:user', name: 'name', sub: 'familyname' },
    });
  });

  test('a filter on values may be followed by one of their parts', () => {
    expect(parseFilter('emails[type eq "work" and value co "@x"]')).toMatchObject({ kind: 'value' });
    expect(parseFilter('emails[type eq "work"].value eq "a@b.c"')).toMatchObject({
      kind: 'value',
      inner: { kind: 'and', right: { path: { name: 'value' }, value: 'a@b.c' } },
    });
  });

  test('paths of PATCH', () => {
    expect(parsePatchPath('members[value eq "1"]')).toMatchObject({ attribute: { name: 'members' }, sub: null });
    expect(parsePatchPath('emails[type eq "work"].value')).toMatchObject({ sub: 'value' });
    expect(parsePatchPath('name.givenName')).toMatchObject({
      attribute: { name: 'name' },
      filter: null,
      sub: 'givenname',
    });
  });
});

describe('refusing', () => {
  const refused = (text: string) => {
    try {
      return parseFilter(text);
    } catch (error) {
      return error instanceof ScimError ? error.scimType : error;
    }
  };

  test.each([
    '',
    ' ',
    'userName',
    'userName eq',
    'userName is "x"',
    'userName eq "x',
    'userName eq x',
    'userName eq "x" and',
    'and userName eq "x"',
    '(userName eq "x"',
    'userName eq "x")',
    'emails[type eq "work"',
    'emails[]',
    'not userName eq "x"',
    'a.b.c eq "x"',
    '1a eq "x"',
    'userName eq "a\\q"',
    'userName eq "x" userName eq "y"',
  ])('%p', (text) => expect(refused(text)).toBe('invalidFilter'));

  test('what is too long, too deep or has too many terms', () => {
    expect(refused(`a eq "${'x'.repeat(5_000)}"`)).toBe('invalidFilter');
    expect(refused(`${'('.repeat(50)}a pr${')'.repeat(50)}`)).toBe('invalidFilter');
    expect(refused(Array.from({ length: 150 }, () => 'a pr').join(' or '))).toBe('invalidFilter');
  });

  test('nothing that anybody types is a fault of ours', () => {
    const piece = fc.constantFrom(
      'a',
      'eq',
      'pr',
      'and',
      'or',
      'not',
      '(',
      ')',
      '[',
      ']',
      '"x"',
      '"',
      '\\',
      '.',
      ':',
      '1',
      'é',
    );
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 30 }), fc.constantFrom('', ' '), (pieces, gap) => {
        const answer = refused(pieces.join(gap));
        return answer === 'invalidFilter' || (typeof answer === 'object' && answer !== null && 'kind' in answer);
      }),
      { numRuns: 500, seed: 21 },
    );
  });
});

test('a filter on values agrees with a plain reading of it', () => {
  const entry = { type: 'Work', value: 'a@b.c', primary: true };
  const holds = (text: string) => fits(entry, parseFilter(text) as Filter);
  expect(holds('type eq "work" and primary eq "True"')).toBe(true);
  expect(holds('value sw "a" and value ew ".c" and value co "@"')).toBe(true);
  expect(holds('not (type eq "work") or display pr')).toBe(false);
  expect(holds('display ne "x" and value gt "a" and value le "z"')).toBe(true);
});
