/** Hosts of OpenAI's chat completions. */
import { answers, failure } from '../../providers/chat-api.ts';
import { type CellName, cellNames, cells } from '../cells.ts';
import { chat } from '../clients.ts';
import type { MatrixFamily } from '../family.ts';

const model = 'gpt-oss-120b';
const asked = (name: CellName) => chat.body(cells[name].question, model);
const { stop: _, ...withoutStop } = asked('stop reason');

export const openAiCompatible: MatrixFamily = {
  name: 'OpenAI-compatible',
  provider: 'cerebras',
  model,
  speaks: ['chat'],
  does: ({ text, thought, calls, stop, fails }) =>
    fails
      ? failure(fails.status, fails.message, 'requests')
      : answers({
          ...(text !== undefined && { content: text }),
          ...(thought && { reasoning: thought }),
          ...(calls && {
            tool_calls: calls.map(({ id, name, args }) => ({ id, name, arguments: JSON.stringify(args) })),
          }),
          ...(stop === 'length' && { finish_reason: 'length' }),
        }),
  // Chat is what it speaks: whoever asks, it must be asked as its own clients ask.
  asked: Object.fromEntries(cellNames.map((name) => [name, asked(name)])) as MatrixFamily['asked'],
  askedBy: { responses: { 'stop reason': withoutStop } },
  streamed: (body) => ({ ...body, ...chat.streamed }),
  // Its thoughts are for the reader alone.
  ownTurn: {
    role: 'assistant',
    content: 'I look.',
    tool_calls: [{ id: 'callRome1', type: 'function', function: { name: 'weather', arguments: '{"city":"Rome"}' } }],
  },
  turnIn: ({ messages }) => messages[1],
  usage: { input: 25, cached: 10, output: 15 },
};
