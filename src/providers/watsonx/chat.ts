/** Chat on watsonx.ai: nearly OpenAI's, with the model and the choice of a tool under other names. */
import { openAiFamily } from '../openai/family.ts';
import type { CallFacts, JsonObject, ProviderEndpoint } from '../provider.ts';
import { payer, textPath } from './project.ts';

const path = textPath('chat');
const streamPath = textPath('chat_stream');

/** Whether to stream is told by the address. */
function adjust(body: Readonly<JsonObject>, facts: CallFacts): JsonObject {
  const { model: _, stream: __, stream_options: ___, max_completion_tokens, tool_choice, ...rest } = body;
  return {
    ...rest,
    ...(max_completion_tokens !== undefined && { max_tokens: max_completion_tokens }),
    ...(tool_choice !== undefined && {
      [typeof tool_choice === 'string' ? 'tool_choice_option' : 'tool_choice']: tool_choice,
    }),
    ...payer(facts),
  };
}

export const chat: ProviderEndpoint = {
  path: (facts) => (facts.stream ? streamPath(facts) : path(facts)),
  chat: openAiFamily,
  adjust,
};
