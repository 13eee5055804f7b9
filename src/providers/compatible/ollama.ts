/** Ollama. */
import { ollamaFamily } from '../ollama/family.ts';
import { nativeFields } from '../ollama/request.ts';
import { openAiCompatible } from '../openai-compatible.ts';
import type { OfferedEndpoint, ProviderEndpoint } from '../provider.ts';
import { thoughtsUnderBothNames } from './quirks/answers.ts';
import { chat } from './quirks/chat.ts';
import { thoughtsAsReasoning } from './quirks/messages.ts';
import { limitAsMaxTokens } from './quirks/parameters.ts';
import { onServer, serverAddress, underVersion } from './quirks/paths.ts';

const openAiSurface = chat({
  path: underVersion('/chat/completions'),
  takes: { thoughts: 'reasoning' },
  asks: [limitAsMaxTokens, thoughtsAsReasoning],
  answers: [thoughtsUnderBothNames],
});

/** Stands at the root of the server, beside the version of the other surface. */
const native: ProviderEndpoint = {
  path: (_, base) => `${base.replace(/\/v1$/, '')}/api/chat`,
  chat: ollamaFamily,
  framing: 'lines',
};

const chatting: OfferedEndpoint = (facts) =>
  nativeFields.some((name) => name in facts.body) ? native : openAiSurface(facts);

export const ollama = openAiCompatible({
  id: 'ollama',
  name: 'Ollama',
  takesStreamOptions: true,
  address: null,
  endpoints: { chatComplete: chatting, ...onServer('complete', 'embed', 'listModels') },
  fields: serverAddress,
  notes: [
    'A call with think, keep_alive, options or format is made to Ollama’s own API, any other to its OpenAI surface.',
    'tool_choice has no effect, except none.',
  ],
});
