/** MonsterAPI. */
import { openAiCompatible } from '../openai-compatible.ts';
import { chat } from './quirks/chat.ts';
import { limitAsMaxTokens, renamed, within } from './quirks/parameters.ts';

export const monsterapi = openAiCompatible({
  id: 'monsterapi',
  name: 'MonsterAPI',
  address: 'https://llm.monsterapi.ai/v1',
  endpoints: {
    chatComplete: chat({
      asks: [
        limitAsMaxTokens,
        renamed('max_tokens', 'max_length'),
        within('max_length', 1, 2_048),
        within('temperature', 0, 1),
        within('top_k', 1, 20),
      ],
    }),
  },
  notes: ['Answers have at most 2,048 tokens; temperatures above 1 are sent as 1.'],
});
