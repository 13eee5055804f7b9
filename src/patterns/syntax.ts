/** Reads an ECMAScript regular expression into a tree. */
import { type CodeUnits, caseVariants, propertyUnits } from './unicode.ts';

export type PatternNode =
  | { kind: 'unit'; units: CodeUnits }
  | { kind: 'sequence'; parts: readonly PatternNode[] }
  | { kind: 'choice'; options: readonly PatternNode[] }
  | { kind: 'repeat'; body: PatternNode; least: number; most: number; lazy: boolean }
  /** A group that captures: its number from 1, and its name. */
  | { kind: 'group'; body: PatternNode; index: number; name: string | null }
  | { kind: 'edge'; edge: 'start' | 'end' | 'word' | 'inside' | 'line-start' | 'line-end' }
  | { kind: 'look'; body: PatternNode; behind: boolean; negated: boolean };

/** Why a pattern is not used. */
export class PatternFault extends Error {}

/** The flags that change what a pattern matches; others only say how it is used. */
export interface PatternFlags {
  ignoreCase?: boolean;
  multiline?: boolean;
  dotAll?: boolean;
  unicode?: boolean;
}

const noFlags: PatternFlags = {};

const longestPattern = 1_000;
const deepestGroup = 50;
const lastUnit = 0xffff;

const digits: CodeUnits = [[48, 57]];
export const wordUnits: CodeUnits = [
  [48, 57],
  [65, 90],
  [95, 95],
  [97, 122],
];
const spaces: CodeUnits = [
  [9, 13],
  [32, 32],
  [160, 160],
  [0x1680, 0x1680],
  [0x2000, 0x200a],
  [0x2028, 0x2029],
  [0x202f, 0x202f],
  [0x205f, 0x205f],
  [0x3000, 0x3000],
  [0xfeff, 0xfeff],
];
export const lineEnds: CodeUnits = [
  [10, 10],
  [13, 13],
  [0x2028, 0x2029],
];

export function union(ranges: CodeUnits): CodeUnits {
  const merged: [number, number][] = [];
  for (const [from, to] of ranges.toSorted((a, b) => a[0] - b[0])) {
    const last = merged.at(-1);
    if (last && from <= last[1] + 1) last[1] = Math.max(last[1], to);
    else merged.push([from, to]);
  }
  return merged;
}

function complement(units: CodeUnits): CodeUnits {
  const gaps: [number, number][] = [];
  let next = 0;
  for (const [from, to] of units) {
    if (from > next) gaps.push([next, from - 1]);
    next = to + 1;
  }
  if (next <= lastUnit) gaps.push([next, lastUnit]);
  return gaps;
}

const classes: Readonly<Record<string, CodeUnits>> = {
  d: digits,
  D: complement(digits),
  w: wordUnits,
  W: complement(wordUnits),
  s: spaces,
  S: complement(spaces),
};
const controls: Readonly<Record<string, number>> = { n: 10, r: 13, t: 9, v: 11, f: 12 };

const unitOf = (code: number): CodeUnits => [[code, code]];

/** The tree of a pattern; throws a PatternFault for what is no pattern or cannot be matched in linear time. */
export function parsePattern(source: string, flags: PatternFlags = noFlags): PatternNode {
  if (source.length > longestPattern) throw new PatternFault(`is longer than ${longestPattern} characters`);
  try {
    // The engine only reads it here, which is quick whatever the pattern; what follows may then rely on its grammar.
    new RegExp(source, flags.unicode ? 'u' : '');
  } catch {
    throw new PatternFault('is no regular expression');
  }
  return new PatternReader(source, flags).choice();
}

class PatternReader {
  private at = 0;
  private depth = 0;
  private groups = 0;

  constructor(
    private readonly source: string,
    private readonly flags: PatternFlags,
  ) {}

  choice(): PatternNode {
    const options = [this.sequence()];
    while (this.take('|')) options.push(this.sequence());
    return options.length === 1 && options[0] ? options[0] : { kind: 'choice', options };
  }

  private sequence(): PatternNode {
    const parts: PatternNode[] = [];
    while (this.at < this.source.length && !this.sees('|') && !this.sees(')')) parts.push(this.repeated(this.term()));
    return { kind: 'sequence', parts };
  }

  private repeated(body: PatternNode): PatternNode {
    const quantifier = this.match(/(?:([*+?])|\{(\d+)(,?)(\d*)\})(\??)/y);
    if (!quantifier) return body;
    const [, sign, least, comma, most, question] = quantifier;
    const lazy = question === '?';
    if (sign) return { kind: 'repeat', body, least: sign === '+' ? 1 : 0, most: sign === '?' ? 1 : Infinity, lazy };
    const from = Number(least);
    return { kind: 'repeat', body, least: from, most: most ? Number(most) : comma ? Infinity : from, lazy };
  }

