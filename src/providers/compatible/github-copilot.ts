/** GitHub Copilot. */
import { offered, openAiCompatible } from '../openai-compatible.ts';
import { chat } from './quirks/chat.ts';

export const githubCopilot = openAiCompatible({
  id: 'github-copilot',
  name: 'GitHub Copilot',
  address: 'https://api.githubcopilot.com',
  endpoints: { chatComplete: chat(), ...offered('embed') },
  notes: [
    'The credential is a token of Copilot, which is short-lived; the gateway does not exchange a token of GitHub for it.',
    'The service asks for a header that names the editor: save Editor-Version in custom_headers.',
  ],
});
