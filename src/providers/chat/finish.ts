/** Why an answer ended, in the one form. */
import type { FinishReason } from './answer.ts';

/**
 * What a word of the provider's means. None at all is how many say that the model was done. A word that nobody knows is
 * no clean end: the answer may lack something, which is what `length` tells every client.
 */
export const finishIn = (known: ReadonlyMap<string, FinishReason>, word: string | null): FinishReason =>
  word ? (known.get(word) ?? 'length') : 'stop';

/** A model that called a tool waits for its result, whatever its server says; one that was cut off does not. */
export const finishWithCalls = (finish: FinishReason, called: boolean): FinishReason =>
  called && finish === 'stop' ? 'tool_calls' : finish;
