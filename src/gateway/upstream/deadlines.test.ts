import { afterEach, expect, test } from 'bun:test';
import { Deadlines } from './deadlines.ts';

const deadlines = new Deadlines();
afterEach(() => deadlines.stop());

const after = (ms: number) => new Promise<void>((resolve) => void deadlines.set(ms, resolve));

test('each expires once, in the order of its time, not before it', async () => {
  const seen: number[] = [];
  const start = performance.now();
  await Promise.all([120, 10, 60].map((ms) => after(ms).then(() => seen.push(ms))));
  expect(seen).toEqual([10, 60, 120]);
  expect(performance.now() - start).toBeGreaterThanOrEqual(119);
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
