/** Guardrails around the call of a service: on what is asked before it, on what it answers after it. */
import type { Guards } from '../../catalog/guards.ts';
import type { CompiledHook } from '../../guardrails/compile.ts';
import type { HookFacts } from '../../guardrails/context.ts';
import type { HookResult, HookResults } from '../../guardrails/results.ts';
import type { JsonObject } from '../../providers/provider.ts';
import type { RequestContext } from '../context.ts';
import type { GatewayDeps } from '../deps.ts';
import { factsOf, run } from './run.ts';
import { type GuardState, hookResults, newGuardState } from './state.ts';

export interface ServiceVerdict {
  /** Set where the call is denied: what the caller is told. */
  denial: string | null;
  /** What goes on; the very same object where nothing changed. */
  value: JsonObject;
}

/** A stream is checked event by event: what failed or changed one of them stands. */
const worseOf = (before: readonly HookResult[], now: HookResult[]): HookResult[] =>
  now.map((result, index) => {
    const earlier = before[index];
    return earlier && result.verdict && !result.transformed ? earlier : result;
  });

const refused = 'The guardrail checks of this server failed.';

export class ServiceGuard {
  readonly state: GuardState;
  readonly #deps: GatewayDeps;
  readonly #context: RequestContext;

  constructor(deps: GatewayDeps, context: RequestContext, guards: Guards) {
    this.#deps = deps;
    this.#context = context;
    this.state = newGuardState(guards, {});
  }

  /** As the client may see them; null where nothing failed or changed. */
  get told(): HookResults | null {
    const { before, after } = this.state;
    return [...before, ...after].some(({ verdict, transformed }) => !verdict || transformed)
      ? hookResults(this.state)
      : null;
  }

  async before(request: JsonObject): Promise<ServiceVerdict> {
    const { guards } = this.state;
    if (guards.fault !== null) return { denial: `The call cannot be checked: ${guards.fault}.`, value: request };
    const facts = factsOf(this.#context, this.#provider, request, null);
    const outcome = await this.#run(guards.input.sync, facts);
    if (outcome) {
      this.state.before = outcome.results;
      this.state.inputFailed = outcome.failed;
      this.state.requestTransformed = outcome.json !== request;
    }
    this.state.request = outcome?.json ?? request;
    if (outcome?.denial)
      return { denial: outcome.denial.message ?? outcome.denial.softText ?? refused, value: request };
    this.#beside('before', { ...facts, request: this.state.request });
    return { denial: null, value: this.state.request };
  }

  async after(json: JsonObject): Promise<ServiceVerdict> {
    const { guards, request, requestTransformed } = this.state;
    const facts: HookFacts = {
      ...factsOf(this.#context, this.#provider, request, { json, status: 200 }),
      event: 'afterRequestHook',
      requestTransformed,
    };
    const outcome = await this.#run(guards.output.sync, facts);
    if (outcome) {
      this.state.after = worseOf(this.state.after, outcome.results);
      this.state.outputFailed ||= outcome.failed;
    }
    if (outcome?.denial) return { denial: outcome.denial.message ?? outcome.denial.softText ?? refused, value: json };
    this.#beside('after', facts);
    return { denial: null, value: outcome?.json ?? json };
  }

  get #provider(): string {
    return this.#context.service?.slug ?? '';
  }

  #run(hooks: readonly CompiledHook[], facts: HookFacts) {
    return hooks.length === 0 ? null : run(this.#deps, this.#context, hooks, facts);
  }

  /** Async hooks: the call neither waits for them nor hears of them. */
  #beside(phase: 'before' | 'after', facts: HookFacts): void {
    const { guards, pending, asyncResults } = this.state;
    const hooks = phase === 'before' ? guards.input.async : guards.output.async;
    if (hooks.length === 0) return;
    pending.push(
      Promise.resolve()
        .then(() => run(this.#deps, this.#context, hooks, facts))
        .then(({ results }) => {
          asyncResults[phase] = results;
        }),
    );
  }
}
