/** LM Studio. */
import { openAiCompatible } from '../openai-compatible.ts';
import { thoughtsUnderBothNames } from './quirks/answers.ts';
import { chat } from './quirks/chat.ts';
import { limitAsMaxTokens } from './quirks/parameters.ts';
import { onServer, serverAddress, underVersion } from './quirks/paths.ts';

export const lmStudio = openAiCompatible({
  id: 'lm-studio',
  name: 'LM Studio',
  takesStreamOptions: true,
  address: null,
  endpoints: {
    chatComplete: chat({
      path: underVersion('/chat/completions'),
      asks: [limitAsMaxTokens],
      answers: [thoughtsUnderBothNames],
    }),
    ...onServer('complete', 'embed', 'listModels'),
  },
  fields: serverAddress,
});
