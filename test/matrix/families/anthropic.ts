/** Anthropic's messages. */
import type { Json } from '../../harness.ts';
import { failure } from '../../providers/anthropic.ts';
import { answers } from '../../providers/anthropic-api.ts';
import { type Called, cellNames, cells } from '../cells.ts';
import { messages } from '../clients.ts';
import type { MatrixFamily } from '../family.ts';

const model = 'claude-sonnet-4-6';
const asked = Object.fromEntries(
  cellNames.map((name) => [name, messages.body(cells[name].question, model)]),
) as MatrixFamily['asked'];
const { stop_sequences: _, ...withoutStop } = asked['stop reason'];
const use = ({ id, name, args }: Called): Json => ({ type: 'tool_use', id, name, input: args });
export const anthropic: MatrixFamily = {
  name: 'Anthropic',
  provider: 'anthropic',
  model,
  speaks: ['messages'],
  does: ({ text, thought, calls = [], stop, fails }) =>
    fails
      ? failure(fails.status, 'rate_limit_error', fails.message)
      : answers({
          content: [
            ...(thought ? [{ type: 'thinking', thinking: thought, signature: 'sig' }] : []),
            ...(text === undefined ? [] : [{ type: 'text', text }]),
            ...calls.map(use),
          ],
          stop_reason: calls.length > 0 ? 'tool_use' : stop === 'length' ? 'max_tokens' : 'end_turn',
          usage: { cache_read_input_tokens: 10 },
        }),
  // Messages are what it speaks: whoever asks, it must be asked as its own clients ask, with what they may leave to it spelled out.
  asked: {
    ...asked,
    system: { ...asked.system, system: [{ type: 'text', text: 'Be brief.' }] },
    reasoning: { ...asked.reasoning, thinking: { type: 'adaptive' } },
  },
  askedBy: { responses: { 'stop reason': withoutStop } },
  streamed: (body) => ({ ...body, stream: true }),
  ownTurn: {
    role: 'assistant',
    content: [
      { type: 'thinking', thinking: 'Let me think.', signature: 'sig' },
      { type: 'text', text: 'I look.' },
      { type: 'tool_use', id: 'callRome1', name: 'weather', input: { city: 'Rome' } },
    ],
  },
  turnIn: (body) => body.messages[1],
  usage: { input: 35, cached: 10, output: 15 },
};
