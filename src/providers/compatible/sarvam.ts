/** Sarvam AI. */
import { offered, openAiCompatible } from '../openai-compatible.ts';
import { chat } from './quirks/chat.ts';
import { limitAsMaxTokens } from './quirks/parameters.ts';
import { elsewhere } from './quirks/paths.ts';
import { sarvamSpeech, sarvamTranscription } from './sarvam-audio.ts';

const home = 'https://api.sarvam.ai/v1';

export const sarvam = openAiCompatible({
  id: 'sarvam',
  name: 'Sarvam AI',
  address: home,
  credentialHeader: 'api-subscription-key',
  endpoints: {
    chatComplete: chat({ asks: [limitAsMaxTokens] }),
    ...offered('listModels'),
    createSpeech: {
      path: elsewhere(home, () => 'https://api.sarvam.ai/text-to-speech'),
      translation: sarvamSpeech,
    },
    createTranscription: {
      path: elsewhere(home, () => 'https://api.sarvam.ai/speech-to-text'),
      translation: sarvamTranscription,
    },
  },
  notes: ['Speech needs target_language_code, such as hi-IN; transcripts come as text or JSON.'],
});
