import { expect, test } from 'bun:test';
import { StaleCache } from './stale-cache.ts';

const away = async (): Promise<string> => {
  throw Object.assign(new Error('connect refused'), { code: 'ECONNREFUSED' });
};

function setUp(graceMs = 1_000) {
  const feed = { live: true };
  let now = 0;
  const copies = new StaleCache<string>(feed, () => now, graceMs);
  const read = (ask: () => Promise<string>) => copies.read('a', ask, (copy) => `copy of ${copy}`);
  const lose = () => {
    feed.live = false;
    copies.markStale(new Map([['a', 'one']]));
  };
  return { feed, copies, read, lose, pass: (ms: number) => (now += ms) };
}

test('a database that answers speaks for itself, also while notices are lost', async () => {
  const { read, lose } = setUp();
  lose();
  expect(await read(async () => 'fresh')).toBe('fresh');
});

test('one that cannot be reached is stood in for by the copy, and left alone for a moment', async () => {
  const { read, lose, pass } = setUp(10_000);
  lose();
  expect(await read(away)).toBe('copy of one');
  let asked = false;
  const ask = async () => {
    asked = true;
    return 'fresh';
  };
  expect([await read(ask), asked]).toEqual(['copy of one', false]);
  pass(1_000);
  expect(await read(ask)).toBe('fresh');
});

test('one that keeps silent holds nobody up: the copy stands in for it too, and only where there is one', async () => {
  const { copies, read, lose } = setUp(10_000);
  lose();
  const { promise: silence, resolve: speak } = Promise.withResolvers<string>();
  expect(await read(() => silence)).toBe('copy of one');
  const other = copies.read(
    'b',
    () => silence,
    (copy) => copy,
  );
  speak('at last');
  expect(await other).toBe('at last');
});

test('a copy counts no longer than the grace, nor once notices are back', async () => {
  const { read, lose, pass } = setUp();
  lose();
  pass(1_000);
  await expect(read(away)).rejects.toThrow('connect refused');
  const again = setUp();
  again.lose();
  again.feed.live = true;
  again.copies.markStale(new Map());
  again.feed.live = false;
  await expect(again.read(away)).rejects.toThrow('connect refused');
});

test('a fault that is not an absence is told', async () => {
  const { read, lose } = setUp();
  lose();
  const broken = async (): Promise<string> => {
    throw new Error('no such column');
  };
  await expect(read(broken)).rejects.toThrow('no such column');
});
