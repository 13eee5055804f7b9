/**
 * Slows down guessing of passwords, and keeps nobody out by it: failures count for an address and a source together, and whoever is
 * over their share waits for a turn in a slow lane, where the right password still opens. Counted by this node.
 */

import type { Clock } from '../clock.ts';
import { networkOf } from '../http/client-address.ts';

export interface LoginAttempt {
  email: string;
  clientIp: string;
  /** Set where the person has signed in before on the very same device, which nobody else's failures then concern. */
  device?: string | null;
}

/** When the attempt may be made: so many milliseconds from now, or, where too many wait already, not before it is asked again. */
export type LoginAdmission = { afterMs: number } | { againInSeconds: number };

export interface LoginThrottle {
  /** Counts an attempt before the password is looked at, so that a burst of guesses gains nothing. */
  admit(attempt: LoginAttempt): LoginAdmission;
  /** The attempt was no guess. Earlier failures of its network stay: they may have aimed at other people. */
  succeeded(attempt: LoginAttempt): void;
}

interface Tally {
  failures: number;
  lastAt: number;
  /** When the next one in the slow lane has its turn. */
  turnAt: number;
}

interface Share {
  /** Failures that cost nothing. */
  free: number;
  /** Milliseconds between two turns: the first, and what it doubles up to. */
  pause: number;
  longestPause: number;
}

const ofSource: Share = { free: 5, pause: 2_000, longestPause: 15_000 };
/** Higher, because a whole office may share one address. */
const ofNetwork: Share = { free: 30, pause: 2_000, longestPause: 15_000 };
/** Guesses that come from everywhere. */
const ofAddress: Share = { free: 50, pause: 1_000, longestPause: 2_000 };

/** A client is not kept waiting longer than this for its turn. */
const longestLaneMs = 20_000;
const forgottenAfterMs = 60 * 60_000;
const subjectsKept = 20_000;

export function createLoginThrottle(clock: Clock): LoginThrottle {
  const sources = createTallies(ofSource);
  const networks = createTallies(ofNetwork);
  const addresses = createTallies(ofAddress);
  const lanesOf = ({ email, clientIp, device }: LoginAttempt) => {
    if (device) return [{ tallies: sources, subject: `${email} ${device}` }];
    const network = networkOf(clientIp);
    return [
      { tallies: sources, subject: `${email} ${network}` },
      { tallies: networks, subject: network },
      { tallies: addresses, subject: email },
    ];
  };
  return {
    admit(attempt) {
      const now = clock.now().getTime();
      const lanes = lanesOf(attempt);
      const afterMs = Math.max(...lanes.map(({ tallies, subject }) => tallies.waitFor(subject, now)));
      if (afterMs > longestLaneMs) return { againInSeconds: Math.ceil((afterMs - longestLaneMs) / 1000) };
      for (const { tallies, subject } of lanes) tallies.count(subject, now);
      return { afterMs };
    },
    succeeded(attempt) {
      const [own, ...shared] = lanesOf(attempt);
      own?.tallies.clear(own.subject);
      for (const { tallies, subject } of shared) tallies.takeBack(subject);
    },
  };
}

function createTallies({ free, pause, longestPause }: Share) {
  const tallies = new Map<string, Tally>();
  return {
    waitFor(subject: string, now: number): number {
      const known = tallies.get(subject);
      if (!known) return 0;
      // A clock that was set back must not make the wait longer than it was: it starts anew from here.
      if (known.lastAt > now) {
        known.turnAt = now + Math.max(0, known.turnAt - known.lastAt);
        known.lastAt = now;
      }
      return Math.max(0, known.turnAt - now);
    },
    count(subject: string, now: number): void {
      const known = tallies.get(subject);
      const current = known && now - known.lastAt < forgottenAfterMs ? known : null;
      const failures = (current?.failures ?? 0) + 1;
      const over = failures - free;
      const interval = over < 0 ? 0 : Math.min(pause * 2 ** over, longestPause);
      // Deleting first moves the subject to the end, so that the one forgotten below is the longest silent one.
      tallies.delete(subject);
      tallies.set(subject, { failures, lastAt: now, turnAt: Math.max(now, current?.turnAt ?? 0) + interval });
      if (tallies.size > subjectsKept) {
        const [oldest] = tallies.keys();
        if (oldest !== undefined) tallies.delete(oldest);
      }
    },
    clear: (subject: string): void => void tallies.delete(subject),
    takeBack(subject: string): void {
      const known = tallies.get(subject);
      if (known) tallies.set(subject, { ...known, failures: known.failures - 1, turnAt: 0 });
    },
  };
}
