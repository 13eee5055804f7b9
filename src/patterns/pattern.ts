/**
 * Matches regular expressions in time that grows with the text and the pattern only.
 * Configs are written by tenants, and the built-in engine can be made to run for hours by a short pattern; this one follows all
 * ways through the pattern at once, one code unit after the other. Back-references are the price: no linear engine has them.
 */
import { assemble, type Edge, type Look, op, type PatternRoom, type Program } from './program.ts';
import { lineEnds, PatternFault, parsePattern, wordUnits } from './syntax.ts';
import type { CodeUnits } from './unicode.ts';

export type { PatternRoom } from './program.ts';

/** How much work may still be done; shared by all patterns that one request meets. */
export interface Fuel {
  steps: number;
}

interface Pattern {
  /** Whether some part of the text matches. Without fuel nothing does. */
  test(text: string, fuel: Fuel): boolean;
}

/** The pattern, or why it cannot be used. */
export function compilePattern(source: string, room: PatternRoom): { pattern: Pattern } | { fault: string } {
  try {
    const { program, looks } = assemble(parsePattern(source), room);
    return { pattern: { test: (text, fuel) => matches(program, looks, text, fuel) } };
  } catch (error) {
    if (error instanceof PatternFault) return { fault: error.message };
    throw error;
  }
}

function matches(program: Program, looks: readonly Look[], text: string, fuel: Fuel): boolean {
  const found = looksIn(looks, text, fuel);
  return found !== null && scan({ program, backward: false }, text, found, fuel, null);
}

/** Walks the text once with every way through the program open. Stops at the first match, or marks in `positions` where each one ends. */
function scan(
  { program, backward }: Look,
  text: string,
  found: readonly Uint8Array[],
  fuel: Fuel,
  positions: Uint8Array | null,
): boolean {
  const visited = new Uint32Array(program.length);
  // At most all instructions are seeds, and each leaves one more on the stack than it takes, once at a position.
  const stack = new Uint32Array(2 * program.length + 1);
  const reading = new Uint32Array(program.length);
  let height = 0;
  for (let step = 0; step <= text.length; step += 1) {
    const position = backward ? text.length - step : step;
    // A match may begin anywhere.
    stack[height++] = 0;
    let readers = 0;
    let taken = 0;
    while (height > 0) {
      const at = stack[--height] ?? 0;
      const instruction = program[at];
      if (instruction === undefined || visited[at] === step + 1) continue;
      visited[at] = step + 1;
      taken += 1;
      if (instruction.op === op.unit) reading[readers++] = at;
      else if (instruction.op === op.split) {
        stack[height++] = instruction.or;
        stack[height++] = instruction.to;
      } else if (instruction.op === op.match) {
        if (!positions) return true;
        positions[position] = 1;
      } else if (instruction.op === op.edge) {
        if (isEdge(instruction.edge, text, position)) stack[height++] = at + 1;
      } else if ((found[instruction.to]?.[position] === 1) !== instruction.negated) stack[height++] = at + 1;
    }
    fuel.steps -= taken;
    if (fuel.steps <= 0) return false;
    const code = text.charCodeAt(backward ? position - 1 : position);
    for (let i = 0; i < readers; i += 1) {
      const at = reading[i] ?? 0;
      if (includes(program[at]?.units ?? [], code)) stack[height++] = at + 1;
    }
  }
  return false;
}

export function includes(units: CodeUnits, code: number): boolean {
  for (let i = 0; i < units.length; i += 1) {
    const range = units[i];
    if (range !== undefined && code <= range[1]) return code >= range[0];
  }
  return false;
}

/** Whether an edge stands at a place of the text. */
export function isEdge(edge: Edge, text: string, position: number): boolean {
  if (edge === 'start') return position === 0;
  if (edge === 'end') return position === text.length;
  if (edge === 'line-start') return position === 0 || includes(lineEnds, text.charCodeAt(position - 1));
  if (edge === 'line-end') return position === text.length || includes(lineEnds, text.charCodeAt(position));
  const differs = includes(wordUnits, text.charCodeAt(position - 1)) !== includes(wordUnits, text.charCodeAt(position));
  return differs === (edge === 'word');
}

/** Where each look-around of a pattern holds; null when the fuel was not enough. */
export function looksIn(looks: readonly Look[], text: string, fuel: Fuel): Uint8Array[] | null {
  const found: Uint8Array[] = [];
  for (const look of looks) {
    const positions = new Uint8Array(text.length + 1);
    scan(look, text, found, fuel, positions);
    found.push(positions);
  }
  return fuel.steps > 0 ? found : null;
}
