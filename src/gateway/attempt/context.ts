/** What is held for a request while one of its targets is tried. */
import type { AttemptContext } from '../deps.ts';
import type { HoldBytes } from '../request/body-budget.ts';

export type { AttemptContext } from '../deps.ts';

/** Counts what is held for the request until it is over. */
export function holdFor({ deps: { bodies }, context: { request, caller } }: AttemptContext): HoldBytes {
  return (bytes) => bodies.hold(request, caller.organisationId, bytes);
}
