/** Calls that the gateway makes of itself for a batch that it has checked: no guardrail and no batch of its own stands before them. No header can ask for that. */
import type { Incoming } from '../../wire/server/incoming.ts';

const inside = new WeakSet<Incoming>();

export function markInside(request: Incoming): Incoming {
  inside.add(request);
  return request;
}

export const isInside = (request: Incoming): boolean => inside.has(request);
