/** Searches texts for a pattern in linear time: where it stands, what its groups captured, and how much of a text that still grows is decided. */
import { Alphabet } from './alphabet.ts';
import { Automaton, type State } from './automaton.ts';
import { findWithCaptures } from './captures.ts';
import type { Fuel } from './pattern.ts';
import { assemble } from './program.ts';
import { PatternFault, type PatternFlags, type PatternNode, parsePattern } from './syntax.ts';

export interface MatchSpan {
  start: number;
  end: number;
}

export interface MatchDetails {
  matchedText: string;
  index: number;
  groups: Readonly<Record<string, string | null>> | null;
  captures: readonly (string | null)[];
}

/** What could not be searched in the time that it may take. */
export class OutOfFuel extends Error {}

export interface Search {
  /** The first match from `from` on. */
  find(text: string, from: number, fuel: Fuel): MatchSpan | null;
  details(text: string, span: MatchSpan, fuel: Fuel): MatchDetails;
  /** A search through a text that arrives piece by piece; null where the pattern looks around itself. */
  scanner: (() => Scanner) | null;
}

const instructionsOfPattern = 20_000;

/** The search, or why the pattern cannot be used. */
export function compileSearch(source: string, flags: PatternFlags = {}): { search: Search } | { fault: string } {
  try {
    return { search: searchFor(parsePattern(source, flags)) };
  } catch (error) {
    if (error instanceof PatternFault) return { fault: error.message };
    throw error;
  }
}

function searchFor(tree: PatternNode): Search {
  const room = { instructions: instructionsOfPattern };
  const capturing = assemble(tree, room, { captures: true });
  const groups = groupsOf(tree);
  const details = (text: string, span: MatchSpan, fuel: Fuel): MatchDetails => {
    const found = findWithCaptures(capturing, text, span.start, true, fuel);
    if (found === 'no fuel') throw new OutOfFuel('the pattern takes too long on this text');
    return detailsOf(text, found ?? { ...span, captures: [] }, groups);
  };
  if (capturing.looks.length > 0) {
    const find = (text: string, from: number, fuel: Fuel): MatchSpan | null => {
      const found = findWithCaptures(capturing, text, from, false, fuel);
      if (found === 'no fuel') throw new OutOfFuel('the pattern takes too long on this text');
      return found;
    };
    return { find, details, scanner: null };
  }
  const forward = assemble(tree, room).program;
  const backward = assemble(tree, room, { backward: true }).program;
  const alphabet = new Alphabet([forward, backward]);
  const ends = new Automaton(forward, alphabet, { backward: false, longest: false });
  const starts = new Automaton(backward, alphabet, { backward: true, longest: true });
  const startOf = (text: string, end: number, from: number, fuel: Fuel): number =>
    beginning(starts, text, end, from, fuel);
  return {
    find(text, from, fuel) {
      const end = ending(ends, text, from, fuel);
      return end < 0 ? null : { start: startOf(text, end, from, fuel), end };
    },
    details,
    scanner: () => new Scanner(ends, startOf),
  };
}

function ending(automaton: Automaton, text: string, from: number, fuel: Fuel): number {
  let state = automaton.start(from === 0 ? -1 : text.charCodeAt(from - 1), true);
  let end = -1;
  for (let position = from; position <= text.length; position++) {
    const step = automaton.step(state, position < text.length ? text.charCodeAt(position) : -1, fuel);
    if (step.matched) end = position;
    state = step.to;
    if (state.dead) break;
    if (fuel.steps <= 0) throw new OutOfFuel('the pattern takes too long on this text');
  }
  return end;
}

/** The earliest place from which a match reaches `end`. */
function beginning(automaton: Automaton, text: string, end: number, from: number, fuel: Fuel): number {
  let state = automaton.start(end < text.length ? text.charCodeAt(end) : -1, false);
  let start = end;
  for (let position = end; position >= from; position--) {
    const step = automaton.step(state, position > 0 ? text.charCodeAt(position - 1) : -1, fuel);
    if (step.matched) start = position;
    state = step.to;
    if (state.dead) break;
  }
  return start;
}

