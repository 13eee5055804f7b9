/** Lays the tree of a pattern out as instructions for the matcher. */
import { PatternFault, type PatternNode } from './syntax.ts';
import type { CodeUnits } from './unicode.ts';

/** Numbers rather than words, and one shape for all instructions: the matcher reads them millions of times a second. */
export const op = { unit: 0, split: 1, edge: 2, look: 3, match: 4, save: 5 } as const;

export interface Instruction {
  op: (typeof op)[keyof typeof op];
  /** Split: where to go on first. Look: which one. Save: which place of the captures. Otherwise unused. */
  to: number;
  /** Split: where else to go on. */
  or: number;
  /** Look: whether its body must not match. */
  negated: boolean;
  edge: Edge;
  /** Unit: what may be read here. */
  units: CodeUnits;
}

export type Edge = Extract<PatternNode, { kind: 'edge' }>['edge'];
export type Program = readonly Instruction[];

/** A look-around. Where a look-ahead matches is found for all positions by reading the text backward once. */
export interface Look {
  program: Program;
  backward: boolean;
}

/** How many instructions the patterns of one config may still take. */
export interface PatternRoom {
  instructions: number;
}

const largestProgram = 2_000;

/** The program of a pattern and those of its look-arounds, each after the ones that it needs. */
export function assemble(
  tree: PatternNode,
  room: PatternRoom,
  manner: { backward?: boolean; captures?: boolean } = {},
): { program: Program; looks: readonly Look[] } {
  const looks: Look[] = [];
  const { backward = false, captures = false } = manner;
  const program = new Assembler(backward, looks, new Map(), room, captures).assemble(tree);
  return { program, looks };
}

class Assembler {
  private readonly program: Instruction[] = [];

  constructor(
    private readonly backward: boolean,
    private readonly looks: Look[],
    private readonly placeOf: Map<PatternNode, number>,
    private readonly room: PatternRoom,
    private readonly captures: boolean,
  ) {}

  assemble(tree: PatternNode): Program {
    this.lay(tree);
    this.emit({ op: op.match });
    return this.program;
  }

  private lay(node: PatternNode): void {
    // Also what emits nothing takes room, or `(?:){1000000000}` would be laid out for ever.
    this.takeRoom();
    if (node.kind === 'unit') this.emit({ op: op.unit, units: node.units });
    else if (node.kind === 'edge') this.emit({ op: op.edge, edge: node.edge });
    else if (node.kind === 'look') this.emit({ op: op.look, to: this.lookOf(node), negated: node.negated });
    else if (node.kind === 'choice') this.layChoice(node.options);
    else if (node.kind === 'repeat') this.layRepeat(node);
    else if (node.kind === 'group') this.layGroup(node.body, node.index);
    else for (const part of this.backward ? node.parts.toReversed() : node.parts) this.lay(part);
  }

  private layChoice(options: readonly PatternNode[]): void {
    const exits: Instruction[] = [];
    options.forEach((option, index) => {
      const isLast = index === options.length - 1;
      const entry = isLast ? null : this.split();
      this.lay(option);
      if (!isLast) exits.push(this.split());
      if (entry) entry.or = this.program.length;
    });
    for (const exit of exits) exit.to = exit.or = this.program.length;
  }

  private layGroup(body: PatternNode, index: number): void {
    if (this.captures) this.emit({ op: op.save, to: 2 * index });
    this.lay(body);
    if (this.captures) this.emit({ op: op.save, to: 2 * index + 1 });
  }

  private layRepeat({ body, least, most, lazy }: Extract<PatternNode, { kind: 'repeat' }>): void {
    for (let i = 0; i < least; i += 1) this.lay(body);
    if (most === Infinity) {
      const start = this.program.length;
      const entry = this.split();
      this.lay(body);
      const back = this.split();
      back.to = back.or = start;
      this.leaveAt(entry, lazy);
      return;
    }
    const entries: Instruction[] = [];
    for (let i = least; i < most; i += 1) {
      entries.push(this.split());
      this.lay(body);
    }
    for (const entry of entries) this.leaveAt(entry, lazy);
  }

  /** A greedy repetition goes in first and leaves last; a lazy one the other way round. */
  private leaveAt(entry: Instruction, lazy: boolean): void {
    if (lazy) {
      entry.or = entry.to;
      entry.to = this.program.length;
    } else entry.or = this.program.length;
  }

  private lookOf(node: Extract<PatternNode, { kind: 'look' }>): number {
    const known = this.placeOf.get(node);
    if (known !== undefined) return known;
    const body = new Assembler(!node.behind, this.looks, this.placeOf, this.room, false);
    const look = { program: body.assemble(node.body), backward: !node.behind };
    const place = this.looks.push(look) - 1;
    this.placeOf.set(node, place);
    return place;
  }

  /** A fork of the way; whoever asked for it says where it leads, once that is known. */
  private split(): Instruction {
    const next = this.program.length + 1;
    return this.emit({ op: op.split, to: next, or: next });
  }

  private emit(part: Partial<Instruction> & Pick<Instruction, 'op'>): Instruction {
    this.takeRoom();
    if (this.program.length >= largestProgram) throw new PatternFault('is too large');
    const { to = 0, or = 0, negated = false, edge = 'start', units = [] } = part;
    const instruction: Instruction = { op: part.op, to, or, negated, edge, units };
    this.program.push(instruction);
    return instruction;
  }

  private takeRoom(): void {
    this.room.instructions -= 1;
    if (this.room.instructions < 0) throw new PatternFault('is too large, alone or together with those before it');
  }
}
