/** Upstage. */
import { offered, openAiCompatible } from '../openai-compatible.ts';
import { chat } from './quirks/chat.ts';
import { limitAsMaxTokens } from './quirks/parameters.ts';

export const upstage = openAiCompatible({
  id: 'upstage',
  name: 'Upstage',
  address: 'https://api.upstage.ai/v1/solar',
  endpoints: { chatComplete: chat({ asks: [limitAsMaxTokens] }), ...offered('embed') },
  notes: ['Queries and passages are embedded by different models.'],
});
