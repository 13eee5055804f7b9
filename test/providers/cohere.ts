/** Cohere's API: chat whole and streamed, embeddings, reranking and the list of models, with its checks and its errors. */
import { type Behaviour, bytes, json, type ReceivedCall, stream } from './simulated.ts';

/** What the model says next. */
export interface Said {
  text?: string;
  thinking?: string;
  plan?: string;
  calls?: readonly { id: string; name: string; arguments: string }[];
  citations?: readonly object[];
  finish?: string;
  error?: string;
}

export const usage = {
  billed_units: { input_tokens: 7, output_tokens: 12 },
  tokens: { input_tokens: 71, output_tokens: 22 },
  cached_tokens: 16,
};

const callOf = ({ id, name, arguments: args }: { id: string; name: string; arguments: string }) => ({
  id,
  type: 'function',
  function: { name, arguments: args },
});

const finishOf = ({ finish, calls }: Said): string => finish ?? (calls ? 'TOOL_CALL' : 'COMPLETE');

export const whole = (said: Said) => ({
  id: 'c14c80c3',
  message: {
    role: 'assistant',
    ...((said.text !== undefined || said.thinking !== undefined) && {
      content: [
        ...(said.thinking === undefined ? [] : [{ type: 'thinking', thinking: said.thinking }]),
        ...(said.text === undefined ? [] : [{ type: 'text', text: said.text }]),
      ],
    }),
    ...(said.plan !== undefined && { tool_plan: said.plan }),
    ...(said.calls && { tool_calls: said.calls.map(callOf) }),
    ...(said.citations && { citations: said.citations }),
  },
  finish_reason: finishOf(said),
  usage,
});

const event = (type: string, fields: object) => `event: ${type}\ndata: ${JSON.stringify({ type, ...fields })}\n\n`;
const message = (fields: object) => ({ delta: { message: fields } });

const block = (index: number, type: 'text' | 'thinking', text: string): string[] => [
  event('content-start', { index, ...message({ content: { type, [type]: '' } }) }),
  ...(text.match(/.{1,5}/gsu) ?? []).map((piece) =>
    event('content-delta', { index, ...message({ content: { [type]: piece } }) }),
  ),
  event('content-end', { index }),
];

/** The events of one answer. Blocks and calls are numbered, each kind by itself. */
export const events = (said: Said): string[] => [
  event('message-start', {
    id: 'c14c80c3',
    ...message({ role: 'assistant', content: [], tool_plan: '', tool_calls: [], citations: [] }),
  }),
  ...(said.plan?.match(/.{1,5}/gsu) ?? []).map((piece) => event('tool-plan-delta', message({ tool_plan: piece }))),
  ...(said.thinking === undefined ? [] : block(0, 'thinking', said.thinking)),
  ...(said.text === undefined ? [] : block(said.thinking === undefined ? 0 : 1, 'text', said.text)),
  ...(said.citations ?? []).flatMap((citations, index) => [
    event('citation-start', { index, ...message({ citations }) }),
    event('citation-end', { index }),
  ]),
  ...(said.calls ?? []).flatMap((call, index) => [
    event('tool-call-start', {
      index,
      ...message({ tool_calls: { ...callOf(call), function: { name: call.name, arguments: '' } } }),
    }),
    ...(call.arguments.match(/.{1,4}/gsu) ?? []).map((piece) =>
      event('tool-call-delta', { index, ...message({ tool_calls: { function: { arguments: piece } } }) }),
    ),
    event('tool-call-end', { index }),
  ]),
  event('message-end', {
    id: 'c14c80c3',
    delta: { finish_reason: finishOf(said), ...(said.error && { error: said.error }), usage },
  }),
];

export const refused = (status: number, words: string): Behaviour => json(status, { id: 'err-1', message: words });

const chatFields = new Set(
  'model messages tools strict_tools tool_choice documents citation_options safety_mode response_format max_tokens stop_sequences temperature seed frequency_penalty presence_penalty k p logprobs thinking priority stream'.split(
    ' ',
  ),
);

/** Why the real API would refuse this request; null where it would not. */
function faultOfChat(body: ReceivedCall['json']): string | null {
  const unknown = Object.keys(body ?? {}).find((name) => !chatFields.has(name));
  if (unknown) return `invalid request: unknown field: parameter '${unknown}' is not a valid field`;
  if (!body?.model) return 'invalid request: model is required';
  if (!Array.isArray(body.messages) || body.messages.length === 0)
    return 'invalid request: messages must be at least 1 element';
  if (body.tool_choice && !['REQUIRED', 'NONE'].includes(body.tool_choice))
    return 'invalid request: tool_choice must be one of REQUIRED, NONE';
  if (body.p !== undefined && (body.p < 0 || body.p > 1))
    return 'invalid request: p must be between 0 and 1.0 inclusive.';
  return faultOfMessages(body.messages);
}

