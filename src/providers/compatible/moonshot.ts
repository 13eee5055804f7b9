/** Moonshot AI. */
import { openAiCompatible } from '../openai-compatible.ts';
import { chat } from './quirks/chat.ts';
import { textAsString } from './quirks/messages.ts';
import { limitAsMaxTokens, within } from './quirks/parameters.ts';
import { noRequiredTool } from './quirks/tools.ts';

export const moonshot = openAiCompatible({
  id: 'moonshot',
  name: 'Moonshot AI',
  takesStreamOptions: true,
  address: 'https://api.moonshot.cn/v1',
  endpoints: {
    chatComplete: chat({
      takes: { thoughts: 'reasoning_content' },
      asks: [limitAsMaxTokens, textAsString, noRequiredTool, within('temperature', 0, 1)],
    }),
  },
  notes: [
    'Outside of China, save https://api.moonshot.ai/v1 as custom_host.',
    'Models cannot be made to call a tool: tool_choice required is refused. Temperatures above 1 are sent as 1.',
  ],
});
