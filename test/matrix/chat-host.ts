/** What the families share that speak OpenAI's chat, or nearly, each at a place of its own. */
import type { Json } from '../harness.ts';
import { answers, type ChatScript, failure } from '../providers/chat-api.ts';
import type { ResponseScript } from '../providers/responses-api.ts';
import { type Behaviour, json } from '../providers/simulated.ts';
import { byCell, type CellName, cells, type Script, written } from './cells.ts';
import { type ClientName, chat } from './clients.ts';
import type { MatrixFamily } from './family.ts';

type ChatHost = Pick<MatrixFamily, 'name' | 'provider' | 'model'> &
  Partial<Omit<MatrixFamily, 'name' | 'provider' | 'model'>> & {
    /** What it is asked, given what OpenAI would be. Absent: the same. */
    asks?(body: Json): Json;
    /** Where its chat stands and who may ask, around what it answers there. */
    serves?(chatting: Behaviour): Behaviour;
    /** How it fails. Absent: as OpenAI does. */
    fails?(status: number, message: string): Behaviour;
  };

export const turnWithoutThoughts = {
  role: 'assistant',
  content: 'I look.',
  tool_calls: [{ id: 'callRome1', type: 'function', function: { name: 'weather', arguments: '{"city":"Rome"}' } }],
};

export function chatHost({ asks, serves = (chatting) => chatting, fails, ...family }: ChatHost): MatrixFamily {
  const asked = (name: CellName): Json => {
    const body = chat.body(cells[name].question, family.model);
    return asks ? asks(body) : body;
  };
  const { stop: _, ...withoutStop } = asked('stop reason');
  return {
    speaks: asks ? [] : ['chat'],
    nearlySpeaks: ['chat'],
    does: (script) =>
      script.fails
        ? (fails ?? openAiFails)(script.fails.status, script.fails.message)
        : serves(answers(chatScript(script))),
    asked: byCell(asked),
    askedBy: { responses: { 'stop reason': withoutStop } },
    streamed: (body) => ({ ...body, ...chat.streamed }),
    // Its thoughts are for the reader alone.
    ownTurn: turnWithoutThoughts,
    turnIn: ({ messages }) => messages[1],
    usage: { input: 25, cached: 10, output: 15 },
    ...family,
  };
}

/** What a host in OpenAI's dialect is asked for a stream by a client of any; responses have no stop. */
export function streamedChat(model: string, cell: CellName, client: ClientName): Json {
  const { stop, ...body } = { ...chat.body(cells[cell].question, model), ...chat.streamed };
  return { ...body, ...(stop && client !== 'responses' && { stop }) };
}

const openAiFails = (status: number, message: string): Behaviour => failure(status, message, 'requests');

export function chatScript(
  { text, thought, calls, stop }: Script,
  thoughts: 'reasoning' | 'reasoning_content' = 'reasoning_content',
): ChatScript {
  return {
    ...(text !== undefined && { content: text }),
    ...(thought && { [thoughts]: thought }),
    ...(calls && { tool_calls: written(calls) }),
    ...(stop === 'length' && { finish_reason: 'length' }),
  };
}

export const responseScript = ({ text, thought, calls, stop }: Script): ResponseScript => ({
  ...(text !== undefined && { text }),
  ...(thought && { thought }),
  ...(calls && { calls: written(calls) }),
  cutShort: stop === 'length',
});

/** The chat of OpenAI's API at another path, for whoever shows this in a header. */
export const standsAt =
  (path: string, header: string, value: string) =>
  (chatting: Behaviour): Behaviour =>
  (call, response) => {
    if (call.path !== path) return json(404, { error: { message: `Nothing at ${call.path}` } })(call, response);
    if (call.headers[header] !== value) return json(401, { error: { message: 'Access denied' } })(call, response);
    return chatting(asOpenAi(call), response);
  };

/** A call that has passed its own door, as OpenAI's would get it. */
export const asOpenAi = (call: Parameters<Behaviour>[0], body: Json = call.json): Parameters<Behaviour>[0] => ({
  ...call,
  path: '/v1/chat/completions',
  headers: { ...call.headers, authorization: 'Bearer sk-known' },
  json: body,
});

/** For hosts that know the limit by its older name only. */
export const limitAsMaxTokens = ({ max_completion_tokens: max_tokens, ...body }: Json): Json => ({
  ...body,
  max_tokens,
});
