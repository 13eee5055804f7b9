/** Hosts of OpenAI's chat completions. */
import { answers } from '../../providers/chat-api.ts';
import { chatHost, chatScript, turnWithoutThoughts } from '../chat-host.ts';
import type { MatrixFamily } from '../family.ts';

const host = chatHost({ name: 'OpenAI-compatible', provider: 'cerebras', model: 'gpt-oss-120b' });

export const openAiCompatible: MatrixFamily = {
  ...host,
  // It wants its thoughts back.
  ownTurn: { ...turnWithoutThoughts, reasoning: 'Let me think.' },
  does: (script) => (script.fails ? host.does(script) : answers(chatScript(script, 'reasoning'))),
};
