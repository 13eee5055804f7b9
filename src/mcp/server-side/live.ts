/** A loop of server-side tools as its client sees it while it runs: one stream, although the model is called several times. */
import { readJson } from '../../bounded-json.ts';
import type { Executed, Json, ModelCall, OfferedTool, ToolRound } from './tool-calls.ts';

/** One event of the model's stream. */
export interface ModelEvent {
  event: string | null;
  data: string;
}

/** The model's stream ended in an error; its words go on as they came. */
export class ModelStreamFailed extends Error {
  readonly event: ModelEvent;

  constructor(event: ModelEvent) {
    super('the stream of the model failed');
    this.event = event;
  }
}

/** Every method answers what the client gets now, in the form of its dialect. */
export interface LiveView {
  /** Texts go on as they come; calls of tools and the model's own end are kept back. Throws `ModelStreamFailed`. */
  push(event: ModelEvent): string;
  /** What the model said in the round that has ended, as if it had come in one piece. */
  answer(): Json;
  /** Tools of ours are about to be called. */
  executing(calls: readonly (ModelCall & { tool: OfferedTool })[]): string;
  executed(done: readonly (Executed & { call: ModelCall })[]): string;
  /** `final` is the answer with everything that was executed. */
  end(final: Json, round: ToolRound): string;
  fail(message: string): string;
}

export function jsonOf(data: string): Json | null {
  try {
    const value: unknown = readJson(data);
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Json) : null;
  } catch {
    // What is no JSON is none of the dialect's events.
    return null;
  }
}
