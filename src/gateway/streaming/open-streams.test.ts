import { afterEach, beforeEach, expect, jest, test } from 'bun:test';
import { OpenStreams } from './open-streams.ts';

beforeEach(() => jest.useFakeTimers());
afterEach(() => jest.useRealTimers());

/** Open streams, with how many there were each time that memory was collected. */
function counted() {
  const collected: { all: number[]; young: number[] } = { all: [], young: [] };
  let open = 0;
  const streams = new OpenStreams({
    all: () => collected.all.push(open),
    young: () => collected.young.push(open),
  });
  const change = (count: number) => {
    for (let left = Math.abs(count); left > 0; left--) {
      open += Math.sign(count);
      if (count > 0) streams.begin();
      else streams.end();
    }
  };
  return { collected, change };
}

test('all of memory is collected when there are many, and when these have doubled or halved', () => {
  const { collected, change } = counted();
  change(4_500);
  expect(collected.all).toEqual([1_000, 2_000, 4_000]);
  change(-4_500);
  expect(collected.all.slice(3)).toEqual([2_000, 1_000, 500]);
  change(1_000);
  expect(collected.all.slice(6)).toEqual([1_000]);
});

test('what is new is collected each time that 500 of many have begun or ended', () => {
  const { collected, change } = counted();
  change(4_400);
  expect(collected.young).toEqual([1_500, 2_500, 3_000, 3_500]);
  change(-100);
  expect(collected.young).toHaveLength(5);
  change(-4_300);
  expect(collected.young.slice(5)).toEqual([3_800, 3_300, 2_800, 2_300, 1_500]);
});

test('what is new is collected every two seconds while many are open', () => {
  const { collected, change } = counted();
  change(1_000);
  jest.advanceTimersByTime(6_000);
  expect(collected.young).toEqual([1_000, 1_000, 1_000]);
  change(-1);
  jest.advanceTimersByTime(6_000);
  expect(collected.young).toHaveLength(3);
  change(1);
  jest.advanceTimersByTime(2_000);
  expect(collected.young).toHaveLength(4);
  change(-1_000);
  const collections = collected.young.length;
  jest.advanceTimersByTime(6_000);
  expect(collected.young).toHaveLength(collections);
});

test('what few of them leave behind is left to the runtime, however often they come and go', () => {
  const { collected, change } = counted();
  for (let round = 0; round < 10; round++) {
    change(999);
    change(-999);
  }
  jest.advanceTimersByTime(6_000);
  expect(collected).toEqual({ all: [], young: [] });
});
