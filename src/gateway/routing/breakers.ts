/** Circuit breakers: a node of a plan that keeps failing is left out for a while. Counts are kept by workspace, plan and path. */
import type { BreakerRule, PlanNode } from '../../catalog/plan.ts';

interface State {
  failures: number;
  successes: number;
  /** When the counts began: with the first failure, or with the first success while there is none. */
  since: number;
  openedAt: number | null;
}

/** Where a plan runs: the same inline config in two workspaces is judged apart. */
export interface BreakerScope {
  workspaceId: string;
  planId: string;
}

export interface Breakers {
  isOpen(scope: BreakerScope, node: PlanNode): boolean;
  /** Takes note of how a call of this node ended. */
  record(scope: BreakerScope, node: PlanNode, status: number): void;
}

const nodesKept = 20_000;

export function createBreakers(now: () => number): Breakers {
  const states = new Map<string, State>();
  const keyOf = (scope: BreakerScope, node: PlanNode) => `${scope.workspaceId} ${scope.planId} ${node.path}`;
  // While nothing fails nothing is kept, and no key needs to be spelt.
  const stateOf = (scope: BreakerScope, node: PlanNode) =>
    states.size === 0 ? undefined : states.get(keyOf(scope, node));

  return {
    isOpen(scope, node) {
      const rule = node.breaker;
      const state = rule ? stateOf(scope, node) : undefined;
      if (!rule || !state || state.openedAt === null) return false;
      if (now() - state.openedAt < rule.cooldownMs) return true;
      states.delete(keyOf(scope, node));
      return false;
    },
    record(scope, node, status) {
      const rule = node.breaker;
      if (!rule) return;
      const failed = isFailure(rule, status);
      let state = stateOf(scope, node);
      if (!state) {
        // Most targets never fail: nothing is kept for them, unless a rate needs their successes.
        if (!failed && rule.failurePercentage === null) return;
        state = { failures: 0, successes: 0, since: now(), openedAt: null };
        if (states.size >= nodesKept) states.delete(states.keys().next().value ?? '');
        states.set(keyOf(scope, node), state);
      }
      count(state, rule, failed, now());
    },
  };
}

const isFailure = (rule: BreakerRule, status: number): boolean =>
  status === 408 || (rule.failureStatus ? rule.failureStatus.has(status) : status >= 500);

function count(state: State, rule: BreakerRule, failed: boolean, at: number): void {
  if (at - state.since > rule.cooldownMs) {
    state.failures = 0;
    state.successes = 0;
    state.since = at;
  }
  if (!failed) {
    state.successes++;
    return;
  }
  if (state.failures === 0) state.since = at;
  state.failures++;
  const total = state.failures + state.successes;
  const overCount = rule.failureThreshold !== null && state.failures >= rule.failureThreshold;
  const overRate =
    rule.failurePercentage !== null &&
    total >= rule.minimumRequests &&
    (state.failures / total) * 100 >= rule.failurePercentage;
  if (overCount || overRate) state.openedAt ??= at;
}
