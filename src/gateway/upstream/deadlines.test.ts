import { afterEach, expect, spyOn, test } from 'bun:test';
import { Deadlines } from './deadlines.ts';

const deadlines = new Deadlines();
afterEach(() => deadlines.stop());

const after = (ms: number) => new Promise<void>((resolve) => void deadlines.set(ms, resolve));

test('each expires once, in the order of its time, not before it', async () => {
  // The time stands still until the test moves it, so that a busy machine changes nothing.
  let now = 0;
  const clock = spyOn(performance, 'now').mockImplementation(() => now);
  try {
    const seen: number[] = [];
    for (const ms of [120, 10, 60]) deadlines.set(ms, () => seen.push(ms));
    const seenAt = async (moment: number) => {
      // A deadline that has passed is told by the sweep that looks at all the others, too.
      now = moment;
      await after(0);
      return [...seen];
    };
    expect(await seenAt(9)).toEqual([]);
    expect(await seenAt(10)).toEqual([10]);
    expect(await seenAt(59)).toEqual([10]);
    expect(await seenAt(60)).toEqual([10, 60]);
    expect(await seenAt(119)).toEqual([10, 60]);
    expect(await seenAt(120)).toEqual([10, 60, 120]);
    expect(await seenAt(1_000)).toEqual([10, 60, 120]);
  } finally {
    clock.mockRestore();
  }
});

test('one that is cleared or moved does not expire', async () => {
  let expired = '';
  const cleared = deadlines.set(10, () => {
    expired += 'cleared';
  });
  const moved = deadlines.set(10, () => {
    expired += 'moved';
  });
  const endless = deadlines.set(10, () => {
    expired += 'endless';
  });
  cleared.clear();
  moved.extend(60_000);
  endless.extend(Number.POSITIVE_INFINITY);
  await after(80);
  expect(expired).toBe('');
  moved.extend(1);
  await after(80);
  expect(expired).toBe('moved');
});

test('one that another clears or moves as both expire does not', async () => {
  let expired = '';
  const also = (name: string) =>
    deadlines.set(10, () => {
      expired += name;
    });
  const later = Promise.withResolvers<void>();
  deadlines.set(10, () => {
    cleared.clear();
    moved.extend(60_000);
    // Set while the others are looked at, it is not lost.
    deadlines.set(1, later.resolve);
  });
  const cleared = also('cleared');
  const moved = also('moved');
  const kept = also('kept');
  kept.extend(120);
  await later.promise;
  expect(expired).toBe('');
  await after(180);
  expect(expired).toBe('kept');
});

test('stopping ends all of them', async () => {
  let expired = false;
  deadlines.set(5, () => {
    expired = true;
  });
  deadlines.stop();
  await after(60);
  expect(expired).toBe(false);
});
