/** SGLang. */
import { openAiCompatible } from '../openai-compatible.ts';
import { chat } from './quirks/chat.ts';
import { messagesAt } from './quirks/messages-endpoint.ts';
import { limitAsMaxTokens } from './quirks/parameters.ts';
import { onServer, serverAddress, underVersion } from './quirks/paths.ts';

export const sgl = openAiCompatible({
  id: 'sgl',
  name: 'SGLang',
  takesStreamOptions: true,
  aliases: ['sglang'],
  address: null,
  endpoints: {
    chatComplete: chat({ path: underVersion('/chat/completions'), asks: [limitAsMaxTokens] }),
    ...onServer('complete', 'embed', 'listModels'),
    messages: messagesAt(underVersion('/messages')),
    messagesCountTokens: messagesAt(underVersion('/messages/count_tokens')),
  },
  fields: serverAddress,
});
