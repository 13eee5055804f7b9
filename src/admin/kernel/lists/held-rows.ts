/** The rows of a listed table in memory, with what lists ask of them: any page of any list is found here, without the store. */
import type { ListedTableFacts } from '../../../store/listed-tables.ts';
import { type Mask, roomier, Texts, Times, type Value, Words } from './columns.ts';
import type { Condition } from './condition.ts';
import { folded } from './list-queries.ts';
import type { LongList } from './long-list.ts';
import { OrderedRows } from './ordered-rows.ts';
import { RowIds } from './row-ids.ts';
import { type PageOfIds, type Point, within } from './walk.ts';

export type Row = Readonly<Record<string, Value>>;

const columnOf = { word: () => new Words(), text: () => new Texts(), time: () => new Times() } as const;

/** Rows are only ever appended: one that changed is there once more, and where it stood before is nothing. */
export class HeldRows {
  readonly #columns: ReadonlyMap<string, Words | Texts | Times>;
  readonly #ids = new RowIds();
  /** By the columns that lists are in the order of. */
  readonly #orders: ReadonlyMap<string, OrderedRows>;
  #there = new Uint8Array(1_024);
  #gone = 0;

  constructor({ columns, orders }: Pick<ListedTableFacts, 'columns' | 'orders'>) {
    this.#columns = new Map(Object.entries(columns).map(([name, kind]) => [name, columnOf[kind]()]));
    this.#orders = new Map(orders.map((name) => [name, this.#orderBy(name)]));
  }

  #orderBy(name: string): OrderedRows {
    const column = this.#columns.get(name);
    if (!column || column instanceof Words) throw new Error(`Nothing is in the order of ${name}`);
    return new OrderedRows((one, other) => column.compare(one, other) || this.#ids.compare(one, other));
  }

  get size(): number {
    return this.#ids.length - this.#gone;
  }

  /** So much is nothing that it is worth to read all rows once more. */
  get isWasteful(): boolean {
    return this.#gone > this.size / 2;
  }

  put(row: Row): void {
    const { id = null } = row;
    // First what may fail: all is as it was then.
    for (const [name, column] of this.#columns) column.append(row[name] ?? null);
    this.remove(id);
    const number = this.#ids.length;
    if (number === this.#there.length) this.#there = new Uint8Array(roomier(this.#there.buffer, number, 1));
    this.#there[number] = 1;
    this.#ids.append(id);
    for (const order of this.#orders.values()) order.insert(number);
  }

  remove(id: Value): void {
    const row = this.#ids.find(id);
    if (row === null || !this.#there[row]) return;
    for (const order of this.#orders.values()) order.remove(row);
    this.#there[row] = 0;
    this.#gone++;
  }

  /** Null when the list asks for something that is not held. */
  page({ conditions, order, until, page }: LongList): PageOfIds | null {
    const rows = this.#orders.get(order.by);
    const mask = this.#there.slice(0, this.#ids.length);
    if (!rows || !this.#narrow(mask, conditions('seek'))) return null;
    if (until) this.#cut(mask, order, until);
    const total = countOf(mask);
    const { offset, size } = within(page, total);
    // Descending is the same, from the other end.
    const first = order.direction === 'asc' ? offset : total - offset - size;
    const ids = rows.among(mask, first, size).map((row) => this.#ids.text(row));
    return { ids: order.direction === 'asc' ? ids : ids.reverse(), total };
  }

  /** Takes away what does not come before a point. */
  #cut(mask: Mask, { by, direction }: LongList['order'], { place, id }: Point): void {
    const times = this.#columns.get(by);
    if (!(times instanceof Times)) throw new Error(`A list in the order of ${by} ends with its last row`);
    const sign = direction === 'asc' ? 1 : -1;
    const distance = times.from(place);
    const idDistance = (row: number) => byText(this.#ids.text(row), id);
    for (let row = 0; row < mask.length; row++) {
      if (mask[row] && sign * (distance(row) || idDistance(row)) >= 0) mask[row] = 0;
    }
  }

  /** Takes away what does not answer to the conditions; false when one of them asks for something that is not held. */
  #narrow(mask: Mask, conditions: readonly Condition[]): boolean {
    return conditions.every((condition) => {
      if (condition.kind === 'any of') return this.#narrowToAny(mask, condition.cases);
      const column = this.#columns.get(condition.column);
      if (condition.kind === 'is' && column instanceof Words) column.among(mask, condition.values);
      else if (condition.kind === 'at most' && column instanceof Times) column.atMost(mask, condition.value);
      else if (condition.kind === 'holds' && column instanceof Texts) {
        column.holding(mask, condition.folded ? folded(condition.part) : condition.part);
      } else return false;
      return true;
    });
  }

  #narrowToAny(mask: Mask, cases: readonly (readonly Condition[])[]): boolean {
    const before = mask.slice();
    mask.fill(0);
    return cases.every((conditions) => {
      const these = before.slice();
      const held = this.#narrow(these, conditions);
      for (let row = 0; row < mask.length; row++) mask[row] = (mask[row] ?? 0) | (these[row] ?? 0);
      return held;
    });
  }
}

const byText = (one: string, other: string): number => Number(one > other) - Number(one < other);

function countOf(mask: Mask): number {
  let count = 0;
  for (let row = 0; row < mask.length; row++) count += mask[row] ?? 0;
  return count;
}
