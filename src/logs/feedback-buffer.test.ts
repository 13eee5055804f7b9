import { afterEach, beforeEach, expect, test } from 'bun:test';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Log } from '../log.ts';
import { FeedbackBuffer } from './feedback-buffer.ts';
import type { Feedback } from './query.ts';
import type { Timer } from './timer.ts';

let folder: string;
let saved: Map<string, Feedback>;
let attempts: number;
let isAway: boolean;
let told: string[];
let clock: number;
let waiting: { at: number; run: () => void }[];
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'gw-feedback-'));
  saved = new Map();
  told = [];
  waiting = [];
  [attempts, clock, isAway] = [0, 0, false];
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const log: Log = {
  info: (text) => void told.push(text),
  warn: (text) => void told.push(text),
  error: (text) => void told.push(text),
};

const timer: Timer = (ms, run) => {
  const entry = { at: clock + ms, run };
  waiting.push(entry);
  return () => {
    waiting = waiting.filter((other) => other !== entry);
  };
};

/** Lets time pass, and everything happen that was due in it. */
async function pass(ms: number): Promise<void> {
  const end = clock + ms;
  for (;;) {
    // What a timer has started comes to its end before the next one runs.
    await new Promise((resolve) => setImmediate(resolve));
    const next = waiting.toSorted((a, b) => a.at - b.at)[0];
    if (!next || next.at > end) break;
    clock = next.at;
    waiting = waiting.filter((other) => other !== next);
    next.run();
  }
  clock = end;
}

const file = () => join(folder, 'feedback.waiting');
const open = () =>
  new FeedbackBuffer(
    async (feedback) => {
      attempts += 1;
      if (isAway) throw new Error('connection refused');
      for (const one of feedback) saved.set(one.id, one);
    },
    log,
    { file: file(), timer },
  );

const feedbackOf = (count: number, from = 0): Feedback[] =>
  Array.from({ length: count }, (_, at) => ({
    id: `feedback-${from + at}`,
    organisation_id: 'organisation-1',
    workspace_id: 'workspace-1',
    trace_id: 'trace-1',
    value: 5,
    weight: 1,
    metadata: {},
    created_at: 1,
  }));

test('what comes within a moment is saved together', async () => {
  const buffer = open();
  buffer.add(feedbackOf(3));
  buffer.add(feedbackOf(3, 3));
  await pass(1_000);
  expect([saved.size, attempts]).toEqual([6, 1]);
  expect(told).toEqual([]);
  await buffer.close();
});

test('while the store is away for ten minutes it waits, is tried ever less often, and is told once', async () => {
  const buffer = open();
  isAway = true;
  for (let minute = 0; minute < 10; minute++) {
    buffer.add(feedbackOf(700, minute * 700));
    await pass(60_000);
  }
  expect(saved.size).toBe(0);
  expect(attempts).toBeLessThan(30);
  expect(told).toEqual(['Feedback of guardrails cannot be saved; it waits until the log store takes it.']);
  isAway = false;
  await pass(60_000);
  expect(saved.size).toBe(7_000);
  expect(told).toHaveLength(2);
  expect(told[1]).toBe('Feedback of guardrails is saved again.');
  await buffer.close();
  expect(existsSync(file())).toBe(false);
});

test('more than can wait pushes the oldest out, which is told with their number', async () => {
  const buffer = open();
  isAway = true;
  buffer.add(feedbackOf(20_000));
  buffer.add(feedbackOf(5, 20_000));
  expect(told).toEqual(['Feedback of guardrails is dropped: the log store does not take it.']);
  isAway = false;
  await pass(60_000);
  expect(saved.size).toBe(20_000);
  expect(saved.has('feedback-4')).toBe(false);
  expect(saved.has('feedback-20004')).toBe(true);
  await buffer.close();
});

test('what waits when the program ends is saved at the next start', async () => {
  const first = open();
  isAway = true;
  first.add(feedbackOf(3));
  await pass(1_000);
  await first.close();
  expect(existsSync(file())).toBe(true);
  isAway = false;
  const second = open();
  second.add(feedbackOf(1, 3));
  await pass(1_000);
  expect([...saved.keys()].sort()).toEqual(['feedback-0', 'feedback-1', 'feedback-2', 'feedback-3']);
  expect(existsSync(file())).toBe(false);
  await second.close();
});
