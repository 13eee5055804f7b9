/** Headers that carry a plain credential. */
import type { CallFacts } from './provider.ts';

type Headers = (facts: CallFacts) => Record<string, string>;

/** Under this name, behind this prefix; none without a credential. */
export const keyIn =
  (name: string, prefix = ''): Headers =>
  ({ credential }) =>
    credential === null ? {} : { [name]: prefix + credential };

export const bearer: Headers = keyIn('authorization', 'Bearer ');
