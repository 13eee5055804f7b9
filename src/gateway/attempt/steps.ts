/** The steps of an attempt around the call itself: what may answer, change or refuse it before it is sent, and what looks at its answer. */
import type { MaybePromise } from '../../maybe-promise.ts';
import type { AnswerStep, AttemptContext, AttemptSteps } from '../deps.ts';
import type { Answer } from './answer.ts';

export type { AnswerStep, AttemptSteps, SendStep } from '../deps.ts';

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
