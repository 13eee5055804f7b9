/** Xiaomi MiMo. */
import { openAiCompatible } from '../openai-compatible.ts';
import { chat } from './quirks/chat.ts';
import { limitAsMaxTokens } from './quirks/parameters.ts';

export const xiaomiMimo = openAiCompatible({
  id: 'xiaomi-mimo',
  name: 'Xiaomi MiMo',
  address: 'https://api.xiaomimimo.com/v1',
  endpoints: { chatComplete: chat({ asks: [limitAsMaxTokens] }) },
});
