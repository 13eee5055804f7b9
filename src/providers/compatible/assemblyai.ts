/** AssemblyAI LLM gateway. */
import { openAiCompatible } from '../openai-compatible.ts';
import { chat } from './quirks/chat.ts';

export const assemblyai = openAiCompatible({
  id: 'assemblyai',
  name: 'AssemblyAI LLM gateway',
  address: 'https://llm-gateway.assemblyai.com/v1',
  endpoints: { chatComplete: chat() },
});
