/** Cohere's chat. */
import type { Json } from '../../harness.ts';
import { cohereApi, refused } from '../../providers/cohere.ts';
import { type Called, limit, pixel, place, weather, written } from '../cells.ts';
import type { MatrixFamily } from '../family.ts';

const model = 'command-a-03-2025';
const base = { model, max_tokens: limit };
const user = (content: Json): Json => ({ role: 'user', content });
const { name, description, schema: parameters } = weather;
const tools = [{ type: 'function', function: { name, description, parameters } }];
const call = ({ id, name, args }: Called): Json => ({
  id,
  type: 'function',
  function: { name, arguments: JSON.stringify(args) },
});
const rome = call({ id: 'callRome1', name, args: { city: 'Rome' } });
const paris = call({ id: 'callPari2', name, args: { city: 'Paris' } });
const ask = user('How is the weather?');
const goOn = { ...base, messages: [user('Go on.')] };

export const cohere: MatrixFamily = {
  name: 'Cohere',
  provider: 'cohere',
  model,
  address: (url) => new URL(url).origin,
  speaks: [],
  does: ({ text, thought, calls, stop, fails }) =>
    fails
      ? refused(fails.status, fails.message)
      : cohereApi('sk-target-secret', () => ({
          ...(text !== undefined && { text }),
          ...(thought && { thinking: thought }),
          ...(calls && { calls: written(calls) }),
          ...(stop === 'length' && { finish: 'MAX_TOKENS' }),
        })),
  asked: {
    text: { ...base, messages: [user('Hi')] },
    'several turns': { ...base, messages: [user('Hi'), { role: 'assistant', content: 'Hello' }, user('Who are you?')] },
    system: { ...base, messages: [{ role: 'system', content: 'Be brief.' }, user('Hi')] },
    'image in': {
      ...base,
      messages: [
        user([
          { type: 'text', text: 'What is it?' },
          { type: 'image_url', image_url: { url: `data:image/png;base64,${pixel}` } },
        ]),
      ],
    },
    'tool call': { ...base, messages: [ask], tools },
    'parallel tools': { ...base, messages: [ask], tools },
    'tool result turn': {
      ...base,
      messages: [
        ask,
        { role: 'assistant', content: 'I look.', tool_calls: [rome, paris] },
        { role: 'tool', tool_call_id: 'callRome1', content: 'Sunny' },
        { role: 'tool', tool_call_id: 'callPari2', content: 'Rainy' },
      ],
      tools,
    },
    'structured output': {
      ...base,
      messages: [user('Where?')],
      response_format: { type: 'json_object', json_schema: place },
    },
    reasoning: { ...base, messages: [user('Why?')], thinking: { type: 'enabled', token_budget: 1_024 } },
    'stop reason': { ...goOn, stop_sequences: ['END'] },
    error: { ...base, messages: [user('Hi')] },
  },
  askedBy: { responses: { 'stop reason': goOn } },
  streamed: (body) => ({ ...body, stream: true }),
  // What it thought before a call is its plan.
  ownTurn: { role: 'assistant', content: 'I look.', tool_plan: 'Let me think.', tool_calls: [rome] },
  turnIn: ({ messages }) => messages[1],
  usage: { input: 71, cached: 16, output: 22 },
};