/** Searches a text that grows. It says of how much of it everything is known. */
export class Scanner {
  readonly #ends: Automaton;
  readonly #startOf: (text: string, end: number, from: number, fuel: Fuel) => number;
  #state: State;
  /** How far `text` was read. */
  #position = 0;
  /** Before this no match can begin any more. */
  #settled = 0;
  /** Where the match that is being read may end. */
  #end = -1;
  /** Behind the last match. */
  #from = 0;

  constructor(ends: Automaton, startOf: (text: string, end: number, from: number, fuel: Fuel) => number) {
    this.#ends = ends;
    this.#startOf = startOf;
    this.#state = ends.start(-1, true);
  }

  /** Reads on in `text`, of which all that was read before is still part; `dropped` characters before it are gone. */
  read(text: string, final: boolean, fuel: Fuel): { found: MatchSpan[]; settled: number } {
    const found: MatchSpan[] = [];
    for (;;) {
      const atEnd = this.#position >= text.length;
      if (atEnd && !final) break;
      const step = this.#ends.step(this.#state, atEnd ? -1 : text.charCodeAt(this.#position), fuel);
      if (fuel.steps <= 0) throw new OutOfFuel('the pattern takes too long on this text');
      if (step.matched) this.#end = this.#position;
      if (step.to.dead || atEnd) {
        if (this.#end < 0) break;
        found.push(this.#take(text, fuel));
        if (this.#position > text.length) break;
        continue;
      }
      this.#position += 1;
      this.#state = step.to;
      if (step.to.idle) this.#settled = this.#position;
    }
    if (final) this.#settled = text.length;
    return { found, settled: this.#settled };
  }

  /** The beginning of the text was let go. */
  drop(characters: number): void {
    this.#position -= characters;
    this.#settled -= characters;
    this.#from = Math.max(0, this.#from - characters);
    if (this.#end >= 0) this.#end -= characters;
  }

  #take(text: string, fuel: Fuel): MatchSpan {
    const end = this.#end;
    const span = { start: this.#startOf(text, end, this.#from, fuel), end };
    // A match of nothing must not be found for ever.
    this.#position = span.start === end ? end + 1 : end;
    this.#from = this.#position;
    this.#settled = this.#position;
    this.#end = -1;
    this.#state = this.#ends.start(this.#position > 0 ? text.charCodeAt(this.#position - 1) : -1, true);
    return span;
  }
}

interface Groups {
  count: number;
  names: ReadonlyMap<string, number>;
}

function groupsOf(tree: PatternNode): Groups {
  const names = new Map<string, number>();
  let count = 0;
  const visit = (node: PatternNode): void => {
    if (node.kind === 'group') {
      count = Math.max(count, node.index);
      if (node.name !== null) names.set(node.name, node.index);
    }
    if (node.kind === 'sequence') for (const part of node.parts) visit(part);
    else if (node.kind === 'choice') for (const option of node.options) visit(option);
    else if ('body' in node) visit(node.body);
  };
  visit(tree);
  return { count, names };
}

function detailsOf(
  text: string,
  { start, end, captures }: MatchSpan & { captures: readonly number[] },
  { count, names }: Groups,
): MatchDetails {
  const captured = (index: number): string | null => {
    const from = captures[2 * index];
    const to = captures[2 * index + 1];
    return from === undefined || to === undefined ? null : text.slice(from, to);
  };
  return {
    matchedText: text.slice(start, end),
    index: start,
    groups: names.size === 0 ? null : Object.fromEntries([...names].map(([name, index]) => [name, captured(index)])),
    captures: Array.from({ length: count }, (_, index) => captured(index + 1)),
  };
}
