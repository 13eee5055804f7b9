/** The messages of requests and answers of the three dialects, by the schemas of OpenTelemetry's conventions: roles and parts. */
import { isObject, listOf, numberOf, objectOf, objectsOf, parsed, textOf } from '../providers/json.ts';
import type { JsonObject } from '../providers/provider.ts';
import { finishReason } from './conventions.ts';

interface Message {
  role: string;
  parts: JsonObject[];
}
interface OutputMessage extends Message {
  finish_reason: string;
}

const text = (content: string): JsonObject => ({ type: 'text', content });

export function inputMessages(request: JsonObject): Message[] {
  const { messages, input, prompt } = request;
  if (Array.isArray(messages)) return objectsOf(messages).map(messageOf);
  const asked = input ?? prompt;
  if (typeof asked === 'string') return [{ role: 'user', parts: [text(asked)] }];
  const list = listOf(asked);
  if (list.some(isObject)) return objectsOf(list).map(messageOf);
  const texts = list.filter((item) => typeof item === 'string');
  return texts.length === 0 ? [] : [{ role: 'user', parts: texts.map(text) }];
}

/** What stands apart from the history. */
export function systemInstructions({ system, instructions }: JsonObject): JsonObject[] {
  const told = system ?? instructions;
  if (typeof told === 'string') return [text(told)];
  return objectsOf(told).flatMap(({ text: content }) => (typeof content === 'string' ? [text(content)] : []));
}

/** A message, or an item of the responses dialect that stands in place of one. */
function messageOf(message: JsonObject): Message {
  const { type, role, content } = message;
  if (type === 'function_call') return { role: 'assistant', parts: [toolCall(message.call_id, message)] };
  if (type === 'function_call_output') return { role: 'tool', parts: [toolResult(message.call_id, message.output)] };
  const said = textOf(role) ?? 'user';
  if (said === 'tool') return { role: said, parts: [toolResult(message.tool_call_id, content)] };
  const calls = objectsOf(message.tool_calls).map((call) => toolCall(call.id, objectOf(call.function)));
  return { role: said === 'developer' ? 'system' : said, parts: [...partsOf(content), ...calls] };
}

function partsOf(content: unknown): JsonObject[] {
  if (typeof content === 'string') return [text(content)];
  return objectsOf(content).flatMap(partOf);
}

function partOf(part: JsonObject): JsonObject[] {
  const type = textOf(part.type) ?? 'text';
  if (typeof part.text === 'string') return [text(part.text)];
  if (typeof part.refusal === 'string') return [text(part.refusal)];
  if (typeof part.thinking === 'string') return [{ type: 'reasoning', content: part.thinking }];
  if (type === 'tool_use') return [toolCall(part.id, part)];
  if (type === 'tool_result') return [toolResult(part.tool_use_id, part.content)];
  // Pictures, sound and files are named and not copied.
  return [{ type }];
}

const toolCall = (id: unknown, { name, arguments: told, input }: JsonObject): JsonObject => ({
  type: 'tool_call',
  id: textOf(id),
  name: textOf(name) ?? '',
  arguments: input ?? (typeof told === 'string' ? (parsed(told) ?? told) : (told ?? null)),
});

const toolResult = (id: unknown, response: unknown): JsonObject => ({
  type: 'tool_call_response',
  id: textOf(id),
  response: response ?? null,
});

/** From a whole answer, or from the events of a stream. */
export function outputMessages(parts: readonly JsonObject[]): OutputMessage[] {
  const [first] = parts;
  const completed = parts.find(({ type }) => type === 'response.completed' || type === 'response.incomplete');
  if (completed) return wholeMessages(objectOf(completed.response));
  if (parts.length === 1 && first) return wholeMessages(first);
  return streamedMessages(parts);
}

function wholeMessages(answer: JsonObject): OutputMessage[] {
  if (Array.isArray(answer.choices)) {
    return objectsOf(answer.choices).map((choice) => ({
      ...(isObject(choice.message)
        ? messageOf({ role: 'assistant', ...choice.message })
        : { role: 'assistant', parts: [text(textOf(choice.text) ?? '')] }),
      finish_reason: finishReason(textOf(choice.finish_reason) ?? 'stop'),
    }));
  }
  if (Array.isArray(answer.output)) {
    const said = objectsOf(answer.output).flatMap((item) =>
      item.type === 'reasoning' ? [] : messageOf({ role: 'assistant', ...item }).parts,
    );
    const reason = textOf(objectOf(answer.incomplete_details).reason) ?? textOf(answer.status) ?? 'stop';
    return [{ role: 'assistant', parts: said, finish_reason: finishReason(reason) }];
  }
  if (!Array.isArray(answer.content)) return [];
  const reason = finishReason(textOf(answer.stop_reason) ?? 'stop');
  return [{ role: 'assistant', parts: partsOf(answer.content), finish_reason: reason }];
}

interface Growing {
  texts: string;
  calls: Map<number, { id: unknown; name: string; arguments: string }>;
  reason: string;
}

/** The choices of a stream, each put together from its deltas. */
function streamedMessages(events: readonly JsonObject[]): OutputMessage[] {
  const choices = new Map<number, Growing>();
  const at = (index: number): Growing => {
    const known = choices.get(index) ?? { texts: '', calls: new Map(), reason: 'stop' };
    choices.set(index, known);
    return known;
  };
  for (const event of events) {
    for (const choice of objectsOf(event.choices)) grow(at(numberOf(choice.index) ?? 0), choice);
    if (isObject(event.delta) || isObject(event.content_block)) growBlock(at(0), event);
  }
  return [...choices.values()].map(({ texts, calls, reason }) => ({
    role: 'assistant',
    parts: [
      ...(texts === '' ? [] : [text(texts)]),
      ...[...calls.values()].map((call) => toolCall(call.id, { name: call.name, arguments: call.arguments })),
    ],
    finish_reason: finishReason(reason),
  }));
}

/** A chunk of chat or of a completion. */
function grow(growing: Growing, choice: JsonObject): void {
  const delta = objectOf(choice.delta);
  growing.texts += textOf(delta.content) ?? textOf(choice.text) ?? '';
  growing.reason = textOf(choice.finish_reason) ?? growing.reason;
  for (const call of objectsOf(delta.tool_calls)) {
    const { name, arguments: more } = objectOf(call.function);
    growCall(growing, numberOf(call.index) ?? 0, call.id, textOf(name), textOf(more));
  }
}

/** An event of the messages dialect. */
function growBlock(growing: Growing, event: JsonObject): void {
  const delta = objectOf(event.delta);
  const block = objectOf(event.content_block);
  const index = numberOf(event.index) ?? 0;
  growing.texts += textOf(delta.text) ?? textOf(block.text) ?? '';
  growing.reason = textOf(delta.stop_reason) ?? growing.reason;
  if (block.type === 'tool_use') growCall(growing, index, block.id, textOf(block.name), null);
  if (typeof delta.partial_json === 'string') growCall(growing, index, undefined, null, delta.partial_json);
}

function growCall({ calls }: Growing, index: number, id: unknown, name: string | null, more: string | null): void {
  const known = calls.get(index) ?? { id: null, name: '', arguments: '' };
  calls.set(index, { id: known.id ?? id, name: known.name || (name ?? ''), arguments: known.arguments + (more ?? '') });
}
