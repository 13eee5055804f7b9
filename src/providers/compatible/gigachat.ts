/** GigaChat. */
import { offered, openAiCompatible } from '../openai-compatible.ts';
import { functionAsCall, toolsAsFunctions } from './gigachat-functions.ts';
import { chat } from './quirks/chat.ts';
import { limitAsMaxTokens } from './quirks/parameters.ts';

export const gigachat = openAiCompatible({
  id: 'gigachat',
  name: 'GigaChat',
  address: 'https://gigachat.devices.sberbank.ru/api/v1',
  endpoints: {
    chatComplete: chat({ asks: [limitAsMaxTokens, toolsAsFunctions], answers: [functionAsCall] }),
    ...offered('embed'),
  },
  notes: [
    'The credential is an access token, which is short-lived; the gateway does not ask for one itself.',
    'Tools are sent as functions, one call at a time: several calls in one turn are refused.',
  ],
});
