/** The steps of an attempt around the call itself: what may answer, change or refuse it before it is sent, and what looks at its answer. */
import type { MaybePromise } from '../../maybe-promise.ts';
import type { Answer } from './answer.ts';
import type { AttemptContext } from './context.ts';

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

export const noSteps: AttemptSteps = { send: [], answer: [] };

export const hasSendSteps = (call: AttemptContext): boolean => call.deps.steps.send.some((step) => step.applies(call));

export async function runSendSteps(call: AttemptContext): Promise<Answer | null> {
  for (const step of call.deps.steps.send) {
    const answer = step.applies(call) ? await step.run(call) : null;
    if (answer) return answer;
  }
  return null;
}

/** At once where no step applies. */
export function runAnswerSteps(call: AttemptContext, answer: Answer): MaybePromise<Answer> {
  const { answer: steps } = call.deps.steps;
  return steps.some((step) => step.applies(call, answer)) ? inTurn(call, answer, steps) : answer;
}

async function inTurn(call: AttemptContext, first: Answer, steps: readonly AnswerStep[]): Promise<Answer> {
  let answer = first;
  for (const step of steps) if (step.applies(call, answer)) answer = await step.run(call, answer);
  return answer;
}
