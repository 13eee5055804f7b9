/** The verdict of the output guardrails on a whole answer. */
import type { JsonObject } from '../../providers/provider.ts';
import type { Answer } from '../attempt/answer.ts';
import type { AttemptContext } from '../attempt/context.ts';
import { denied } from './denial.ts';
import { outputFacts, run, runAsync } from './run.ts';
import type { GuardState } from './state.ts';

/** What the hooks make of a whole answer: another one, or none. */
export async function judge(
  call: AttemptContext,
  state: GuardState,
  json: JsonObject,
): Promise<{ json: JsonObject } | { denial: Answer }> {
  const { deps, context, record } = call;
  const { sync } = state.guards.output;
  const facts = outputFacts(call, state, json);
  let answer = json;
  if (sync.length > 0) {
    const outcome = await run(deps, context, sync, facts);
    state.after = outcome.results;
    state.outputFailed = outcome.failed;
    answer = outcome.json;
    if (outcome.denial) {
      // The provider has done its work, and is paid for it.
      record.withheld = true;
      return { denial: await denied(call, state, outcome.denial) };
    }
  }
  runAsync(call, state, 'after', outputFacts(call, state, answer));
  return { json: answer };
}
