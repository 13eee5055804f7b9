/** The filter language of RFC 7644 (section 3.4.2.2) as a tree, within bounds on length, depth and number of terms. */
import { invalidFilter } from './errors.ts';

export type Comparison = 'eq' | 'ne' | 'co' | 'sw' | 'ew' | 'gt' | 'ge' | 'lt' | 'le';
export type Literal = string | number | boolean | null;

/** `name.givenName` in small letters; the URN of a schema in front of it stands apart. */
export interface AttributePath {
  urn: string | null;
  name: string;
  sub: string | null;
}

export type Filter =
  | { kind: 'and' | 'or'; left: Filter; right: Filter }
  | { kind: 'not'; inner: Filter }
  | { kind: 'present'; path: AttributePath }
  | { kind: 'compare'; path: AttributePath; comparison: Comparison; value: Literal }
  /** `emails[type eq "work"]`: one value of the attribute fits the whole inner filter. */
  | { kind: 'value'; path: AttributePath; inner: Filter };

const longest = 4_000;
const deepest = 20;
const mostTerms = 100;
const comparisons: ReadonlySet<string> = new Set(['eq', 'ne', 'co', 'sw', 'ew', 'gt', 'ge', 'lt', 'le']);

type Token =
  | { type: '(' | ')' | '[' | ']'; at: number }
  | { type: 'word'; text: string; at: number }
  | { type: 'literal'; value: Literal; at: number };

export function parseFilter(text: string): Filter {
  const parser = new Parser(tokensOf(text));
  const filter = parser.disjunction(0);
  parser.requireEnd();
  return filter;
}

/** A path of PATCH: an attribute, a filter on its values, and a sub-attribute of those that fit. */
export interface PatchPath {
  attribute: AttributePath;
  filter: Filter | null;
  sub: string | null;
}

export function parsePatchPath(text: string): PatchPath {
  const parser = new Parser(tokensOf(text));
  const path = parser.patchPath();
  parser.requireEnd();
  return path;
}

class Parser {
  readonly #tokens: readonly Token[];
  #next = 0;
  #terms = 0;

  constructor(tokens: readonly Token[]) {
    this.#tokens = tokens;
  }

  disjunction(depth: number): Filter {
    let left = this.#conjunction(depth);
    while (this.#takeWord('or')) left = { kind: 'or', left, right: this.#conjunction(depth) };
    return left;
  }

  patchPath(): PatchPath {
    const attribute = attributePath(this.#word('an attribute'));
    if (!this.#take('[')) return { attribute: { ...attribute, sub: null }, filter: null, sub: attribute.sub };
    const filter = this.disjunction(1);
    this.#expect(']');
    return { attribute, filter, sub: this.#subAttribute() };
  }

  requireEnd(): void {
    const token = this.#tokens[this.#next];
    if (token) throw invalidFilter(`Nothing is expected at position ${token.at + 1}`);
  }

  #conjunction(depth: number): Filter {
    let left = this.#term(depth);
    while (this.#takeWord('and')) left = { kind: 'and', left, right: this.#term(depth) };
    return left;
  }

  #term(depth: number): Filter {
    if (depth > deepest) throw invalidFilter(`The filter is nested deeper than ${deepest} levels`);
    this.#terms += 1;
    if (this.#terms > mostTerms) throw invalidFilter(`The filter has more than ${mostTerms} terms`);
    if (this.#peekWord('not') && this.#tokens[this.#next + 1]?.type === '(') {
      this.#next += 1;
      return { kind: 'not', inner: this.#grouped(depth) };
    }
    if (this.#tokens[this.#next]?.type === '(') return this.#grouped(depth);
    const path = attributePath(this.#word('an attribute'));
    return this.#take('[') ? this.#valueFilter(path, depth) : this.#comparison(path);
  }

  #grouped(depth: number): Filter {
    this.#expect('(');
    const inner = this.disjunction(depth + 1);
    this.#expect(')');
    return inner;
  }

  /** `emails[type eq "work"].value eq "a@b.c"` is no part of the grammar, yet identity providers send it. */
  #valueFilter(path: AttributePath, depth: number): Filter {
    const inner = this.disjunction(depth + 1);
    this.#expect(']');
    const sub = this.#subAttribute();
    if (sub === null) return { kind: 'value', path, inner };
    const right = this.#comparison({ urn: null, name: sub, sub: null });
    return { kind: 'value', path, inner: { kind: 'and', left: inner, right } };
  }

  #comparison(path: AttributePath): Filter {
    const operator = this.#word('an operator').toLowerCase();
    if (operator === 'pr') return { kind: 'present', path };
    if (!comparisons.has(operator)) throw invalidFilter(`${operator} is no operator`);
    const token = this.#tokens[this.#next];
    if (token?.type !== 'literal') throw invalidFilter(`A value is expected after ${operator}`);
    this.#next += 1;
    return { kind: 'compare', path, comparison: operator as Comparison, value: token.value };
  }

  /** What follows a `]` directly: `.value`. */
  #subAttribute(): string | null {
    const token = this.#tokens[this.#next];
    if (token?.type !== 'word' || !token.text.startsWith('.')) return null;
    this.#next += 1;
    const name = token.text.slice(1).toLowerCase();
    if (!attributeName.test(name)) throw invalidFilter(`${token.text} is no sub-attribute`);
    return name;
  }

  #word(what: string): string {
    const token = this.#tokens[this.#next];
    if (token?.type !== 'word') {
      throw invalidFilter(token ? `Expected ${what} at position ${token.at + 1}` : `Expected ${what} at the end`);
    }
    this.#next += 1;
    return token.text;
  }

  #peekWord(text: string): boolean {
    const token = this.#tokens[this.#next];
    return token?.type === 'word' && token.text.toLowerCase() === text;
  }

  #takeWord(text: string): boolean {
    const found = this.#peekWord(text);
    if (found) this.#next += 1;
    return found;
  }

