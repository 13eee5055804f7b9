/** What Google says a session used: for each generation, in figures that may grow while it lasts. */
import { isObject } from '../../json.ts';
import type { JsonObject, Usage } from '../../provider.ts';
import { laterUsage, noUsage, summedUsage } from '../../usage.ts';
import { usageOf } from '../usage.ts';

export class UsageCount {
  #current: Usage | null = null;
  #before: Usage | null = null;

  saw(metadata: unknown): void {
    const usage = isObject(metadata) ? usageOf(asGenerated(metadata)) : null;
    if (usage) this.#current = laterUsage(this.#current, usage);
  }

  /** The generation has ended: what is reported from now on comes on top. */
  next(): void {
    if (this.#current) this.#before = summedUsage(this.#before ?? noUsage, this.#current);
    this.#current = null;
  }

  /** Everything since it was last taken; null where nothing was said. */
  take(): Usage | null {
    this.next();
    const taken = this.#before;
    this.#before = null;
    return taken;
  }
}

/** AI Studio calls in a session `response` what it and Vertex AI call `candidates` elsewhere. */
const asGenerated = (metadata: JsonObject): JsonObject => ({
  ...metadata,
  candidatesTokenCount: metadata.candidatesTokenCount ?? metadata.responseTokenCount,
  candidatesTokensDetails: metadata.candidatesTokensDetails ?? metadata.responseTokensDetails,
});

/** As OpenAI reports it with a response. */
export function realtimeUsage(usage: Usage): JsonObject {
  const { inputTokens, outputTokens, inputAudioTokens, outputAudioTokens, cacheReadTokens, reasoningTokens } = usage;
  const images = usage.units.request_image_token ?? 0;
  return {
    total_tokens: inputTokens + outputTokens,
    input_tokens: inputTokens,
    output_tokens: outputTokens,
    input_token_details: {
      text_tokens: Math.max(0, inputTokens - inputAudioTokens - images),
      audio_tokens: inputAudioTokens,
      image_tokens: images,
      cached_tokens: cacheReadTokens,
    },
    output_token_details: {
      text_tokens: Math.max(0, outputTokens - outputAudioTokens),
      audio_tokens: outputAudioTokens,
      ...(reasoningTokens > 0 && { reasoning_tokens: reasoningTokens }),
    },
  };
}
