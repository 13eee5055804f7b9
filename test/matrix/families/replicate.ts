/** Replicate: predictions that are waited for, with a text in and a text out. */
import type { Json } from '../../harness.ts';
import { replicateApi } from '../../providers/replicate.ts';
import { json } from '../../providers/simulated.ts';
import { limit, pixel } from '../cells.ts';
import { type MatrixFamily, textAlone } from '../family.ts';

const asking = (prompt: string, more: Json = {}): Json => ({ input: { prompt, max_tokens: limit, ...more } });

export const replicate: MatrixFamily = {
  name: 'Replicate',
  provider: 'replicate',
  model: 'meta/meta-llama-3-70b-instruct',
  speaks: [],
  does: ({ text, fails }) =>
    fails
      ? json(fails.status, { title: 'Too many requests', detail: fails.message, status: fails.status })
      : replicateApi('sk-target-secret', { output: () => (text ?? '').match(/.{1,6}/gsu) }),
  asked: {
    text: asking('Hi'),
    'several turns': asking('User: Hi\n\nAssistant: Hello\n\nUser: Who are you?\n\nAssistant:'),
    system: asking('Hi', { system_prompt: 'Be brief.' }),
    'image in': asking('What is it?', { image: `data:image/png;base64,${pixel}` }),
    ...textAlone.asked,
    reasoning: asking('Why?', { reasoning_effort: 'low' }),
    'stop reason': asking('Go on.', { stop_sequences: 'END' }),
    error: asking('Hi'),
  },
  // What is not streamed is waited for; a stream is fetched where the prediction says.
  streamed: (body) => ({ ...body, stream: true }),
  fetches: ({ method, headers }) => method === 'GET' && headers.authorization === undefined,
  askedBy: { responses: { 'stop reason': asking('Go on.') } },
  ownTurn: null,
  turnIn: () => null,
  // Why a model stopped is not told, nor what it thought.
  tells: (told) => ({ ...told, thought: '', stop: 'done' }),
  usage: { input: 6, cached: 0, output: 4 },
  streamUsage: { input: 0, cached: 0, output: 0 },
  refuses: {
    ...textAlone.refuses,
  },
};
