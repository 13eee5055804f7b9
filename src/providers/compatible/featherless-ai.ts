/** Featherless. */
import { offered, openAiCompatible } from '../openai-compatible.ts';
import { chat } from './quirks/chat.ts';
import { limitAsMaxTokens } from './quirks/parameters.ts';

export const featherlessAi = openAiCompatible({
  id: 'featherless-ai',
  name: 'Featherless',
  address: 'https://api.featherless.ai/v1',
  endpoints: { chatComplete: chat({ asks: [limitAsMaxTokens] }), ...offered('complete') },
});
