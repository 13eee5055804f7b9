/** Novita AI. */
import { offered, openAiCompatible } from '../openai-compatible.ts';
import { chat } from './quirks/chat.ts';
import { limitAsMaxTokens } from './quirks/parameters.ts';

export const novitaAi = openAiCompatible({
  id: 'novita-ai',
  name: 'Novita AI',
  aliases: ['novita'],
  address: 'https://api.novita.ai/v3/openai',
  endpoints: { chatComplete: chat({ asks: [limitAsMaxTokens] }), ...offered('complete') },
});
