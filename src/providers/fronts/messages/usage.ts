/** Usage in the words of messages: what the prompt cache read and wrote stands beside the input, not within it. */
import type { JsonObject, Usage } from '../../provider.ts';
import { noUsage } from '../../usage.ts';

export function messagesUsage(usage: Usage | null): JsonObject {
  const { inputTokens, outputTokens, cacheReadTokens, cacheWriteTokens, units, reportedCents, ...kinds } =
    usage ?? noUsage;
  const read = counted({ audio_tokens: kinds.inputAudioTokens, image_tokens: units.request_image_token });
  const written = counted({
    thinking_tokens: kinds.reasoningTokens,
    audio_tokens: kinds.outputAudioTokens,
    image_tokens: units.response_image_token,
  });
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
    ...(read && { input_tokens_details: read }),
    ...(written && { output_tokens_details: written }),
    ...(reportedCents !== null && { cost: reportedCents / 100 }),
    ...(units.web_search && { server_tool_use: { web_search_requests: units.web_search } }),
  };
}

/** The kinds of tokens of which there are any; null where there are none. */
function counted(kinds: Record<string, number | undefined>): JsonObject | null {
  const found = Object.entries(kinds).filter(([, tokens]) => tokens);
  return found.length > 0 ? Object.fromEntries(found) : null;
}