function faultOfMessages(messages: ReceivedCall['json'][]): string | null {
  const called = new Set<string>();
  for (const { role, tool_calls, tool_call_id, content } of messages) {
    if (!['system', 'user', 'assistant', 'tool'].includes(role)) return `invalid request: unknown role ${role}`;
    for (const { id } of tool_calls ?? []) called.add(id);
    if (role === 'tool' && !called.has(tool_call_id))
      return `invalid request: tool_call_id "${tool_call_id}" was not called`;
    if (role === 'user' && !content?.length) return 'invalid request: message content must not be empty';
  }
  return null;
}

const chat =
  (said: () => Said): Behaviour =>
  (call, response) => {
    const fault = faultOfChat(call.json);
    if (fault) return refused(400, fault)(call, response);
    return call.json.stream ? stream(events(said()))(call, response) : json(200, whole(said()))(call, response);
  };

/** Every text has a vector of its own. */
export const vectorOf = (text: string): number[] => [text.length, 0.5, -0.25];

const embed: Behaviour = (call, response) => {
  const { texts, inputs, input_type, embedding_types } = call.json;
  const entries: string[] = texts ?? inputs?.map((input: object) => JSON.stringify(input)) ?? [];
  if (!input_type) return refused(400, 'invalid request: valid input_type must be provided')(call, response);
  if (entries.length > 96)
    return refused(400, 'invalid request: total number of texts must be at most 96')(call, response);
  return json(200, {
    id: 'e-1',
    texts: entries,
    embeddings: Object.fromEntries(embedding_types.map((type: string) => [type, entries.map(vectorOf)])),
    meta: { api_version: { version: '2' }, billed_units: { input_tokens: entries.length * 2 } },
  })(call, response);
};

/** The longest documents are the best. */
const rerank: Behaviour = (call, response) => {
  const { documents, top_n } = call.json;
  if (!documents.every((document: unknown) => typeof document === 'string')) {
    return refused(400, 'invalid request: documents must be strings')(call, response);
  }
  const results = documents
    .map((document: string, index: number) => ({ index, relevance_score: document.length / 100 }))
    .sort((a: { relevance_score: number }, b: { relevance_score: number }) => b.relevance_score - a.relevance_score)
    .slice(0, top_n ?? documents.length);
  return json(200, { id: 'r-1', results, meta: { api_version: { version: '2' }, billed_units: { search_units: 1 } } })(
    call,
    response,
  );
};

const generation = { id: 'g-2', text: ' upon a time', finish_reason: 'COMPLETE' };
const generationMeta = { api_version: { version: '1' }, billed_units: { input_tokens: 2, output_tokens: 3 } };

/** The lines of a streamed generation; the last one has the whole. */
export const generationLines = (last: object = generationEnd): string[] => [
  ...[' upon', ' a time'].map(
    (text) => `${JSON.stringify({ text, is_finished: false, event_type: 'text-generation' })}\n`,
  ),
  `${JSON.stringify(last)}\n`,
];

const generationEnd = {
  is_finished: true,
  event_type: 'stream-end',
  finish_reason: 'COMPLETE',
  response: { id: 'g-1', prompt: 'Once', generations: [generation], meta: generationMeta },
};

const lineStream = { 'content-type': 'application/stream+json' };

const generate: Behaviour = (call, response) => {
  const answer = call.json.stream
    ? bytes(200, generationLines().join(''), lineStream)
    : json(200, { id: 'g-1', generations: [generation], meta: generationMeta });
  return answer(call, response);
};

const model = { name: 'command-a-03-2025', endpoints: ['chat'], finetuned: false, context_length: 288000 };

export const cohereApi =
  (key: string, said: () => Said): Behaviour =>
  (call, response) => {
    if (call.headers.authorization !== `Bearer ${key}`) return refused(401, 'invalid api token')(call, response);
    const routes: Record<string, Behaviour | undefined> = {
      'POST /v2/chat': chat(said),
      'POST /v2/embed': embed,
      'POST /v2/rerank': rerank,
      'GET /v1/models': json(200, { models: [model] }),
      'GET /v1/models/command-a-03-2025': json(200, model),
      'POST /v1/generate': generate,
    };
    const answer = routes[`${call.method} ${call.path.split('?')[0]}`] ?? refused(404, `${call.path} not found`);
    return answer(call, response);
  };