  private term(): PatternNode {
    if (this.take('^')) return { kind: 'edge', edge: this.flags.multiline ? 'line-start' : 'start' };
    if (this.take('$')) return { kind: 'edge', edge: this.flags.multiline ? 'line-end' : 'end' };
    if (this.take('\\b')) return { kind: 'edge', edge: 'word' };
    if (this.take('\\B')) return { kind: 'edge', edge: 'inside' };
    if (this.take('(')) return this.group();
    if (this.take('[')) return { kind: 'unit', units: this.bracketClass() };
    if (this.take('.')) return { kind: 'unit', units: this.flags.dotAll ? complement([]) : complement(lineEnds) };
    const wide = this.flags.unicode ? this.match(/\\u\{([0-9a-fA-F]+)\}/y) : null;
    if (wide) return this.codePoint(Number.parseInt(wide[1] ?? '', 16));
    return { kind: 'unit', units: this.cased(this.take('\\') ? this.escape() : unitOf(this.unit())) };
  }

  /** One code unit, or the two that stand for a character beyond them. */
  private codePoint(code: number): PatternNode {
    const parts = [...String.fromCodePoint(code).split('')].map(
      (unit): PatternNode => ({ kind: 'unit', units: this.cased(unitOf(unit.charCodeAt(0))) }),
    );
    return { kind: 'sequence', parts };
  }

  private cased(units: CodeUnits): CodeUnits {
    return this.flags.ignoreCase ? union([...units, ...caseVariants(units)]) : units;
  }

  private group(): PatternNode {
    this.depth += 1;
    if (this.depth > deepestGroup) throw new PatternFault(`nests more than ${deepestGroup} groups`);
    const look = this.match(/\?(<?)([=!])/y);
    const plain = look ?? this.match(/\?:/y);
    const named = plain ? null : this.match(/\?<([^>]*)>/y);
    if (!plain && !named && this.sees('?')) {
      throw new PatternFault('sets flags inside a group, which is not supported');
    }
    const index = plain ? 0 : ++this.groups;
    const body = this.choice();
    this.at += 1;
    this.depth -= 1;
    if (look) return { kind: 'look', body, behind: look[1] === '<', negated: look[2] === '!' };
    return plain ? body : { kind: 'group', body, index, name: named?.[1] ?? null };
  }

  private bracketClass(): CodeUnits {
    const negated = this.take('^');
    const units: (readonly [number, number])[] = [];
    while (!this.take(']')) {
      const from = this.classItem();
      const low = single(from);
      if (low !== null && this.sees('-') && this.source[this.at + 1] !== ']') {
        this.at += 1;
        const to = this.classItem();
        const high = single(to);
        // `[a-\d]` is no range: the three stand for themselves.
        units.push(...(high === null ? [...from, [45, 45] as const, ...to] : [[low, high] as const]));
      } else units.push(...from);
    }
    const all = this.cased(union(units));
    return negated ? complement(all) : all;
  }

  private classItem(): CodeUnits {
    if (this.take('\\b')) return unitOf(8);
    return this.take('\\') ? this.escape() : unitOf(this.unit());
  }

  private escape(): CodeUnits {
    const letter = this.source[this.at] ?? '';
    const units = Object.hasOwn(classes, letter) ? classes[letter] : undefined;
    const control = Object.hasOwn(controls, letter) ? controls[letter] : undefined;
    if (units || control !== undefined) {
      this.at += 1;
      return units ?? unitOf(control ?? 0);
    }
    const hex = this.match(/x([0-9a-fA-F]{2})|u([0-9a-fA-F]{4})/y);
    if (hex) return unitOf(Number.parseInt(hex[1] ?? hex[2] ?? '', 16));
    const property = this.flags.unicode ? this.match(/[pP]\{[^}]*\}/y) : null;
    if (property) return propertyUnits(property[0]);
    const caret = this.match(/c([A-Za-z])/y);
    if (caret?.[1]) return unitOf(caret[1].charCodeAt(0) % 32);
    if (this.match(/0(?!\d)/y)) return unitOf(0);
    if (this.match(/\d|k</y)) throw new PatternFault('refers back to a group, which is not supported');
    if (letter === 'c') throw new PatternFault('has an incomplete control escape');
    return unitOf(this.unit());
  }

  private unit(): number {
    const code = this.source.charCodeAt(this.at);
    this.at += 1;
    return code;
  }

  private sees(text: string): boolean {
    return this.source.startsWith(text, this.at);
  }

  private take(text: string): boolean {
    if (!this.sees(text)) return false;
    this.at += text.length;
    return true;
  }

  private match(form: RegExp): RegExpExecArray | null {
    form.lastIndex = this.at;
    const found = form.exec(this.source);
    if (found) this.at = form.lastIndex;
    return found;
  }
}

function single(units: CodeUnits): number | null {
  const [first, second] = units;
  return first && !second && first[0] === first[1] ? first[0] : null;
}
