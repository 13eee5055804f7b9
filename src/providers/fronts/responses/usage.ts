/** Usage in the words of responses. */
import type { JsonObject, Usage } from '../../provider.ts';

export const responsesUsage = (usage: Usage): JsonObject => ({
  input_tokens: usage.inputTokens,
  input_tokens_details: {
    cached_tokens: usage.cacheReadTokens,
    cache_write_tokens: usage.cacheWriteTokens,
    ...(usage.units.cache_write_1h && { cache_write_1h_tokens: usage.units.cache_write_1h }),
    ...(usage.inputAudioTokens > 0 && { audio_tokens: usage.inputAudioTokens }),
    ...(usage.units.request_image_token && { image_tokens: usage.units.request_image_token }),
  },
  output_tokens: usage.outputTokens,
  output_tokens_details: {
    reasoning_tokens: usage.reasoningTokens,
    ...(usage.outputAudioTokens > 0 && { audio_tokens: usage.outputAudioTokens }),
    ...(usage.units.response_image_token && { image_tokens: usage.units.response_image_token }),
  },
  total_tokens: usage.inputTokens + usage.outputTokens,
  ...(usage.reportedCents !== null && { cost: usage.reportedCents / 100 }),
  ...(usage.units.web_search && { server_tool_use: { web_search_requests: usage.units.web_search } }),
});
