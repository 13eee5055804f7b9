import { beforeEach, describe, expect, test } from 'bun:test';
import { leafOf } from '../../../test/plans.ts';
import type { BreakerRule, PlanNode } from '../../catalog/plan.ts';
import { type Breakers, createBreakers } from './breakers.ts';

let now = 0;
let breakers: Breakers;

beforeEach(() => {
  now = 1_000;
  breakers = createBreakers(() => now);
});

const node = (rule: Partial<BreakerRule> | null): PlanNode => ({
  ...leafOf({ provider: '@a' }),
  breaker: rule && {
    failureThreshold: null,
    failurePercentage: null,
    minimumRequests: 1,
    cooldownMs: 30_000,
    failureStatus: null,
    ...rule,
  },
});

const scope = { workspaceId: 'w', planId: 'p' };
const record = (on: PlanNode, ...statuses: number[]) => {
  for (const status of statuses) breakers.record(scope, on, status);
};
const isOpen = (on: PlanNode) => breakers.isOpen(scope, on);

test('a node without a rule is never judged', () => {
  const free = node(null);
  record(free, 500, 500, 500);
  expect(isOpen(free)).toBe(false);
});

describe('by number', () => {
  test('it opens with the failure that reaches the threshold, and closes when the cooldown has passed', () => {
    const judged = node({ failureThreshold: 3 });
    record(judged, 500, 200, 503);
    expect(isOpen(judged)).toBe(false);
    record(judged, 502);
    expect(isOpen(judged)).toBe(true);
    now += 29_999;
    expect(isOpen(judged)).toBe(true);
    now += 1;
    expect(isOpen(judged)).toBe(false);
    record(judged, 500, 500);
    expect(isOpen(judged)).toBe(false);
  });

  test('failures that lie apart by more than the cooldown do not add up', () => {
    const judged = node({ failureThreshold: 2 });
    record(judged, 500);
    now += 30_001;
    record(judged, 500);
    expect(isOpen(judged)).toBe(false);
  });

  test.each([
    [400, false],
    [429, false],
    [408, true],
    [500, true],
    [529, true],
  ])('%p counts by itself: %p', (status, opens) => {
    const judged = node({ failureThreshold: 1 });
    record(judged, status);
    expect(isOpen(judged)).toBe(opens);
  });

  test('a list of statuses replaces the default; no answer in time counts always', () => {
    const judged = node({ failureThreshold: 1, failureStatus: new Set([429]) });
    record(judged, 500);
    expect(isOpen(judged)).toBe(false);
    record(judged, 429);
    expect(isOpen(judged)).toBe(true);
  });
});

describe('by rate', () => {
  test('it opens at the rate, once enough was seen', () => {
    const judged = node({ failurePercentage: 50, minimumRequests: 4 });
    record(judged, 500, 500, 200);
    expect(isOpen(judged)).toBe(false);
    record(judged, 500);
    expect(isOpen(judged)).toBe(true);
  });

  test('what succeeded long ago does not excuse what fails now', () => {
    const judged = node({ failurePercentage: 50, minimumRequests: 2 });
    for (let call = 0; call < 1_000; call++) record(judged, 200);
    now += 30_001;
    record(judged, 200, 500);
    expect(isOpen(judged)).toBe(true);
  });
});

test('workspaces, plans and paths are judged apart', () => {
  const judged = node({ failureThreshold: 1 });
  record(judged, 500);
  expect(breakers.isOpen({ ...scope, workspaceId: 'other' }, judged)).toBe(false);
  expect(breakers.isOpen({ ...scope, planId: 'other' }, judged)).toBe(false);
  expect(breakers.isOpen(scope, { ...judged, path: 'config.targets[1]' })).toBe(false);
  expect(isOpen(judged)).toBe(true);
});
