/** Finds a match with what its groups captured: all ways at once, in their order of precedence, each with its own captures. */
import { type Fuel, includes, isEdge, looksIn } from './pattern.ts';
import { type Look, op, type Program } from './program.ts';

interface Way {
  at: number;
  captures: readonly number[];
}

export interface Captured {
  start: number;
  end: number;
  /** From and to of every group in turn; -1 where it took no part. */
  captures: readonly number[];
}

/** The first match from `from` on; 'no fuel' when it was not found in time. */
export function findWithCaptures(
  { program, looks }: { program: Program; looks: readonly Look[] },
  text: string,
  from: number,
  anchored: boolean,
  fuel: Fuel,
): Captured | null | 'no fuel' {
  const found = looksIn(looks, text, fuel);
  if (!found) return 'no fuel';
  const marks = new Uint32Array(program.length);
  let ways: Way[] = [{ at: 0, captures: [from] }];
  let match: Captured | null = null;
  for (let position = from; position <= text.length; position++) {
    const reading: Way[] = [];
    const round = position - from + 1;
    const stack: Way[] = [];
    let matched = false;
    for (const way of ways) {
      if (matched) break;
      stack.push(way);
      while (stack.length > 0) {
        const next = stack.pop();
        const instruction = next && program[next.at];
        if (!next || !instruction || marks[next.at] === round) continue;
        marks[next.at] = round;
        fuel.steps -= 1;
        const onward = next.at + 1;
        if (instruction.op === op.unit) reading.push(next);
        else if (instruction.op === op.split) {
          stack.push({ at: instruction.or, captures: next.captures }, { at: instruction.to, captures: next.captures });
        } else if (instruction.op === op.save) {
          const captures = next.captures.slice();
          captures[instruction.to] = position;
          stack.push({ at: onward, captures });
        } else if (instruction.op === op.match) {
          match = { start: next.captures[0] ?? from, end: position, captures: next.captures };
          matched = true;
          break;
        } else if (instruction.op === op.edge) {
          if (isEdge(instruction.edge, text, position)) stack.push({ at: onward, captures: next.captures });
        } else if ((found[instruction.to]?.[position] === 1) !== instruction.negated) {
          stack.push({ at: onward, captures: next.captures });
        }
      }
    }
    if (fuel.steps <= 0) return 'no fuel';
    const code = text.charCodeAt(position);
    ways = [];
    for (const { at, captures } of reading) {
      if (includes(program[at]?.units ?? [], code)) ways.push({ at: at + 1, captures });
    }
    if (!match && !anchored) ways.push({ at: 0, captures: [position + 1] });
    if (ways.length === 0) break;
  }
  return match;
}
