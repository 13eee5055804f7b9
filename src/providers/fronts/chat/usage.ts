/** Usage in the words of chat completions. */
import type { JsonObject, Usage } from '../../provider.ts';

export function chatUsage(usage: Usage): JsonObject {
  const { inputTokens, outputTokens, cacheReadTokens, cacheWriteTokens, units } = usage;
  const longLived = units.cache_write_1h ?? 0;
  return {
    prompt_tokens: inputTokens,
    completion_tokens: outputTokens,
    total_tokens: inputTokens + outputTokens,
    prompt_tokens_details: {
      cached_tokens: cacheReadTokens,
      ...(cacheWriteTokens > 0 && { cache_creation_tokens: cacheWriteTokens }),
      ...(longLived > 0 && { cache_creation_1h_tokens: longLived }),
      ...(usage.inputAudioTokens > 0 && { audio_tokens: usage.inputAudioTokens }),
      ...(units.request_image_token && { image_tokens: units.request_image_token }),
    },
    completion_tokens_details: {
      reasoning_tokens: usage.reasoningTokens,
      ...(usage.outputAudioTokens > 0 && { audio_tokens: usage.outputAudioTokens }),
      ...(units.response_image_token && { image_tokens: units.response_image_token }),
    },
    ...((cacheReadTokens > 0 || cacheWriteTokens > 0) && {
      cache_read_input_tokens: cacheReadTokens,
      cache_creation_input_tokens: cacheWriteTokens,
    }),
    ...(usage.reportedCents !== null && { cost: usage.reportedCents / 100 }),
    ...(units.web_search && { server_tool_use: { web_search_requests: units.web_search } }),
  };
}
