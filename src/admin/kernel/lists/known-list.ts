/** What is known of a long list as of some moment, and how it is carried along with the changes since then. */
import type { Mark, Order, Point } from './walk.ts';

export interface KnownList {
  few: KnownFew | null;
  /** By the order of the list. */
  marks: Map<string, KnownMarks>;
}

/** All of a list that is short, in no order, as far as `until`. */
export interface KnownFew {
  moment: string;
  ids: readonly string[];
  until: Point | null;
}

/** Some places of a list in one order. A mark without a point stands behind its last row. */
export interface KnownMarks {
  moment: string;
  marks: readonly Mark[];
}

/** A row that a list gained or lost. */
export interface ListChange extends Point {
  sign: 1 | -1;
}

type Direction = Order['direction'];

export const carriedAlong = (marks: readonly Mark[], changes: readonly ListChange[], direction: Direction): Mark[] =>
  marks.map(({ point, rank }) => ({
    point,
    rank: changes.reduce((sum, change) => sum + (isBehind(point, change, direction) ? change.sign : 0), rank),
  }));

/** The end of a list is behind every row. */
const isBehind = (point: Point | null, row: Point, direction: Direction): boolean =>
  point === null || compare(row, point, direction) < 0;

/** In the order of the list. Both engines compare these texts as bytes. */
export function compare(one: Point, other: Point, direction: Direction): number {
  const [first, second] = direction === 'asc' ? [one, other] : [other, one];
  return byBytes(first.place, second.place) || byBytes(first.id, second.id);
}

const byBytes = (one: string, other: string): number =>
  one === other ? 0 : Buffer.compare(Buffer.from(one), Buffer.from(other));

/** The last mark before a point, the mark at the point, and the first one behind it. */
export function neighbours(
  marks: readonly Mark[],
  point: Point | null,
  direction: Direction,
): [before: Mark | undefined, there: Mark | undefined, after: Mark | undefined] {
  const side = (mark: Mark): number => {
    if (mark.point === null || point === null) return Number(mark.point === null) - Number(point === null);
    return compare(mark.point, point, direction);
  };
  const inOrder = marks.toSorted((one, other) => one.rank - other.rank);
  return [
    inOrder.findLast((mark) => side(mark) < 0),
    inOrder.find((mark) => side(mark) === 0),
    inOrder.find((mark) => side(mark) > 0),
  ];
}

/** A point with as many rows before it as another says the same again; the end of the list alone is always kept. */
export const withMark = (marks: readonly Mark[], mark: Mark): Mark[] => [
  ...marks.filter(({ point, rank }) => (mark.point === null ? point !== null : point === null || rank !== mark.rank)),
  mark,
];

const mostMarks = 20;

/** Keeps some, spread over the list: those that have others close by make room. The newest stands last, and stays. */
export function spread(marks: readonly Mark[]): Mark[] {
  const newest = marks.at(-1);
  const kept = marks.toSorted((one, other) => one.rank - other.rank);
  const roomOf = (mark: Mark, index: number): number =>
    mark === newest || mark.point === null
      ? Number.POSITIVE_INFINITY
      : (kept[index + 1]?.rank ?? mark.rank) - (kept[index - 1]?.rank ?? 0);
  while (kept.length > mostMarks) {
    const rooms = kept.map(roomOf);
    kept.splice(rooms.indexOf(Math.min(...rooms)), 1);
  }
  return kept;
}
