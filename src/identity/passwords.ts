/** Passwords: argon2id, one hash at a time for each core, so that a wave of sign-ins cannot stall the gateway. */
import { availableParallelism } from 'node:os';
import { z } from 'zod';
import { lazy } from '../lazy.ts';

export const passwordSchema = lazy(() => z.string().min(12).max(200));

export interface Passwords {
  hash(password: string): Promise<string>;
  /** Holds everything up, and gives its memory back at once: for a program that serves nobody yet. */
  hashAtOnce(password: string): string;
  /** Takes the same time whether or not there is a hash, so that it does not tell which addresses exist. */
  verify(password: string, hash: string | null): Promise<boolean>;
}

/** What one argon2id hash costs: kibibytes of memory, and passes over them. */
export interface PasswordCost {
  memoryCost: number;
  timeCost: number;
}

/** OWASP's second recommended setting for argon2id: 19 MiB, two passes. */
const recommendedCost: PasswordCost = { memoryCost: 19_456, timeCost: 2 };

export function createPasswords(chosen: PasswordCost = recommendedCost): Passwords {
  const cost = { algorithm: 'argon2id', ...chosen } as const;
  const lanes = createLanes(Math.max(1, availableParallelism() - 1));
  let decoy: Promise<string> | undefined;
  return {
    hash: (password) => lanes(() => Bun.password.hash(password, cost)),
    hashAtOnce: (password) => Bun.password.hashSync(password, cost),
    async verify(password, hash) {
      decoy ??= lanes(() => Bun.password.hash('a password that nobody has', cost));
      const against = hash ?? (await decoy);
      const matches = await lanes(() => Bun.password.verify(password, against));
      return matches && hash !== null;
    },
  };
}

/** Lets at most `count` pieces of work run at once. */
export function createLanes(count: number) {
  let free = count;
  const waiting: (() => void)[] = [];
  return async <T>(work: () => Promise<T>): Promise<T> => {
    if (free > 0) free--;
    else await new Promise<void>((resolve) => waiting.push(resolve));
    try {
      return await work();
    } finally {
      // The lane goes straight to whoever waits; freeing it first would let a newcomer in beside them.
      const next = waiting.shift();
      if (next) next();
      else free++;
    }
  };
}
