import { expect, test } from 'bun:test';
import { OpenStreams } from './open-streams.ts';

/** Open streams, with how many there were each time that memory was collected. */
function counted() {
  const collectedAt: number[] = [];
  let open = 0;
  const streams = new OpenStreams(() => collectedAt.push(open));
  const change = (count: number) => {
    for (let left = Math.abs(count); left > 0; left--) {
      open += Math.sign(count);
      if (count > 0) streams.begin();
      else streams.end();
    }
  };
  return { collectedAt, change };
}

test('memory is collected when there are many, and when these have doubled or halved', () => {
  const { collectedAt, change } = counted();
  change(4_500);
  expect(collectedAt).toEqual([1_000, 2_000, 4_000]);
  change(-4_500);
  expect(collectedAt.slice(3)).toEqual([2_000, 1_000, 500]);
  change(1_000);
  expect(collectedAt.slice(6)).toEqual([1_000]);
});

test('what few of them leave behind is left to the runtime, however often they come and go', () => {
  const { collectedAt, change } = counted();
  for (let round = 0; round < 10; round++) {
    change(999);
    change(-999);
  }
  expect(collectedAt).toEqual([]);
});
