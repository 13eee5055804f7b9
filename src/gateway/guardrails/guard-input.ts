/** Input guardrails: before the cache and the provider, for each target. */
import { guardsOf } from '../../catalog/guards.ts';
import { textTypes } from '../../guardrails/text/segments.ts';
import type { Answer } from '../attempt/answer.ts';
import type { AttemptContext } from '../attempt/context.ts';
import { failed } from '../attempt/exchange.ts';
import type { SendStep } from '../attempt/steps.ts';
import { GatewayError } from '../errors.ts';
import { isInside } from '../managed/inside-calls.ts';
import type { ClientBody } from '../request/body.ts';
import { hasRepeatedFields } from '../request/json-fields.ts';
import { denied } from './denial.ts';
import { inputFacts, run, runAsync } from './run.ts';
import { newGuardState } from './state.ts';

export const guardInput: SendStep = {
  name: 'guard input',
  applies: ({ context, leaf }) => guardsOf(context.workspace, leaf) !== null && !isInside(context.request),
  run: guard,
};

/** Where several targets could run it, as an operator may allow, the gateway does not keep its rows. */
const unguardedBatch =
  'guardrails are set, and a batch of several targets cannot be checked: name one provider, or upload the file without one, and the gateway runs the batch itself';

async function guard(call: AttemptContext): Promise<Answer | null> {
  const { deps, context, leaf, record } = call;
  const guards = guardsOf(context.workspace, leaf);
  if (!guards) return null;
  if (guards.fault !== null) {
    return failed(
      record,
      new GatewayError(
        'guardrail_not_found',
        `${guards.fault}; save it again, or take it out of the config or the defaults`,
      ),
    );
  }
  // Rows that nobody looks at go nowhere.
  const isGuarded = [guards.input, guards.output].some(({ sync, async }) => sync.length + async.length > 0);
  if (context.matched.route.kind === 'createBatch' && isGuarded) {
    return failed(record, new GatewayError('unsupported_endpoint', unguardedBatch));
  }
  // Of two fields of one name parsers believe the first or the last: what is checked is what is sent.
  if (spellsTwice(context.body)) call.shaped = { ...call.shaped };
  const state = newGuardState(guards, call.shaped);
  record.guard = state;
  const isText = textTypes.has(context.matched.route.kind) && !context.plan.passthrough;
  const { sync, gate } = guards.input;
  const isEmbedding = context.matched.route.kind === 'embed';
  const hooks = !isText ? gate : isEmbedding ? sync.filter(({ type }) => type !== 'mutator') : sync;
  const facts = inputFacts(call);
  if (hooks.length > 0) {
    const outcome = await run(deps, context, hooks, facts);
    state.before = outcome.results;
    state.inputFailed = outcome.failed;
    state.restores = outcome.restores;
    state.requestTransformed = outcome.json !== call.shaped;
    if (state.requestTransformed) call.shaped = outcome.json;
    state.request = call.shaped;
    if (outcome.denial) return denied(call, state, outcome.denial);
  }
  if (isText) runAsync(call, state, 'before', { ...facts, request: state.request });
  return null;
}

const spellsTwice = (body: ClientBody): boolean =>
  body.form === 'json' && hasRepeatedFields(new TextDecoder().decode(body.bytes), body.json);
