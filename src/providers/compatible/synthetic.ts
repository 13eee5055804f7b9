/** Synthetic. */
import { openAiCompatible } from '../openai-compatible.ts';
import { chat } from './quirks/chat.ts';
import { limitAsMaxTokens } from './quirks/parameters.ts';

export const synthetic = openAiCompatible({
  id: 'synthetic',
  name: 'Synthetic',
  address: 'https://api.synthetic.new/openai/v1',
  endpoints: { chatComplete: chat({ asks: [limitAsMaxTokens] }) },
});
