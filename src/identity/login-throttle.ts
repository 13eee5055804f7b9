/** Slows down guessing: after a few failures an address or a client waits, twice as long each time. */
import type { Clock } from '../clock.ts';

export interface LoginThrottle {
  /** Seconds to wait before this subject may try again; 0 when it may try now. */
  waitFor(subject: string): number;
  failed(subject: string): void;
  succeeded(subject: string): void;
}

interface Record {
  failures: number;
  blockedUntil: number;
}

const freeFailures = 5;
const firstWaitMs = 2_000;
const longestWaitMs = 15 * 60_000;
const subjectsKept = 20_000;

export function createLoginThrottle(clock: Clock): LoginThrottle {
  const records = new Map<string, Record>();
  return {
    waitFor(subject) {
      const left = (records.get(subject)?.blockedUntil ?? 0) - clock.now().getTime();
      return left > 0 ? Math.ceil(left / 1000) : 0;
    },
    failed(subject) {
      const failures = (records.get(subject)?.failures ?? 0) + 1;
      const over = failures - freeFailures;
      const wait = over < 0 ? 0 : Math.min(firstWaitMs * 2 ** over, longestWaitMs);
      records.delete(subject);
      records.set(subject, { failures, blockedUntil: clock.now().getTime() + wait });
      if (records.size > subjectsKept) {
        const [oldest] = records.keys();
        if (oldest) records.delete(oldest);
      }
    },
    succeeded(subject) {
      records.delete(subject);
    },
  };
}
