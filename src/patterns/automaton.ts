/**
 * A pattern as a deterministic automaton whose states are made when they are first needed: a step costs a look into a table,
 * whatever the pattern. What a step costs that must be made first is paid from the fuel of who asks.
 */
import type { Alphabet } from './alphabet.ts';
import { type Fuel, includes } from './pattern.ts';
import { type Edge, op, type Program } from './program.ts';
import { lineEnds, wordUnits } from './syntax.ts';

/** Beyond this the automaton forgets its states and begins anew. */
const mostStates = 1_000;

const word = 1;
const lineEnd = 2;
const none = 4;

/** A set of ways through the program, in the order of their precedence. */
export interface State {
  /** Instructions at which ways stand, before anything is read. */
  readonly ways: readonly number[];
  /** Whether a match may still begin behind here. */
  readonly searching: boolean;
  /** What was read last: a letter of a word, an end of a line, nothing at all. */
  readonly behind: number;
  /** By the group of the next code unit: where that leads. */
  readonly steps: (Step | undefined)[];
  /** No match has begun. */
  readonly idle: boolean;
  /** No way is left. */
  readonly dead: boolean;
}

interface Step {
  to: State;
  /** A match ends before the code unit that is read. */
  matched: boolean;
}

interface Manner {
  /** Reads the text backward. */
  backward: boolean;
  /** Goes on for the longest match instead of the one that takes precedence. */
  longest: boolean;
}

export class Automaton {
  readonly #program: Program;
  readonly #alphabet: Alphabet;
  readonly #manner: Manner;
  #states = new Map<string, State>();
  readonly #marks: Uint32Array;
  #round = 0;

  constructor(program: Program, alphabet: Alphabet, manner: Manner) {
    this.#program = program;
    this.#alphabet = alphabet;
    this.#manner = manner;
    this.#marks = new Uint32Array(program.length);
  }

  /** Where to begin behind the code unit `before`; -1 where the text begins. */
  start(before: number, searching: boolean): State {
    return this.#state([0], searching, traitsOf(before));
  }

  /** The step for the next code unit; -1 for the end of the text. */
  step(state: State, code: number, fuel: Fuel): Step {
    fuel.steps -= 1;
    const group = code < 0 ? this.#alphabet.size : this.#alphabet.groupOf(code);
    const known = state.steps[group];
    if (known) return known;
    const made = this.#make(state, this.#alphabet.exampleOf(group), fuel);
    state.steps[group] = made;
    return made;
  }

  #make(state: State, code: number, fuel: Fuel): Step {
    const ahead = traitsOf(code);
    const reading: number[] = [];
    const matched = this.#close(state, ahead, reading);
    fuel.steps -= this.#program.length;
    const ways: number[] = [];
    if (code >= 0) {
      for (const at of reading) if (includes(this.#program[at]?.units ?? [], code)) ways.push(at + 1);
    }
    // What begins later than a match that was found counts less than it.
    const searching = state.searching && !matched;
    if (searching) ways.push(0);
    return { to: this.#state(ways, searching, ahead), matched };
  }

  /** Follows every way until it must read; true when one of them has matched. */
  #close(state: State, ahead: number, reading: number[]): boolean {
    this.#round += 1;
    const stack: number[] = [];
    let matched = false;
    for (const way of state.ways) {
      stack.push(way);
      while (stack.length > 0) {
        const at = stack.pop() ?? 0;
        const instruction = this.#program[at];
        if (!instruction || this.#marks[at] === this.#round) continue;
        this.#marks[at] = this.#round;
        if (instruction.op === op.unit) reading.push(at);
        else if (instruction.op === op.split) stack.push(instruction.or, instruction.to);
        else if (instruction.op === op.match) {
          matched = true;
          if (!this.#manner.longest) return true;
        } else if (instruction.op !== op.edge || this.#holds(instruction.edge, state.behind, ahead)) {
          stack.push(at + 1);
        }
      }
    }
    return matched;
  }

  #holds(edge: Edge, behind: number, ahead: number): boolean {
    const left = this.#manner.backward ? ahead : behind;
    const right = this.#manner.backward ? behind : ahead;
    if (edge === 'start') return left === none;
    if (edge === 'end') return right === none;
    if (edge === 'line-start') return left === none || left === lineEnd;
    if (edge === 'line-end') return right === none || right === lineEnd;
    return ((left === word) !== (right === word)) === (edge === 'word');
  }

  #state(ways: readonly number[], searching: boolean, behind: number): State {
    const key = `${ways.join()}|${searching}|${behind}`;
    const known = this.#states.get(key);
    if (known) return known;
    if (this.#states.size >= mostStates) this.#states = new Map();
    const idle = searching && ways.length === 1;
    const state: State = { ways, searching, behind, steps: [], idle, dead: ways.length === 0 };
    this.#states.set(key, state);
    return state;
  }
}

function traitsOf(code: number): number {
  if (code < 0) return none;
  if (includes(wordUnits, code)) return word;
  return includes(lineEnds, code) ? lineEnd : 0;
}
