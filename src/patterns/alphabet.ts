/** Groups code units that a program cannot tell apart, so that a step of the automaton is a look into a small table. */
import type { Program } from './program.ts';
import { lineEnds, wordUnits } from './syntax.ts';

const directUnits = 256;
const allUnits = 0x1_0000;

export class Alphabet {
  /** How many groups there are; the group of this number stands for the end of the text. */
  readonly size: number;
  /** Where each group of neighbours begins. */
  readonly #starts: Uint32Array;
  readonly #direct = new Uint16Array(directUnits);

  constructor(programs: readonly Program[]) {
    const starts = new Set([0]);
    const add = ([from, to]: readonly [number, number]): void => {
      starts.add(from);
      if (to + 1 < allUnits) starts.add(to + 1);
    };
    for (const program of programs) for (const { units } of program) for (const range of units) add(range);
    for (const range of [...wordUnits, ...lineEnds]) add(range);
    this.#starts = Uint32Array.from([...starts].sort((a, b) => a - b));
    this.size = this.#starts.length;
    for (let code = 0; code < directUnits; code++) this.#direct[code] = this.#find(code);
  }

  groupOf(code: number): number {
    return code < directUnits ? (this.#direct[code] ?? 0) : this.#find(code);
  }

  /** A code unit of the group, to ask what holds for all of them; -1 for the end of the text. */
  exampleOf(group: number): number {
    return group < this.size ? (this.#starts[group] ?? 0) : -1;
  }

  #find(code: number): number {
    let low = 0;
    let high = this.#starts.length - 1;
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if ((this.#starts[middle] ?? 0) <= code) low = middle;
      else high = middle - 1;
    }
    return low;
  }
}
