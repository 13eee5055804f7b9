/** Clarifai. */
import { openAiCompatible } from '../openai-compatible.ts';
import { chat } from './quirks/chat.ts';

export const clarifai = openAiCompatible({
  id: 'clarifai',
  name: 'Clarifai',
  address: 'https://api.clarifai.com/v2/ext/openai/v1',
  endpoints: { chatComplete: chat() },
});
