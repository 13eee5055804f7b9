/** What the data plane works with: the parts of every call, the steps around each attempt, and what those steps are given. */
import type { Leaf } from '../catalog/plan.ts';
import type { MaybePromise } from '../maybe-promise.ts';
import type { JsonObject } from '../providers/provider.ts';
import type { Answer, AttemptRecord } from './attempt/answer.ts';
import type { Target } from './attempt/target.ts';
import type { CallDeps } from './call-deps.ts';
import type { RequestContext } from './context.ts';
import type { Settler } from './settle/settlement.ts';

export interface GatewayDeps extends CallDeps {
  /** What stands around the call of a target: guardrails, cache, limits. */
  steps: AttemptSteps;
  /** Hear of every target that was tried, when its request has ended. */
  settlers: readonly Settler[];
}

/** One target being tried: the request, the leaf of its plan, what the leaf resolves to, and what is remembered of the attempt. */
export interface AttemptContext {
  readonly deps: GatewayDeps;
  readonly context: RequestContext;
  readonly leaf: Leaf;
  readonly record: AttemptRecord;
  readonly target: Target;
  /** The parameters as they go to the target; a step may replace them. */
  shaped: JsonObject;
}

/** Before a target is asked: guard the input, recall from the cache, reserve. */
export interface SendStep {
  readonly name: string;
  /** Decided from what is compiled or already known: a step that is not configured costs nothing. */
  applies(call: AttemptContext): boolean;
  /** Null goes on, possibly with other `call.shaped`. An answer ends the attempt here: a cached one, or a refusal. */
  run(call: AttemptContext): MaybePromise<Answer | null>;
}

/** After each answer of a target, inside the retry loop: retry and fallback act on the verdict. */
export interface AnswerStep {
  readonly name: string;
  applies(call: AttemptContext, answer: Answer): boolean;
  /** The answer as it was, changed (`content.stages` takes what must look at a stream), or a refusal in its place. */
  run(call: AttemptContext, answer: Answer): MaybePromise<Answer>;
}

export interface AttemptSteps {
  /** In the order in which they run. */
  send: readonly SendStep[];
  answer: readonly AnswerStep[];
}
