/** OpenCode Zen. */
import { offered, openAiCompatible } from '../openai-compatible.ts';
import { chat } from './quirks/chat.ts';

export const opencode = openAiCompatible({
  id: 'opencode',
  name: 'OpenCode Zen',
  address: 'https://opencode.ai/zen/v1',
  endpoints: { chatComplete: chat(), ...offered('listModels') },
});