  #take(type: Token['type']): boolean {
    const found = this.#tokens[this.#next]?.type === type;
    if (found) this.#next += 1;
    return found;
  }

  #expect(type: Token['type']): void {
    if (!this.#take(type)) throw invalidFilter(`A ${type} is missing`);
  }
}

const attributeName = /^(?:\$ref|[a-z][\w-]*)$/i;

/** `urn:ietf:params:scim:schemas:core:2.0:User:name.givenName`, with or without the URN. */
export function attributePath(text: string): AttributePath {
  const isUrn = /^urn:/i.test(text) || /^https?:/i.test(text);
  const at = isUrn ? text.lastIndexOf(':') : -1;
  // A dot before the last colon belongs to the version in the URN.
  const [name = '', sub, ...more] = text.slice(at + 1).split('.');
  if (more.length > 0 || !attributeName.test(name) || (sub !== undefined && !attributeName.test(sub))) {
    throw invalidFilter(`${text.slice(0, 200)} is no attribute`);
  }
  return {
    urn: isUrn ? text.slice(0, at).toLowerCase() : null,
    name: name.toLowerCase(),
    sub: sub?.toLowerCase() ?? null,
  };
}

const punctuation: ReadonlySet<string> = new Set(['(', ')', '[', ']']);
/** A value is quoted as in JSON; everything else ends at white space or a bracket. */
const quoted = /"(?:[^"\\\p{Cc}]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*"/uy;
const bare = /[^\s()[\]"]+/y;
const number = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/;

function tokensOf(text: string): Token[] {
  if (text.length > longest) throw invalidFilter(`The filter is longer than ${longest} characters`);
  const tokens: Token[] = [];
  let at = 0;
  while (at < text.length) {
    const character = text.charAt(at);
    if (/\s/.test(character)) {
      at += 1;
    } else if (punctuation.has(character)) {
      tokens.push({ type: character as '(', at });
      at += 1;
    } else {
      const [token, end] = character === '"' ? literalAt(text, at) : wordAt(text, at);
      tokens.push(token);
      at = end;
    }
  }
  if (tokens.length === 0) throw invalidFilter('The filter is empty');
  return tokens;
}

function literalAt(text: string, at: number): [Token, number] {
  quoted.lastIndex = at;
  const found = quoted.exec(text)?.[0];
  if (found === undefined) throw invalidFilter(`The text that begins at position ${at + 1} does not end`);
  return [{ type: 'literal', value: JSON.parse(found) as string, at }, at + found.length];
}

function wordAt(text: string, at: number): [Token, number] {
  bare.lastIndex = at;
  const word = bare.exec(text)?.[0] ?? text.charAt(at);
  const end = at + word.length;
  const lower = word.toLowerCase();
  if (lower === 'true' || lower === 'false') return [{ type: 'literal', value: lower === 'true', at }, end];
  if (lower === 'null') return [{ type: 'literal', value: null, at }, end];
  if (number.test(word)) return [{ type: 'literal', value: Number(word), at }, end];
  return [{ type: 'word', text: word, at }, end];
}
