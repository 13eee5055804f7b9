/** Why an answer ended, and what stands beside it, in the words of everybody else. */
import type { FinishReason } from '../chat/answer.ts';
import { finishIn, finishWithCalls } from '../chat/finish.ts';
import { objectsOf, present, textOf } from '../json.ts';
import type { JsonObject } from '../provider.ts';

const finishes: ReadonlyMap<string, FinishReason> = new Map(
  Object.entries<FinishReason>({
    STOP: 'stop',
    FINISH_REASON_UNSPECIFIED: 'stop',
    OTHER: 'stop',
    MALFORMED_FUNCTION_CALL: 'stop',
    MALFORMED_RESPONSE: 'stop',
    UNEXPECTED_TOOL_CALL: 'stop',
    TOO_MANY_TOOL_CALLS: 'stop',
    MISSING_THOUGHT_SIGNATURE: 'stop',
    NO_IMAGE: 'stop',
    IMAGE_OTHER: 'stop',
    MAX_TOKENS: 'length',
    CONTINUATION: 'length',
    SAFETY: 'content_filter',
    RECITATION: 'content_filter',
    LANGUAGE: 'content_filter',
    BLOCKLIST: 'content_filter',
    PROHIBITED_CONTENT: 'content_filter',
    SPII: 'content_filter',
    IMAGE_SAFETY: 'content_filter',
    IMAGE_PROHIBITED_CONTENT: 'content_filter',
    IMAGE_RECITATION: 'content_filter',
    MODEL_ARMOR: 'content_filter',
  }),
);

/** Gemini says STOP also when it waits for the results of calls. */
export const finishOf = (reason: string, called: boolean): FinishReason =>
  finishWithCalls(finishIn(finishes, reason), called);

/** Fields of a candidate that have no counterpart. */
export const candidateExtras = (candidate: JsonObject): JsonObject =>
  present({
    groundingMetadata: candidate.groundingMetadata,
    safetyRatings: candidate.safetyRatings,
    citationMetadata: candidate.citationMetadata,
    urlContextMetadata: candidate.urlContextMetadata,
    avgLogprobs: candidate.avgLogprobs,
    finishMessage: candidate.finishMessage,
  });

/** In OpenAI's form; null where there are none. */
export function logprobsOf(result: unknown): JsonObject | null {
  if (typeof result !== 'object' || result === null || !('chosenCandidates' in result)) return null;
  const tops = objectsOf('topCandidates' in result ? result.topCandidates : null);
  const content = objectsOf(result.chosenCandidates).map((chosen, index) => ({
    ...tokenOf(chosen),
    top_logprobs: objectsOf(tops[index]?.candidates).map(tokenOf),
  }));
  return content.length > 0 ? { content, refusal: null } : null;
}

function tokenOf({ token, logProbability }: JsonObject): JsonObject {
  const text = textOf(token) ?? '';
  return { token: text, logprob: logProbability ?? 0, bytes: [...Buffer.from(text)] };
}
