/** A kept answer as the stream of its route's dialect. */
import type { EndpointKind } from '../../providers/endpoints.ts';
import { isObject, objectsOf } from '../../providers/json.ts';
import type { JsonObject, ServerEvent } from '../../providers/provider.ts';

type Replay = (answer: JsonObject) => ServerEvent[];

/** Null for routes that do not stream. */
export function replayed(kind: EndpointKind, answer: JsonObject): ServerEvent[] | null {
  return byKind[kind]?.(answer) ?? null;
}

/** About 125 tokens. */
const pieceLength = 500;

/** Text in pieces; a character of two halves is never cut. */
function pieces(text: string): string[] {
  const found: string[] = [];
  for (let start = 0; start < text.length; ) {
    let end = Math.min(start + pieceLength, text.length);
    if (end < text.length && text.charCodeAt(end - 1) >= 0xd800 && text.charCodeAt(end - 1) <= 0xdbff) end -= 1;
    found.push(text.slice(start, end));
    start = end;
  }
  return found;
}

const data = (json: unknown): ServerEvent => ({ event: null, data: JSON.stringify(json) });
const done: ServerEvent = { event: null, data: '[DONE]' };

const chat: Replay = ({ choices, usage, ...rest }) => {
  const head = { ...rest, object: 'chat.completion.chunk' };
  const chunk = (index: unknown, delta: object, finish: unknown = null) =>
    data({ ...head, choices: [{ index, delta, logprobs: null, finish_reason: finish }] });
  const events = objectsOf(choices).flatMap(({ index = 0, message, finish_reason }) => {
    const { role = 'assistant', content, tool_calls, ...others } = isObject(message) ? message : {};
    const told: ServerEvent[] = [chunk(index, { role, content: typeof content === 'string' ? '' : content })];
    for (const [name, value] of Object.entries(others)) {
      if (typeof value === 'string') told.push(...pieces(value).map((piece) => chunk(index, { [name]: piece })));
      else if (value !== null) told.push(chunk(index, { [name]: value }));
    }
    if (typeof content === 'string') told.push(...pieces(content).map((piece) => chunk(index, { content: piece })));
    objectsOf(tool_calls).forEach((call, at) => {
      const { name, arguments: given } = isObject(call.function) ? call.function : {};
      told.push(chunk(index, { tool_calls: [{ ...call, index: at, function: { name, arguments: '' } }] }));
      told.push(chunk(index, { tool_calls: [{ index: at, function: { arguments: given ?? '' } }] }));
    });
    return [...told, chunk(index, {}, finish_reason ?? 'stop')];
  });
  return [...events, ...(usage ? [data({ ...head, choices: [], usage })] : []), done];
};

const text: Replay = ({ choices, usage, ...head }) => {
  const chunk = (index: unknown, piece: string, finish: unknown = null) =>
    data({ ...head, choices: [{ index, text: piece, logprobs: null, finish_reason: finish }] });
  const events = objectsOf(choices).flatMap(({ index = 0, text: whole, finish_reason }) => [
    ...pieces(String(whole ?? '')).map((piece) => chunk(index, piece)),
    chunk(index, '', finish_reason ?? 'stop'),
  ]);
  return [...events, ...(usage ? [data({ ...head, choices: [], usage })] : []), done];
};

const named = (json: { type: string } & JsonObject): ServerEvent => ({ event: json.type, data: JSON.stringify(json) });

const messages: Replay = ({ content, stop_reason = null, stop_sequence = null, usage, ...head }) => {
  const counted = isObject(usage) ? usage : {};
  const opened = { ...head, type: 'message', content: [], stop_reason: null, stop_sequence: null };
  const events = [named({ type: 'message_start', message: { ...opened, usage: { ...counted, output_tokens: 0 } } })];
  objectsOf(content).forEach((block, index) => {
    const { start, deltas } = blockParts(block);
    events.push(named({ type: 'content_block_start', index, content_block: start }));
    events.push(...deltas.map((delta) => named({ type: 'content_block_delta', index, delta })));
    events.push(named({ type: 'content_block_stop', index }));
  });
  events.push(named({ type: 'message_delta', delta: { stop_reason, stop_sequence }, usage: counted }));
  return [...events, named({ type: 'message_stop' })];
};

function blockParts(block: JsonObject): { start: JsonObject; deltas: JsonObject[] } {
  if (block.type === 'text') {
    const { citations, ...plain } = block;
    const cited = (Array.isArray(citations) ? citations : []).map((citation) => ({
      type: 'citations_delta',
      citation,
    }));
    return {
      start: { ...plain, text: '' },
      deltas: [...cited, ...pieces(String(block.text ?? '')).map((piece) => ({ type: 'text_delta', text: piece }))],
    };
  }
  if (block.type === 'thinking') {
    const { signature, ...plain } = block;
    return {
      start: { ...plain, thinking: '', signature: '' },
      deltas: [
        ...pieces(String(block.thinking ?? '')).map((piece) => ({ type: 'thinking_delta', thinking: piece })),
        ...(typeof signature === 'string' ? [{ type: 'signature_delta', signature }] : []),
      ],
    };
  }
  if (block.type === 'tool_use' || block.type === 'server_tool_use') {
    const input = JSON.stringify(block.input ?? {});
    return { start: { ...block, input: {} }, deltas: [{ type: 'input_json_delta', partial_json: input }] };
  }
  return { start: block, deltas: [] };
}

const responses: Replay = (answer) => {
  let sequence = 0;
  const event = (type: string, fields: JsonObject): ServerEvent =>
    named({ type, sequence_number: sequence++, ...fields });
  const opened = { ...answer, status: 'in_progress', output: [], usage: null };
  const events = [event('response.created', { response: opened }), event('response.in_progress', { response: opened })];
  objectsOf(answer.output).forEach((item, output_index) => {
    const at = { output_index, item_id: item.id };
    const open = {
      ...item,
      status: 'in_progress',
      ...('content' in item && { content: [] }),
      ...('arguments' in item && { arguments: '' }),
    };
    events.push(event('response.output_item.added', { output_index, item: open }));
    objectsOf(item.content).forEach((part, content_index) => {
      const place = { ...at, content_index };
      const isText = part.type === 'output_text';
      events.push(
        event('response.content_part.added', {
          ...place,
          part: isText ? { ...part, text: '', annotations: [] } : part,
        }),
      );
      if (isText) {
        for (const delta of pieces(String(part.text ?? '')))
          events.push(event('response.output_text.delta', { ...place, delta, logprobs: [] }));
        events.push(event('response.output_text.done', { ...place, text: part.text, logprobs: [] }));
      }
      events.push(event('response.content_part.done', { ...place, part }));
    });
    if (typeof item.arguments === 'string') {
      events.push(event('response.function_call_arguments.delta', { ...at, delta: item.arguments }));
      events.push(
        event('response.function_call_arguments.done', { ...at, arguments: item.arguments, name: item.name }),
      );
    }
    events.push(event('response.output_item.done', { output_index, item }));
  });
  const ending = answer.status === 'incomplete' ? 'response.incomplete' : 'response.completed';
  return [...events, event(ending, { response: answer })];
};

const byKind: Partial<Record<EndpointKind, Replay>> = {
  chatComplete: chat,
  complete: text,
  messages,
  createModelResponse: responses,
};
