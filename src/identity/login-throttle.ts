/** Slows down guessing of passwords: after a few failures an address or a client waits, twice as long each time. Counted by this node. */
import ipaddr from 'ipaddr.js';
import type { Clock } from '../clock.ts';

interface LoginAttempt {
  email: string;
  clientIp: string;
}

export interface LoginThrottle {
  /**
   * Counts an attempt and answers 0, or the seconds to wait when it may not be made yet.
   * It counts before the password is looked at, so that a burst of guesses gains nothing.
   */
  admit(attempt: LoginAttempt): number;
  /** The attempt was no guess. Earlier failures of its client stay: they may have aimed at other people. */
  succeeded(attempt: LoginAttempt): void;
}

interface Tally {
  failures: number;
  lastAt: number;
  blockedUntil: number;
}

const accountFailures = 5;
/** Higher, because a whole office may share one address. */
const clientFailures = 30;
const firstWaitMs = 2_000;
const longestWaitMs = 15 * 60_000;
const forgottenAfterMs = 60 * 60_000;
const subjectsKept = 20_000;

export function createLoginThrottle(clock: Clock): LoginThrottle {
  const accounts = createTallies(accountFailures);
  const clients = createTallies(clientFailures);
  return {
    admit({ email, clientIp }) {
      const now = clock.now().getTime();
      const client = networkOf(clientIp);
      const left = Math.max(accounts.waitFor(email, now), clients.waitFor(client, now));
      if (left > 0) return Math.ceil(left / 1000);
      accounts.count(email, now);
      clients.count(client, now);
      return 0;
    },
    succeeded({ email, clientIp }) {
      accounts.clear(email);
      clients.takeBack(networkOf(clientIp));
    },
  };
}

function createTallies(freeFailures: number) {
  const tallies = new Map<string, Tally>();
  return {
    waitFor(subject: string, now: number): number {
      const known = tallies.get(subject);
      if (!known) return 0;
      // A clock that was set back must not make the wait longer than it was: it starts anew from here.
      if (known.lastAt > now) {
        known.blockedUntil = now + Math.max(0, known.blockedUntil - known.lastAt);
        known.lastAt = now;
      }
      return known.blockedUntil - now;
    },
    count(subject: string, now: number): void {
      const known = tallies.get(subject);
      const failures = (known && now - known.lastAt < forgottenAfterMs ? known.failures : 0) + 1;
      const over = failures - freeFailures;
      const wait = over < 0 ? 0 : Math.min(firstWaitMs * 2 ** over, longestWaitMs);
      // Deleting first moves the subject to the end, so that the one forgotten below is the longest silent one.
      tallies.delete(subject);
      tallies.set(subject, { failures, lastAt: now, blockedUntil: now + wait });
      if (tallies.size > subjectsKept) {
        const [oldest] = tallies.keys();
        if (oldest !== undefined) tallies.delete(oldest);
      }
    },
    clear: (subject: string): void => void tallies.delete(subject),
    takeBack(subject: string): void {
      const known = tallies.get(subject);
      if (known) tallies.set(subject, { ...known, failures: known.failures - 1, blockedUntil: 0 });
    },
  };
}

/** A client with IPv6 owns a whole /64, so that is what counts as one client. */
function networkOf(clientIp: string): string {
  if (!ipaddr.isValid(clientIp)) return clientIp;
  const address = ipaddr.process(clientIp);
  return address.kind() === 'ipv4' ? address.toString() : address.toByteArray().slice(0, 8).join('.');
}
