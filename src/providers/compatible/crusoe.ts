/** Crusoe. */
import { openAiCompatible } from '../openai-compatible.ts';
import { chat } from './quirks/chat.ts';
import { thoughtsAsReasoning } from './quirks/messages.ts';
import { limitAsMaxTokens } from './quirks/parameters.ts';

export const crusoe = openAiCompatible({
  id: 'crusoe',
  name: 'Crusoe',
  takesStreamOptions: true,
  address: 'https://managed-inference-api-proxy.crusoecloud.com/v1',
  endpoints: {
    chatComplete: chat({ takes: { thoughts: 'reasoning' }, asks: [limitAsMaxTokens, thoughtsAsReasoning] }),
  },
});
