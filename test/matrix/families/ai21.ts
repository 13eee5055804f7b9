/** AI21's Jamba. */
import { json } from '../../providers/simulated.ts';
import { chatHost, limitAsMaxTokens } from '../chat-host.ts';
import type { MatrixFamily } from '../family.ts';

export const ai21: MatrixFamily = chatHost({
  name: 'AI21',
  provider: 'ai21',
  model: 'jamba-large',
  asks: limitAsMaxTokens,
  fails: (status, message) => json(status, { detail: message }),
  refuses: { 'image in': 'messages', 'structured output': 'response_format', reasoning: 'reasoning_effort' },
});
