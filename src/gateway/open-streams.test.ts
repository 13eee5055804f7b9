import { expect, test } from 'bun:test';
import { OpenStreams } from './open-streams.ts';

/** Open streams, with how many there were each time that memory was collected at once. */
function counted(everyMs: number, inPassing: () => void = () => undefined) {
  const collectedAt: number[] = [];
  let open = 0;
  const streams = new OpenStreams({ atOnce: () => collectedAt.push(open), inPassing }, everyMs);
  const change = (count: number) => {
    for (let left = Math.abs(count); left > 0; left--) {
      open += Math.sign(count);
      if (count > 0) streams.begin();
      else streams.end();
    }
  };
  return { collectedAt, change };
}

const never = 1_000_000;

test('memory is collected when there are many, and when these have doubled or halved', () => {
  const { collectedAt, change } = counted(never);
  change(4_500);
  expect(collectedAt).toEqual([1_000, 2_000, 4_000]);
  change(-4_500);
  expect(collectedAt.slice(3)).toEqual([2_000, 1_000, 500]);
  change(1_000);
  expect(collectedAt.slice(6)).toEqual([1_000]);
});

test('what few of them leave behind is left to the runtime, however often they come and go', () => {
  const { collectedAt, change } = counted(0);
  for (let round = 0; round < 10; round++) {
    change(999);
    change(-999);
  }
  expect(collectedAt).toEqual([]);
});

test('while there are many it is collected again and again, in passing, and no more when they are gone', async () => {
  const thrice = Promise.withResolvers<void>();
  let times = 0;
  const { collectedAt, change } = counted(1, () => {
    times++;
    if (times === 3) thrice.resolve();
  });
  change(1_000);
  await thrice.promise;
  expect(collectedAt).toEqual([1_000]);
  change(-1_000);
  const atLast = times;
  await ticks(5);
  expect([collectedAt, times]).toEqual([[1_000, 500], atLast]);
});

/** As often as a clock of the same pace ticks. */
const ticks = (count: number): Promise<void> =>
  new Promise((resolve) => {
    let left = count;
    const clock = setInterval(() => {
      left--;
      if (left > 0) return;
      clearInterval(clock);
      resolve();
    }, 1);
  });
