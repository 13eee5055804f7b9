/** CometAPI. */
import { offered, openAiCompatible } from '../openai-compatible.ts';
import { chat } from './quirks/chat.ts';

export const cometapi = openAiCompatible({
  id: 'cometapi',
  name: 'CometAPI',
  address: 'https://api.cometapi.com/v1',
  endpoints: { chatComplete: chat(), ...offered('embed') },
});
