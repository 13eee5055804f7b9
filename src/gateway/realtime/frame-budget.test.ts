import { describe, expect, test } from 'bun:test';
import { FrameBudgets } from './frame-budget.ts';

function lab() {
  let now = 0;
  const budgets = new FrameBudgets(() => now);
  return { budgets, wait: (ms: number) => (now += ms) };
}

/** Charges single frames until one has to wait. */
function framesUntilWait(budget: ReturnType<FrameBudgets['open']>): number {
  for (let frames = 1; frames < 1_000_000; frames++) if (budget.charge(1).waitMs > 0) return frames - 1;
  return Number.POSITIVE_INFINITY;
}

describe('a session', () => {
  test('that talks never waits', () => {
    const { budgets, wait } = lab();
    const budget = budgets.open('a');
    for (let second = 0; second < 100; second++) {
      for (let frame = 0; frame < 200; frame++) expect(budget.charge(1).waitMs).toBe(0);
      wait(1_000);
    }
  });

  test('that floods is told to wait until it has paid, and can go on then', () => {
    const { budgets, wait } = lab();
    const budget = budgets.open('a');
    expect(framesUntilWait(budget)).toBe(2_000);
    const { waitMs, overdrawn } = budget.charge(999);
    expect({ waitMs, overdrawn }).toEqual({ waitMs: 500, overdrawn: false });
    wait(1_000);
    expect(framesUntilWait(budget)).toBe(1_000);
  });

  test('that cannot be slowed down is overdrawn', () => {
    const { budgets } = lab();
    const budget = budgets.open('a');
    budget.charge(2_000);
    expect(budget.charge(2_048).overdrawn).toBe(false);
    expect(budget.charge(1).overdrawn).toBe(true);
  });
});

test('the sessions of an organisation share a budget, of which others know nothing', () => {
  const { budgets } = lab();
  const sessions = Array.from({ length: 20 }, () => budgets.open('a'));
  const frames = sessions.map(framesUntilWait).reduce((sum, count) => sum + count);
  expect(frames).toBeLessThanOrEqual(20_000);
  expect(framesUntilWait(budgets.open('b'))).toBe(2_000);
});
