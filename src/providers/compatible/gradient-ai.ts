/** DigitalOcean Gradient. */
import { openAiCompatible } from '../openai-compatible.ts';
import { chat } from './quirks/chat.ts';

export const gradientAi = openAiCompatible({
  id: 'gradient-ai',
  name: 'DigitalOcean Gradient',
  address: 'https://inference.do-ai.run/v1',
  endpoints: { chatComplete: chat() },
});
