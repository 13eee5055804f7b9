/** What Gemini says a call used. */
import { countOf, isObject, listOf, objectOf, objectsOf } from '../json.ts';
import type { JsonObject, Usage } from '../provider.ts';
import { noUsage } from '../usage.ts';
import { isThirdGeneration } from './generation.ts';

/** Null where nothing is said. Thoughts are written, and what tools brought is read. */
export function usageOf(metadata: unknown): Usage | null {
  if (!isObject(metadata)) return null;
  const seen = ofModality(metadata.promptTokensDetails, 'IMAGE');
  const drawn = ofModality(metadata.candidatesTokensDetails, 'IMAGE');
  return {
    ...noUsage,
    inputTokens: countOf(metadata.promptTokenCount) + countOf(metadata.toolUsePromptTokenCount),
    outputTokens: countOf(metadata.candidatesTokenCount) + countOf(metadata.thoughtsTokenCount),
    cacheReadTokens: countOf(metadata.cachedContentTokenCount),
    reasoningTokens: countOf(metadata.thoughtsTokenCount),
    inputAudioTokens: ofModality(metadata.promptTokensDetails, 'AUDIO'),
    outputAudioTokens: ofModality(metadata.candidatesTokensDetails, 'AUDIO'),
    units: { ...(seen > 0 && { request_image_token: seen }), ...(drawn > 0 && { response_image_token: drawn }) },
  };
}

const ofModality = (details: unknown, modality: string): number =>
  objectsOf(details).reduce((sum, one) => sum + (one.modality === modality ? countOf(one.tokenCount) : 0), 0);

/** Grounding is billed by the query since the third generation, and by the prompt before. */
export function searchesIn(candidate: JsonObject, model: string): number {
  const queries = listOf(objectOf(candidate.groundingMetadata).webSearchQueries).length;
  return isThirdGeneration(model) ? queries : Math.min(queries, 1);
}

export const withSearches = (usage: Usage | null, searches: number): Usage | null =>
  usage && searches > 0 ? { ...usage, units: { ...usage.units, web_search: searches } } : usage;
