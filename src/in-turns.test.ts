import { expect, test } from 'bun:test';
import { atOnce, type InTurns, inTurns } from './in-turns.ts';

const steps = 40;

function* busy(): InTurns<string> {
  for (let step = 0; step < steps; step++) {
    const until = performance.now() + 2;
    while (performance.now() < until);
    yield;
  }
  return 'made';
}

test('others have their turn while the work is under way, and none where it is done at once', async () => {
  let turns = 0;
  let isOver = false;
  const other = (): void => {
    turns++;
    if (!isOver) setImmediate(other);
  };
  setImmediate(other);
  expect(atOnce(busy())).toBe('made');
  expect(turns).toBe(0);
  expect(await inTurns(busy())).toBe('made');
  isOver = true;
  expect(turns).toBeGreaterThan(5);
});

test('a fault of the work is told to whoever waits for it', async () => {
  function* failing(): InTurns<never> {
    yield;
    throw new Error('half-way');
  }
  expect(inTurns(failing())).rejects.toThrow('half-way');
  expect(() => atOnce(failing())).toThrow('half-way');
});
