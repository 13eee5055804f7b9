/** Ollama's own chat, which a client chooses by a field that only it knows: lines of JSON, and calls without ids. */
import type { Json } from '../../harness.ts';
import { type Behaviour, bytes, json } from '../../providers/simulated.ts';
import { type Called, limit, pixel, place, type Script, weather, withAnyIds } from '../cells.ts';
import type { MatrixFamily } from '../family.ts';

const model = 'gpt-oss:20b';
const chosenBy = { keep_alive: '5m' };
const base = { model, stream: false, options: { num_predict: limit }, ...chosenBy };
const user = (content: string): Json => ({ role: 'user', content });
const { name, description, schema: parameters } = weather;
const tools = [{ type: 'function', function: { name, description, parameters } }];
const call = ({ name, args }: Pick<Called, 'name' | 'args'>): Json => ({ function: { name, arguments: args } });
const rome = call({ name, args: { city: 'Rome' } });
const paris = call({ name, args: { city: 'Paris' } });
const ask = user('How is the weather?');
const goOn = { ...base, messages: [user('Go on.')] };

const head = { model, created_at: '2026-01-02T03:04:05.678Z' };
const counts = { total_duration: 5, prompt_eval_count: 12, eval_count: 5 };
const piecesOf = (text: string): string[] => text.match(/.{1,6}/gsu) ?? [];

function linesOf({ text = '', thought = '', calls = [], stop }: Script): Json[] {
  const piece = (said: Json): Json => ({ ...head, message: { role: 'assistant', content: '', ...said }, done: false });
  return [
    ...piecesOf(thought).map((thinking) => piece({ thinking })),
    ...piecesOf(text).map((content) => piece({ content })),
    ...calls.map((called) => piece({ tool_calls: [call(called)] })),
    { ...piece({}), done: true, done_reason: stop === 'length' ? 'length' : 'stop', ...counts },
  ];
}

const whole = ({ text = '', thought, calls, stop }: Script): Json => ({
  ...head,
  message: {
    role: 'assistant',
    content: text,
    ...(thought && { thinking: thought }),
    ...(calls && { tool_calls: calls.map(call) }),
  },
  done: true,
  done_reason: stop === 'length' ? 'length' : 'stop',
  ...counts,
});

const answers =
  (script: Script): Behaviour =>
  (call, response) => {
    if (call.path !== '/api/chat') return json(404, { error: `nothing at ${call.path}` })(call, response);
    const lines = linesOf(script).map((line) => `${JSON.stringify(line)}\n`);
    return (
      call.json.stream
        ? bytes(200, lines.join(''), { 'content-type': 'application/x-ndjson' })
        : json(200, whole(script))
    )(call, response);
  };

export const ollamaNative: MatrixFamily = {
  name: 'Ollama, natively',
  provider: 'ollama',
  model,
  chosenBy,
  speaks: [],
  does: (script) => (script.fails ? json(script.fails.status, { error: script.fails.message }) : answers(script)),
  asked: {
    text: { ...base, messages: [user('Hi')] },
    'several turns': { ...base, messages: [user('Hi'), { role: 'assistant', content: 'Hello' }, user('Who are you?')] },
    system: { ...base, messages: [{ role: 'system', content: 'Be brief.' }, user('Hi')] },
    'image in': { ...base, messages: [{ ...user('What is it?'), images: [pixel] }] },
    'tool call': { ...base, messages: [ask], tools },
    'parallel tools': { ...base, messages: [ask], tools },
    'tool result turn': {
      ...base,
      messages: [
        ask,
        { role: 'assistant', content: 'I look.', tool_calls: [rome, paris] },
        { role: 'tool', content: 'Sunny', tool_name: 'weather' },
        { role: 'tool', content: 'Rainy', tool_name: 'weather' },
      ],
      tools,
    },
    'structured output': { ...base, messages: [user('Where?')], format: place },
    reasoning: { ...base, messages: [user('Why?')], think: 'low' },
    'stop reason': { ...goOn, options: { num_predict: limit, stop: ['END'] } },
    error: { ...base, messages: [user('Hi')] },
  },
  askedBy: { responses: { 'stop reason': goOn } },
  streamed: (body) => ({ ...body, stream: true }),
  ownTurn: { role: 'assistant', content: 'I look.', thinking: 'Let me think.', tool_calls: [rome] },
  turnIn: ({ messages }) => messages[1],
  tells: withAnyIds,
  usage: { input: 12, cached: 0, output: 5 },
};
