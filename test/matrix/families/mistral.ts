/** Mistral's chat completions. */
import type { Json } from '../../harness.ts';
import { mistral as api } from '../../providers/mistral.ts';
import { json } from '../../providers/simulated.ts';
import { byCell, type CellName, cells, written } from '../cells.ts';
import { limitAsMaxTokens } from '../chat-host.ts';
import { chat } from '../clients.ts';
import type { MatrixFamily } from '../family.ts';

const model = 'magistral-small-latest';

/** As OpenAI's, under the one name that it has for the limit. */
const asked = (name: CellName): Json => limitAsMaxTokens(chat.body(cells[name].question, model));
const { stop: _, ...withoutStop } = asked('stop reason');

export const mistral: MatrixFamily = {
  name: 'Mistral',
  provider: 'mistral-ai',
  model,
  speaks: [],
  nearlySpeaks: ['chat'],
  does: ({ text, thought, calls, stop, fails }) =>
    fails
      ? json(fails.status, { object: 'error', message: fails.message, type: 'rate_limited', param: null, code: '1300' })
      : api({
          ...(text !== undefined && { text }),
          ...(thought && { thought }),
          ...(calls && { calls: written(calls) }),
          ...(stop === 'length' && { finish: 'model_length' }),
        }),
  asked: byCell(asked),
  askedBy: { responses: { 'stop reason': withoutStop } },
  // It tells what was used without being asked.
  streamed: (body) => ({ ...body, stream: true }),
  ownTurn: {
    role: 'assistant',
    content: 'I look.',
    tool_calls: [{ id: 'callRome1', type: 'function', function: { name: 'weather', arguments: '{"city":"Rome"}' } }],
  },
  turnIn: ({ messages }) => messages[1],
  usage: { input: 12, cached: 0, output: 5 },
};
