/** Vercel AI Gateway. */
import { offered, openAiCompatible } from '../openai-compatible.ts';
import { thoughtsUnderBothNames } from './quirks/answers.ts';
import { chat } from './quirks/chat.ts';

export const vercelAiGateway = openAiCompatible({
  id: 'vercel-ai-gateway',
  name: 'Vercel AI Gateway',
  address: 'https://ai-gateway.vercel.sh/v1',
  endpoints: { chatComplete: chat({ answers: [thoughtsUnderBothNames] }), ...offered('embed') },
  notes: ['Models are named by provider and model, such as openai/gpt-4o; providerOptions travel as they are.'],
});
