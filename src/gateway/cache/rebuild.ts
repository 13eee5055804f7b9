/** The whole answer that a recorded stream amounts to, in the dialect of its route. */
import { readJson } from '../../bounded-json.ts';
import type { EndpointKind } from '../../providers/endpoints.ts';
import { isObject, objectsOf } from '../../providers/json.ts';
import type { JsonObject, ServerEvent } from '../../providers/provider.ts';
import { jsonOf } from '../dialects/dialect.ts';

type Rebuild = (events: readonly JsonObject[]) => JsonObject | null;

/** Null where it cannot be told, for then the next call is a miss. */
export function rebuilt(kind: EndpointKind, events: readonly ServerEvent[]): JsonObject | null {
  const rebuild = byKind[kind];
  return rebuild ? rebuild(events.map(jsonOf).filter((json) => json !== null)) : null;
}

const chat: Rebuild = (chunks) => {
  const first = chunks[0];
  if (!first) return null;
  const { choices: _, usage: __, ...head } = first;
  const choices = new Map<number, JsonObject>();
  let usage: unknown;
  for (const chunk of chunks) {
    if (chunk.usage) usage = chunk.usage;
    for (const choice of objectsOf(chunk.choices)) {
      const index = Number(choice.index ?? 0);
      const whole = choices.get(index) ?? { index, message: {}, finish_reason: null };
      choices.set(index, whole);
      if (isObject(choice.delta) && isObject(whole.message)) addDelta(whole.message, choice.delta);
      for (const [name, value] of Object.entries(choice)) {
        if (name !== 'delta' && name !== 'index' && value !== null && value !== undefined) whole[name] = value;
      }
    }
  }
  for (const choice of choices.values()) closeMessage(choice.message);
  return { ...head, object: 'chat.completion', choices: inOrder(choices), ...(usage ? { usage } : {}) };
};

/** Fields that are told once and not in pieces. */
const toldOnce: ReadonlySet<string> = new Set(['role', 'id', 'type', 'name', 'index']);

function addDelta(message: JsonObject, delta: JsonObject): void {
  for (const [name, value] of Object.entries(delta)) {
    if (name === 'tool_calls') addToolCalls(message, objectsOf(value));
    else if (typeof value === 'string' && typeof message[name] === 'string' && !toldOnce.has(name))
      message[name] += value;
    else if (isObject(value) && isObject(message[name])) addDelta(message[name], value);
    else if (Array.isArray(value) && Array.isArray(message[name])) message[name] = [...message[name], ...value];
    else if (value !== null || !(name in message)) message[name] = isObject(value) ? { ...value } : value;
  }
}

function addToolCalls(message: JsonObject, calls: readonly JsonObject[]): void {
  const all = (Array.isArray(message.tool_calls) ? message.tool_calls : []) as JsonObject[];
  message.tool_calls = all;
  for (const call of calls) {
    const index = Number(call.index ?? all.length);
    const whole = all[index] ?? {};
    all[index] = whole;
    addDelta(whole, call);
  }
}

function closeMessage(message: unknown): void {
  if (!isObject(message)) return;
  message.role ??= 'assistant';
  message.content ??= null;
  if (message.content === '' && message.tool_calls) message.content = null;
  for (const call of objectsOf(message.tool_calls)) delete call.index;
}

const text: Rebuild = (chunks) => {
  const first = chunks[0];
  if (!first) return null;
  const choices = new Map<number, JsonObject>();
  let usage: unknown;
  for (const chunk of chunks) {
    if (chunk.usage) usage = chunk.usage;
    for (const choice of objectsOf(chunk.choices)) {
      const index = Number(choice.index ?? 0);
      const whole = choices.get(index) ?? { index, text: '', logprobs: null, finish_reason: null };
      choices.set(index, { ...whole, ...kept(choice), text: `${whole.text ?? ''}${choice.text ?? ''}` });
    }
  }
  const { choices: _, usage: __, ...head } = first;
  return { ...head, choices: inOrder(choices), ...(usage ? { usage } : {}) };
};

const messages: Rebuild = (events) => {
  const start = events.find(({ type }) => type === 'message_start');
  if (!start || !isObject(start.message)) return null;
  const message: JsonObject = { ...start.message };
  const blocks: JsonObject[] = [];
  const inputs = new Map<number, string>();
  for (const event of events) {
    const index = Number(event.index ?? 0);
    if (event.type === 'content_block_start' && isObject(event.content_block))
      blocks[index] = { ...event.content_block };
    if (event.type === 'content_block_delta' && isObject(event.delta))
      addBlockDelta(blocks[index], event.delta, index, inputs);
    if (event.type !== 'message_delta') continue;
    if (isObject(event.delta)) Object.assign(message, event.delta);
    if (isObject(event.usage)) message.usage = { ...(isObject(message.usage) ? message.usage : {}), ...event.usage };
  }
  for (const [index, json] of inputs) {
    const block = blocks[index];
    const input = json === '' ? {} : parsed(json);
    if (!block || input === null) return null;
    block.input = input;
  }
  return { ...message, content: blocks.filter(Boolean) };
};

function addBlockDelta(
  block: JsonObject | undefined,
  delta: JsonObject,
  index: number,
  inputs: Map<number, string>,
): void {
  if (!block) return;
  if (delta.type === 'text_delta') block.text = `${block.text ?? ''}${delta.text ?? ''}`;
  else if (delta.type === 'thinking_delta') block.thinking = `${block.thinking ?? ''}${delta.thinking ?? ''}`;
  else if (delta.type === 'signature_delta') block.signature = `${block.signature ?? ''}${delta.signature ?? ''}`;
  else if (delta.type === 'input_json_delta')
    inputs.set(index, `${inputs.get(index) ?? ''}${delta.partial_json ?? ''}`);
  else if (delta.type === 'citations_delta') {
    block.citations = [...(Array.isArray(block.citations) ? block.citations : []), delta.citation];
  }
}

/** Its last event holds all of it. */
const responses: Rebuild = (events) => {
  const last = events.findLast(({ type }) => type === 'response.completed' || type === 'response.incomplete');
  return last && isObject(last.response) ? last.response : null;
};

const byKind: Partial<Record<EndpointKind, Rebuild>> = {
  chatComplete: chat,
  complete: text,
  messages,
  createModelResponse: responses,
};

const kept = (fields: JsonObject): JsonObject =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== null && value !== undefined));

const inOrder = (choices: ReadonlyMap<number, JsonObject>): JsonObject[] =>
  [...choices].sort(([one], [other]) => one - other).map(([, choice]) => choice);

function parsed(json: string): unknown {
  try {
    return readJson(json);
  } catch {
    return null;
  }
}
