/** An exchange whose credentials live in secret managers: when the provider refuses them, newer ones are looked for and it is asked once more. */
import { type Answer, discard, type Joining } from '../attempt/answer.ts';
import type { AttemptContext } from '../attempt/context.ts';
import type { Target } from '../attempt/target.ts';
import type { Upstream } from '../upstream/upstream-request.ts';
import { renewedTarget } from './filled-target.ts';

export type Exchange = (call: AttemptContext, upstream: Upstream, joined: Joining) => Promise<Answer>;

/** `rebuilt` makes the request anew for a target with other credentials. */
export function renewingExchange(exchange: Exchange, rebuilt: (call: AttemptContext) => Upstream): Exchange {
  let current: { call: AttemptContext; upstream: Upstream } | null = null;
  let asked = false;
  return async (call, upstream, joined) => {
    const first = await exchange(current?.call ?? call, current?.upstream ?? upstream, joined);
    if (asked || !isRefusal(first.status) || !upstream.repeatable || call.context.request.left) return first;
    asked = true;
    const target = await renewedTarget(call.deps, call.context, call.leaf, call.target);
    if (!target) return first;
    discard(first);
    current = withTarget(call, target, rebuilt);
    return exchange(current.call, current.upstream, joined);
  };
}

const isRefusal = (status: number): boolean => status === 401 || status === 403;

function withTarget(call: AttemptContext, target: Target, rebuilt: (call: AttemptContext) => Upstream) {
  const renewed = { ...call, target };
  const upstream = rebuilt(renewed);
  call.record.target = target;
  call.record.upstream = upstream;
  return { call: renewed, upstream };
}
