/** What guardrails said, as events of a stream: for clients that asked for more than their dialect has. */
import type { JsonObject, ServerEvent } from '../../providers/provider.ts';
import type { AttemptContext } from '../attempt/context.ts';
import type { StreamStage } from '../streaming/stages.ts';
import { type GuardState, toldResults } from './state.ts';

/** Strict clients get nothing that their dialect does not have. */
export const resultsTold = ({ leaf, context }: AttemptContext): boolean =>
  !leaf.strictOpenAiCompliance || context.rules.strictOff;

/** Results of the input before the first event, results of the output behind the last one. */
export class ResultEvents implements StreamStage {
  readonly name = 'hook results';
  readonly #state: GuardState;
  readonly #kind: string;
  #begun = false;

  constructor(state: GuardState, kind: string) {
    this.#state = state;
    this.#kind = kind;
  }

  push(events: readonly ServerEvent[]): readonly ServerEvent[] {
    if (this.#begun || this.#state.before.length === 0) return events;
    this.#begun = true;
    return [resultEvent(this.#kind, { before_request_hooks: this.#state.before }), ...events];
  }

  end(): readonly ServerEvent[] {
    return this.#state.after.length === 0
      ? []
      : [resultEvent(this.#kind, { after_request_hooks: toldResults(this.#state) })];
  }
}

export function resultEvent(kind: string, results: JsonObject): ServerEvent {
  if (kind === 'messages') return { event: 'hook_results', data: JSON.stringify({ hook_results: results }) };
  if (kind === 'createModelResponse') {
    return { event: 'hook_results', data: JSON.stringify({ type: 'hook_results', hook_results: results }) };
  }
  return { event: null, data: JSON.stringify({ hook_results: results }) };
}
