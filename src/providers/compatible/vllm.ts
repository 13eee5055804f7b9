/** vLLM. */
import { openAiCompatible } from '../openai-compatible.ts';
import { thoughtsUnderBothNames, wholeCalls } from './quirks/answers.ts';
import { chat } from './quirks/chat.ts';
import { messagesAt } from './quirks/messages-endpoint.ts';
import { limitAsMaxTokens } from './quirks/parameters.ts';
import { onServer, serverAddress, underVersion } from './quirks/paths.ts';

export const vllm = openAiCompatible({
  id: 'vllm',
  name: 'vLLM',
  takesStreamOptions: true,
  aliases: ['hosted-vllm'],
  address: null,
  endpoints: {
    chatComplete: chat({
      path: underVersion('/chat/completions'),
      asks: [limitAsMaxTokens],
      answers: [thoughtsUnderBothNames, wholeCalls],
    }),
    ...onServer('complete', 'embed', 'rerank', 'createTranscription', 'listModels', 'createModelResponse'),
    messages: messagesAt(underVersion('/messages')),
    messagesCountTokens: messagesAt(underVersion('/messages/count_tokens')),
  },
  fields: serverAddress,
  notes: ['top_k, min_p, guided_json, chat_template_kwargs and other fields of its own travel as they are.'],
});
