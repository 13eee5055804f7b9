/** GitHub Copilot. */
import type { TokenExchange } from '../authentication.ts';
import { offered, openAiCompatible } from '../openai-compatible.ts';
import { chat } from './quirks/chat.ts';

/** Copilot's own tokens are lists of claims: `tid=...;exp=...`. */
const isOwnToken = (credential: string): boolean => /(?:^|;)tid=/.test(credential);

const exchanged = (token: string): TokenExchange => ({
  kind: 'exchange',
  service: 'GitHub',
  url: 'https://api.github.com/copilot_internal/v2/token',
  method: 'GET',
  // GitHub answers nobody who does not say who asks.
  headers: { authorization: `token ${token}`, 'user-agent': 'gw' },
});

export const githubCopilot = openAiCompatible({
  id: 'github-copilot',
  name: 'GitHub Copilot',
  address: 'https://api.githubcopilot.com',
  authentication: ({ credential }) => (credential === null || isOwnToken(credential) ? null : exchanged(credential)),
  endpoints: { chatComplete: chat(), ...offered('embed') },
  notes: [
    'The credential is a token of GitHub for a user with Copilot, as its device flow gives it; the gateway exchanges it for the short-lived token of Copilot, and renews that. A token of Copilot itself is sent as it is.',
    'The service asks for a header that names the editor: save Editor-Version in custom_headers.',
  ],
});
