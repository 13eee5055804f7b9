/** Rows in memory, whatever is put in and taken out, against the plain words for the same. */
import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import { Texts, Times, Unholdable } from './columns.ts';
import { HeldRows } from './held-rows.ts';
import { OrderedRows } from './ordered-rows.ts';
import { RowIds } from './row-ids.ts';

const letters = fc.constantFrom('a', 'b', 'A', '%', '_', '\\', 'ß', 'é', '\u{ff5e}', '\u{1f527}', ' ');
const text = (longest: number) => fc.array(letters, { maxLength: longest }).map((parts) => parts.join(''));
const time = fc
  .date({ min: new Date('1970-01-01T00:00:00Z'), max: new Date('9999-12-31T23:59:59.999Z'), noInvalidDate: true })
  .map((date) => date.toISOString());
const times = fc.oneof(time, fc.constantFrom('9999', '9999-01-01T00:00:00.000Z', '9998-12-31T23:59:59.999Z'));

const sign = (number: number): number => Math.sign(number) || 0;

describe('columns', () => {
  test('texts are found by any part of them, and by nothing that begins in one and ends in the next', () => {
    fc.assert(
      fc.property(fc.array(text(6)), text(3).filter(Boolean), (all, part) => {
        const column = new Texts();
        for (const one of all) column.append(one);
        const mask = Uint8Array.from(all, (_, row) => Number(row % 5 < 4));
        const before = [...mask];
        column.holding(mask, part);
        expect([...mask]).toEqual(all.map((one, row) => Number(one.includes(part) && before[row] === 1)));
      }),
    );
  });

  test('texts stand in the order of their bytes', () => {
    fc.assert(
      fc.property(text(6), text(6), (one, other) => {
        const column = new Texts();
        for (const value of [one, other]) column.append(value);
        expect(sign(column.compare(0, 1))).toBe(Buffer.compare(Buffer.from(one), Buffer.from(other)));
      }),
    );
  });

  test('times stand in the order of their texts, and so does never', () => {
    fc.assert(
      fc.property(times, times, (one, other) => {
        const column = new Times();
        for (const value of [one, other]) column.append(value);
        const expected = Buffer.compare(Buffer.from(one), Buffer.from(other));
        expect(sign(column.compare(0, 1))).toBe(expected);
        expect(sign(column.from(other)(0))).toBe(expected);
        const mask = Uint8Array.of(1, 1);
        column.atMost(mask, other);
        expect([...mask]).toEqual([Number(one <= other), 1]);
      }),
    );
  });

  test('what the program does not write is refused', () => {
    for (const odd of ['2030-01-01', '2030-01-01T00:00:00Z', '2030-13-01T00:00:00.000Z', null, 5]) {
      expect(() => new Times().append(odd)).toThrow(Unholdable);
    }
    for (const odd of ['x', '', null, 'A'.repeat(36), `${crypto.randomUUID()}0`, crypto.randomUUID().toUpperCase()]) {
      expect(() => new RowIds().append(odd)).toThrow(Unholdable);
    }
    expect(() => new Texts().append(null)).toThrow(Unholdable);
    const texts = new Texts();
    expect(() => {
      for (let megabytes = 0; megabytes < 40; megabytes++) texts.append('x'.repeat(1_024 ** 2));
    }).toThrow(Unholdable);
  });
});

test('ids are told apart and found, however many there are, and the newest row of an id is the one', () => {
  const ids = new RowIds();
  // Ends that are the same look for the next free slot.
  const all = Array.from({ length: 5_000 }, (_, index) =>
    index % 2
      ? crypto.randomUUID()
      : `${crypto.randomUUID().slice(0, 28)}00000${(index % 5_00).toString().padStart(3, '0')}`,
  );
  for (const id of all) ids.append(id);
  for (const [row, id] of all.entries()) {
    expect(ids.find(id)).toBe(row);
    expect(ids.text(row)).toBe(id);
  }
  expect(ids.find(crypto.randomUUID())).toBeNull();
  const [first = '', second = ''] = all;
  expect(sign(ids.compare(0, 1))).toBe(Buffer.compare(Buffer.from(first), Buffer.from(second)));
  ids.append(first);
  expect(ids.find(first)).toBe(5_000);
});

test.each([
  ['by chance', (index: number) => Math.imul(index + 1, 2_654_435_761) >>> 0],
  ['each behind the last', (index: number) => index],
  ['each before the last', (index: number) => -index],
])('rows keep their order through thousands of insertions and removals: %s', (_, seeded) => {
  const order = new OrderedRows((one, other) => seeded(one) - seeded(other));
  const everything = new Uint8Array(20_000).fill(1);
  const numbers = Array.from(everything, (_, index) => index);
  const removed = new Set(numbers.filter((index) => index % 3 === 0 || (index > 5_000 && index < 9_000)));
  for (const row of numbers) order.insert(row);
  for (const row of removed) order.remove(row);
  const left = numbers.filter((row) => !removed.has(row)).sort((one, other) => seeded(one) - seeded(other));
  expect(order.among(everything, 0, 20_000)).toEqual(left);
  expect(order.among(everything, 4_000, 10)).toEqual(left.slice(4_000, 4_010));
  const even = everything.map((_, row) => Number(row % 2 === 0));
  const evenLeft = left.filter((row) => row % 2 === 0);
  expect(order.among(even, 1_500, 700)).toEqual(evenLeft.slice(1_500, 2_200));
  for (const row of left) order.remove(row);
  expect(order.among(everything, 0, 1)).toEqual([]);
  order.insert(7);
  expect(order.among(everything, 0, 1)).toEqual([7]);
});

test('rows that changed often leave so much behind that they are worth reading again', () => {
  const rows = new HeldRows({ columns: { at: 'time', word: 'word' }, orders: ['at'] });
  const [one, other] = [crypto.randomUUID(), crypto.randomUUID()];
  for (const id of [one, other]) rows.put({ id, at: '2030-01-01T00:00:00.000Z', word: 'a' });
  rows.put({ id: one, at: '2031-01-01T00:00:00.000Z', word: 'b' });
  expect(rows.size).toBe(2);
  expect(rows.isWasteful).toBeFalse();
  rows.put({ id: one, at: '2029-01-01T00:00:00.000Z', word: 'c' });
  expect(rows.isWasteful).toBeTrue();
  const list = { table: 'audit_logs' as const, order: { by: 'at', direction: 'asc' as const } };
  const page = { offset: 0, size: 10 };
  expect(rows.page({ ...list, conditions: () => [], page })).toEqual({ ids: [one, other], total: 2 });
  expect(
    rows.page({ ...list, conditions: () => [{ kind: 'is', column: 'elsewhere', values: ['a'] }], page }),
  ).toBeNull();
  rows.remove(one);
  rows.remove(crypto.randomUUID());
  expect(rows.page({ ...list, conditions: () => [], page })).toEqual({ ids: [other], total: 1 });
});
