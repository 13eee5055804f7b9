/** Ollama, by its OpenAI surface. */
import { answers } from '../../providers/chat-api.ts';
import { json } from '../../providers/simulated.ts';
import { chatHost, chatScript, limitAsMaxTokens, turnWithoutThoughts } from '../chat-host.ts';
import type { MatrixFamily } from '../family.ts';

const host = chatHost({
  name: 'Ollama',
  provider: 'ollama',
  model: 'gpt-oss:20b',
  asks: limitAsMaxTokens,
  fails: (status, message) => json(status, { error: { message, type: 'api_error', param: null, code: null } }),
});

export const ollama: MatrixFamily = {
  ...host,
  // It wants its thoughts back.
  ownTurn: { ...turnWithoutThoughts, reasoning: 'Let me think.' },
  does: (script) => (script.fails ? host.does(script) : answers(chatScript(script, 'reasoning'))),
};
