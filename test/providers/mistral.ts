/** Mistral's API: what it refuses, and what it answers, whole and as a stream. */
import type { Json } from '../harness.ts';
import { type Behaviour, json, stream } from './simulated.ts';

const created = 1_760_000_000;

const known = new Set(
  `model messages temperature top_p max_tokens stream stop random_seed response_format tools tool_choice
  presence_penalty frequency_penalty n prediction parallel_tool_calls safe_prompt metadata prompt_mode
  reasoning_effort prompt suffix min_tokens`.split(/\s+/),
);

const nine = /^[a-zA-Z0-9]{9}$/;

type Refusal = [status: number, body: object];

const forbidden = (loc: (string | number)[], input: unknown): Refusal => [
  422,
  {
    object: 'error',
    message: {
      detail: [{ type: 'extra_forbidden', loc: ['body', ...loc], msg: 'Extra inputs are not permitted', input }],
    },
    type: 'invalid_request_error',
    param: null,
    code: null,
  },
];

const invalid = (message: string, type: string, code: string): Refusal => [
  400,
  { object: 'error', message, type, param: null, code },
];

function refusalOf(body: Json): Refusal | null {
  for (const name of Object.keys(body)) if (!known.has(name)) return forbidden([name], body[name]);
  if (!['auto', 'none', 'any', undefined].includes(body.tool_choice) && typeof body.tool_choice !== 'object') {
    return invalid(`Invalid tool_choice: ${body.tool_choice}`, 'invalid_request_error', '3000');
  }
  for (const [index, message] of (body.messages ?? []).entries()) {
    if (!['system', 'user', 'assistant', 'tool'].includes(message.role)) {
      return invalid(`Unexpected role ${message.role}`, 'invalid_request_message_order', '3230');
    }
    if (message.role !== 'tool' && 'name' in message)
      return forbidden(['messages', index, message.role, 'name'], message.name);
    const ids = [...(message.tool_calls ?? []).map((call: Json) => call.id), message.tool_call_id ?? []].flat();
    const wrong = ids.find((id) => !nine.test(id));
    if (wrong) {
      return invalid(
        `Tool call id was ${wrong} but must be a-z, A-Z, 0-9, with a length of 9.`,
        'invalid_function_call',
        '3280',
      );
    }
  }
  for (const tool of body.tools ?? []) {
    if ('$schema' in (tool.function.parameters ?? {})) return invalid('Invalid schema', 'invalid_tool_schema', '3600');
  }
  return null;
}

/** What the model says: text, thoughts, calls of tools. */
interface MistralTurn {
  text?: string;
  thought?: string;
  calls?: readonly { id: string; name: string; arguments: string }[];
  finish?: string;
}

const usage = { prompt_tokens: 12, completion_tokens: 5, total_tokens: 17 };

const thinking = (text: string) => ({ type: 'thinking', thinking: [{ type: 'text', text }] });

const callsOf = ({ calls }: MistralTurn) =>
  calls?.map(({ id, name, arguments: args }) => ({ id, function: { name, arguments: args } }));

function wholeOf(model: string, turn: MistralTurn): object {
  const { text = '', thought } = turn;
  const content = thought === undefined ? text : [thinking(thought), { type: 'text', text }];
  return {
    id: 'cmpl-1',
    object: 'chat.completion',
    model,
    created,
    usage,
    choices: [
      {
        index: 0,
        message: { role: 'assistant', content, tool_calls: callsOf(turn) ?? null },
        finish_reason: turn.finish ?? (turn.calls ? 'tool_calls' : 'stop'),
      },
    ],
  };
}

function partsOf(model: string, turn: MistralTurn): string[] {
  const { text = '', thought = '' } = turn;
  const chunk = (delta: object, more: object = {}, last: object = {}) =>
    `data: ${JSON.stringify({ id: 'cmpl-1', object: 'chat.completion.chunk', created, model, ...last, choices: [{ index: 0, delta, finish_reason: null, ...more }] })}\n\n`;
  return [
    chunk({ role: 'assistant', content: '' }),
    ...[...thought].map((letter) => chunk({ content: [thinking(letter)] })),
    ...[...text].map((letter) => chunk({ content: letter })),
    // Calls come whole, and the usage comes with the end.
    chunk(
      { content: '', ...(turn.calls && { tool_calls: callsOf(turn) }) },
      { finish_reason: turn.finish ?? (turn.calls ? 'tool_calls' : 'stop') },
      { usage },
    ),
    'data: [DONE]\n\n',
  ];
}

const models = {
  object: 'list',
  data: [
    {
      id: 'mistral-small-latest',
      object: 'model',
      created,
      owned_by: 'mistralai',
      type: 'base',
      capabilities: { completion_chat: true, function_calling: true },
    },
  ],
};

const pages = [{ index: 0, markdown: '# Title', images: [], dimensions: { dpi: 200, height: 2200, width: 1700 } }];

/** Answers every route of the API; chat with this turn. */
export const mistral =
  (turn: MistralTurn): Behaviour =>
  (call, response) => {
    const answer = (status: number, body: object) => json(status, body)(call, response);
    if (!call.headers.authorization?.startsWith('Bearer ')) return answer(401, { detail: 'Unauthorized' });
    const path = call.path.replace(/^\/v1/, '');
    if (path === '/models') return answer(200, models);
    if (path === '/ocr') {
      return answer(200, { pages, model: call.json.model, usage_info: { pages_processed: 1, doc_size_bytes: 9 } });
    }
    if (path === '/embeddings') {
      const data = [{ object: 'embedding', embedding: [0.5, 1], index: 0 }];
      return answer(200, { id: 'e', object: 'list', data, model: call.json.model, usage });
    }
    const refused = refusalOf(call.json);
    if (refused) return answer(...refused);
    if (path !== '/chat/completions' && path !== '/fim/completions') return answer(404, { detail: 'Not Found' });
    if (call.json.stream) return stream(partsOf(call.json.model, turn))(call, response);
    return answer(200, wholeOf(call.json.model, turn));
  };
