/** What stands between a provider's events and the client: observers and transformers of a stream, in order. */
import type { MaybePromise } from '../../maybe-promise.ts';
import type { ServerEvent } from '../../providers/provider.ts';
import { GatewayError } from '../errors.ts';

/** The stream ends here, with these events in place of the dialect's error event. */
export interface StreamStop {
  stop: GatewayError;
  events: readonly ServerEvent[];
}

/** What may leave now, or why nothing more does. */
export type StageVerdict = readonly ServerEvent[] | GatewayError | StreamStop;

export const isRefusal = (verdict: StageVerdict): verdict is GatewayError | StreamStop =>
  verdict instanceof GatewayError || 'stop' in verdict;

export type StreamOutcome = 'complete' | 'failed' | 'client left';

export interface StreamStage {
  /** Two stages of one name do the same: a stream that another target goes on with keeps the first. */
  readonly name: string;
  /** The events that may leave now. What is held back leaves later, or with `end`. A stage that only watches answers the same array. A refusal ends the stream. */
  push(events: readonly ServerEvent[]): MaybePromise<StageVerdict>;
  /** The stream is over: what is still held and may leave, and what is added. Nobody reads it when the client has left. */
  end(outcome: StreamOutcome): MaybePromise<StageVerdict>;
}

export const noStages: readonly StreamStage[] = [];

/** Stages in a row: each sees what the one before it passes on. */
export class StageChain {
  #stages: readonly StreamStage[];
  #over = false;

  constructor(stages: readonly StreamStage[]) {
    this.#stages = stages;
  }

  get isEmpty(): boolean {
    return this.#stages.length === 0;
  }

  /** Another target goes on: its stages stand behind those that are there. */
  add(stages: readonly StreamStage[]): void {
    const known = new Set(this.#stages.map(({ name }) => name));
    this.#stages = [...this.#stages, ...stages.filter(({ name }) => !known.has(name))];
  }

  async push(events: readonly ServerEvent[]): Promise<StageVerdict> {
    let passing: readonly ServerEvent[] = events;
    for (const stage of this.#stages) {
      const verdict = await stage.push(passing);
      if (isRefusal(verdict) || verdict.length === 0) return verdict;
      passing = verdict;
    }
    return passing;
  }

  /** Each stage ends once it has seen what the ones before it still held. Only the first call counts. */
  async end(outcome: StreamOutcome): Promise<StageVerdict> {
    if (this.#over) return [];
    this.#over = true;
    let refusal: GatewayError | StreamStop | null = null;
    let left: readonly ServerEvent[] = [];
    for (const stage of this.#stages) {
      const passed: StageVerdict = left.length > 0 && !refusal ? await stage.push(left) : [];
      if (isRefusal(passed)) refusal = passed;
      // Behind a refusal the others hear of the end, and keep what they hold.
      const added = await stage.end(refusal && outcome === 'complete' ? 'failed' : outcome);
      if (!refusal && isRefusal(added)) refusal = added;
      left = refusal || isRefusal(passed) || isRefusal(added) ? [] : [...passed, ...added];
    }
    return refusal ?? left;
  }
}
