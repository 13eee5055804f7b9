/** Runs hooks for a target that is tried: the facts that they see, and what becomes of a runner that breaks. */
import type { CompiledHook } from '../../guardrails/compile.ts';
import type { HookFacts } from '../../guardrails/context.ts';
import { brokenOutcome, type GuardrailOutcome, runHooks } from '../../guardrails/engine.ts';
import type { MaybePromise } from '../../maybe-promise.ts';
import type { JsonObject } from '../../providers/provider.ts';
import type { AttemptContext } from '../attempt/context.ts';
import type { RequestContext } from '../context.ts';
import type { GatewayDeps } from '../deps.ts';
import { checkIo } from './io.ts';
import type { GuardState } from './state.ts';

export function inputFacts(call: AttemptContext): HookFacts {
  const { context, shaped, target } = call;
  return factsOf(context, target.provider.id, shaped, null);
}

export function outputFacts(call: AttemptContext, state: GuardState, json: JsonObject): HookFacts {
  const { context, target } = call;
  const facts = factsOf(context, target.provider.id, state.request, { json, status: 200 });
  return { ...facts, event: 'afterRequestHook', requestTransformed: state.requestTransformed };
}

export const factsOf = (
  context: RequestContext,
  provider: string,
  request: JsonObject,
  response: HookFacts['response'],
): HookFacts => ({
  event: 'beforeRequestHook',
  requestType: context.matched.route.kind,
  request,
  response,
  isStream: request.stream === true,
  provider,
  metadata: context.metadata,
  header: (name) => (name.startsWith('x-gw-') ? context.own.get(name.slice(5)) : context.request.headers.get(name)),
  traceId: context.traceId,
});

/** A fault of the runner fails what denies, and lets pass what only reports. */
export function run(
  deps: GatewayDeps,
  context: RequestContext,
  hooks: readonly CompiledHook[],
  facts: HookFacts,
): MaybePromise<GuardrailOutcome> {
  const io = checkIo(deps, context.workspace.workspaceId);
  const broken = (fault: unknown): GuardrailOutcome => {
    deps.onFault(fault, context.requestId);
    return brokenOutcome(hooks, facts, io);
  };
  try {
    const outcome = runHooks(hooks, facts, io);
    return outcome instanceof Promise ? outcome.catch(broken) : outcome;
  } catch (fault) {
    return broken(fault);
  }
}

/** Beside the request: it neither waits for them nor hears of them. */
export function runAsync(call: AttemptContext, state: GuardState, phase: 'before' | 'after', facts: HookFacts): void {
  const hooks = phase === 'before' ? state.guards.input.async : state.guards.output.async;
  if (hooks.length === 0) return;
  const later = Promise.resolve()
    .then(() => run(call.deps, call.context, hooks, facts))
    .then(({ results }) => {
      state.asyncResults[phase] = results;
    });
  state.pending.push(later);
}
