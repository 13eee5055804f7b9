/** Usage in the words of messages: what the prompt cache read and wrote stands beside the input, not within it. */
import type { JsonObject, Usage } from '../../provider.ts';
import { noUsage } from '../../usage.ts';

export function messagesUsage(usage: Usage | null): JsonObject {
  const { inputTokens, outputTokens, cacheReadTokens, cacheWriteTokens, reasoningTokens, units } = usage ?? noUsage;
  const longLived = units.cache_write_1h ?? 0;
  return {
    input_tokens: Math.max(0, inputTokens - cacheReadTokens - cacheWriteTokens),
    cache_creation_input_tokens: cacheWriteTokens,
    cache_read_input_tokens: cacheReadTokens,
    output_tokens: outputTokens,
    ...(longLived > 0 && {
      cache_creation: {
        ephemeral_5m_input_tokens: cacheWriteTokens - longLived,
        ephemeral_1h_input_tokens: longLived,
      },
    }),
    ...(reasoningTokens > 0 && { output_tokens_details: { thinking_tokens: reasoningTokens } }),
    ...(units.web_search && { server_tool_use: { web_search_requests: units.web_search } }),
  };
}
