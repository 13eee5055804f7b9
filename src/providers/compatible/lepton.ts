/** Lepton AI. */
import { offered, openAiCompatible } from '../openai-compatible.ts';
import { chat } from './quirks/chat.ts';
import { limitAsMaxTokens } from './quirks/parameters.ts';

export const lepton = openAiCompatible({
  id: 'lepton',
  name: 'Lepton AI',
  address: 'https://api.lepton.ai/api/v1',
  endpoints: { chatComplete: chat({ asks: [limitAsMaxTokens] }), ...offered('complete', 'createTranscription') },
  notes: ['A deployment of your own has its own address: save it as custom_host.'],
});
