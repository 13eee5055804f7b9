/** The index finds the nearest of many, keeps workspaces and partitions apart, and forgets. */
import { expect, test } from 'bun:test';
import { createSemanticIndex } from './semantic-index.ts';

/** A generator of its own, so that a run can be repeated. */
function numbers(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32 - 0.5;
  };
}

const vector = (next: () => number, dimensions = 256): Float32Array => Float32Array.from({ length: dimensions }, next);
const place = (key: string, workspaceId = 'w', namespace = '') => ({ workspaceId, namespace, key });

test('the nearest of thousands is found', () => {
  const index = createSemanticIndex(() => 0);
  const next = numbers(7);
  const all = Array.from({ length: 3_000 }, () => vector(next));
  for (const [at, entry] of all.entries()) index.add('p', entry, place(String(at)), 60);
  for (let at = 0; at < all.length; at += 97) {
    const near = (all[at] ?? vector(next)).map((value) => value + next() * 0.2);
    const found = index.nearest('w', 'p', near);
    expect(found?.place.key).toBe(String(at));
    expect(found?.similarity).toBeGreaterThan(0.9);
  }
});

test('workspaces, partitions and dimensions are kept apart', () => {
  const index = createSemanticIndex(() => 0);
  const one = vector(numbers(1));
  index.add('p', one, place('k'), 60);
  expect(index.nearest('other', 'p', one)).toBeNull();
  expect(index.nearest('w', 'q', one)).toBeNull();
  expect(index.nearest('w', 'p', vector(numbers(1), 8))?.similarity).toBe(0);
  expect(index.nearest('w', 'p', one)?.similarity).toBeCloseTo(1);
});

test('entries end with their age, with a purge, and where there are too many', () => {
  let now = 0;
  const index = createSemanticIndex(() => now);
  const next = numbers(3);
  const one = vector(next);
  index.add('p', one, place('k', 'w', 'n'), 60);
  index.purge({ workspaceId: 'w', namespace: 'other', key: null });
  expect(index.nearest('w', 'p', one)).not.toBeNull();
  index.purge({ workspaceId: 'w', namespace: 'n', key: null });
  expect(index.nearest('w', 'p', one)).toBeNull();
  index.add('p', one, place('k'), 60);
  now = 61_000;
  expect(index.nearest('w', 'p', one)).toBeNull();
  index.add('first', one, place('k'), 60);
  for (let at = 0; at < 5_000; at++) index.add('p', vector(next, 8), place(String(at)), 60);
  expect(index.nearest('w', 'first', one)).toBeNull();
});
