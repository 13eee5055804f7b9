/** MiniMax. */
import { openAiCompatible } from '../openai-compatible.ts';
import { minimaxFault, minimaxSpeech } from './minimax-speech.ts';
import { failures } from './quirks/answers.ts';
import { chat } from './quirks/chat.ts';
import { messagesAt } from './quirks/messages-endpoint.ts';
import { elsewhere } from './quirks/paths.ts';

const home = 'https://api.minimax.io/v1';

export const minimax = openAiCompatible({
  id: 'minimax',
  name: 'MiniMax',
  address: home,
  endpoints: {
    chatComplete: chat({ answers: [failures(minimaxFault)] }),
    messages: messagesAt(elsewhere(home, () => 'https://api.minimax.io/anthropic/v1/messages')),
    createSpeech: { path: '/t2a_v2', translation: minimaxSpeech },
  },
  notes: [
    'In China, save https://api.minimaxi.com/v1 as custom_host.',
    'For speech, voice is the id of a voice of MiniMax; voice_setting and audio_setting may be given as well.',
  ],
});
