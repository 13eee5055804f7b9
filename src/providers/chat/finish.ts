/** Why an answer ended, where it holds calls of tools. */
import type { FinishReason } from './answer.ts';

/** A model that called a tool waits for its result, whatever its server says; one that was cut off does not. */
export const finishWithCalls = (finish: FinishReason, called: boolean): FinishReason =>
  called && finish === 'stop' ? 'tool_calls' : finish;
