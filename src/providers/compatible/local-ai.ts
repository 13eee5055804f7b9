/** LocalAI. */
import { openAiCompatible } from '../openai-compatible.ts';
import { chat } from './quirks/chat.ts';
import { limitAsMaxTokens } from './quirks/parameters.ts';
import { onServer, serverAddress, underVersion } from './quirks/paths.ts';

export const localAi = openAiCompatible({
  id: 'local-ai',
  name: 'LocalAI',
  address: null,
  endpoints: {
    chatComplete: chat({ path: underVersion('/chat/completions'), asks: [limitAsMaxTokens] }),
    ...onServer('complete', 'embed', 'imageGenerate', 'createSpeech', 'createTranscription'),
  },
  fields: serverAddress,
});
