/** The texts of a request or an answer, each with its address in the body, so that what a check replaces is written back where it stood. */
import { readJson } from '../../bounded-json.ts';
import { isObject, listOf, objectOf } from '../../providers/json.ts';
import type { JsonObject } from '../../providers/provider.ts';

export type SegmentPath = readonly (string | number)[];

export interface TextSegment {
  text: string;
  address: SegmentPath;
  /** `json`: an object whose JSON is the text. `json text`: a text that is JSON and must stay so. */
  form: 'text' | 'json' | 'json text';
  /** Which of several answers it belongs to. */
  choice: number;
}

/** The request types whose bodies hold texts that can be checked. */
export const textTypes: ReadonlySet<string> = new Set([
  'chatComplete',
  'complete',
  'messages',
  'createModelResponse',
  'embed',
  'mcpToolCall',
  'agent',
]);

type Reader = (body: JsonObject) => TextSegment[];

const readers: Readonly<Record<string, { input: Reader; output: Reader }>> = {
  chatComplete: { input: lastMessages, output: chatAnswer },
  messages: { input: lastMessages, output: messageAnswer },
  complete: { input: (body) => textOrTexts(body.prompt, ['prompt']), output: completionAnswer },
  embed: { input: (body) => textOrTexts(body.input, ['input']), output: () => [] },
  createModelResponse: { input: responseInput, output: responseOutput },
  mcpToolCall: { input: toolArguments, output: toolResult },
  agent: { input: agentMessage, output: agentAnswer },
};

export const inputSegments = (type: string, body: JsonObject): TextSegment[] => readers[type]?.input(body) ?? [];
export const outputSegments = (type: string, body: JsonObject): TextSegment[] => readers[type]?.output(body) ?? [];

/** Texts that an answer has beside what it says: reasoning, refusals, citations, what tools of the provider wrote. Checks that look for what must not be there read them as well. */
export const besideSegments = (type: string, body: JsonObject): TextSegment[] => beside[type]?.(body) ?? [];

/** Fields of a chat message whose texts clients get beside its content. */
export const besideContent: readonly string[] = ['refusal', 'reasoning_content', 'reasoning'];

const beside: Readonly<Record<string, Reader>> = {
  chatComplete: besideChat,
  messages: besideMessage,
  createModelResponse: besideResponse,
};

const plain = (text: string, address: SegmentPath, choice = 0): TextSegment => ({
  text,
  address,
  form: 'text',
  choice,
});

function textOrTexts(value: unknown, address: SegmentPath): TextSegment[] {
  if (typeof value === 'string') return [plain(value, address)];
  return listOf(value).flatMap((item, index) => (typeof item === 'string' ? [plain(item, [...address, index])] : []));
}

/** The last message; where that is the result of a tool, all results that stand with it. */
function lastMessages({ messages }: JsonObject): TextSegment[] {
  const list = listOf(messages);
  const from = firstOfRun(
    list,
    (message) => objectOf(message).role === 'tool' || objectOf(message).role === 'function',
  );
  return list.slice(from).flatMap((message, index) => contentOf(objectOf(message), ['messages', from + index]));
}

/** Where the run of alike entries at the end begins; the last entry where it is none of them. */
function firstOfRun(list: readonly unknown[], alike: (entry: unknown) => boolean): number {
  let from = Math.max(0, list.length - 1);
  if (!alike(list[from])) return from;
  while (from > 0 && alike(list[from - 1])) from -= 1;
  return from;
}

function contentOf(holder: JsonObject, address: SegmentPath, choice = 0): TextSegment[] {
  const { content } = holder;
  if (typeof content === 'string') return [plain(content, [...address, 'content'], choice)];
  return listOf(content).flatMap((part, index) => partOf(part, [...address, 'content', index], choice));
}

/** A part of a message: its text, or the texts of a tool's result inside it. Pictures and sound have none. */
function partOf(part: unknown, address: SegmentPath, choice: number): TextSegment[] {
  if (typeof part === 'string') return [plain(part, address, choice)];
  if (!isObject(part)) return [];
  if (part.type === 'tool_result') return contentOf(part, address, choice);
  if (part.type === 'document') return documentOf(part, address, choice);
  if (part.type === 'search_result')
    return [...fieldOf(part, 'title', address, choice), ...contentOf(part, address, choice)];
  if (part.type === 'refusal' && typeof part.refusal === 'string') return [];
  return typeof part.text === 'string' ? [plain(part.text, [...address, 'text'], choice)] : [];
}

/** A document whose text can be read; one of bytes has none. */
function documentOf(part: JsonObject, address: SegmentPath, choice: number): TextSegment[] {
  const source = objectOf(part.source);
  const at: SegmentPath = [...address, 'source'];
  return [
    ...fieldOf(part, 'title', address, choice),
    ...fieldOf(part, 'context', address, choice),
    ...(source.type === 'text' ? fieldOf(source, 'data', at, choice) : []),
    ...(source.type === 'content' ? contentOf(source, at, choice) : []),
  ];
}

function chatAnswer({ choices }: JsonObject): TextSegment[] {
  return listOf(choices).flatMap((choice, index) => {
    const message = objectOf(objectOf(choice).message);
    const address: SegmentPath = ['choices', index, 'message'];
    return [
      ...contentOf(message, address, index),
      ...listOf(message.tool_calls).flatMap((call, place) => callOf(call, [...address, 'tool_calls', place], index)),
      ...argumentsIn(message.function_call, [...address, 'function_call'], index),
    ];
  });
}

const callOf = (call: unknown, address: SegmentPath, choice: number): TextSegment[] => [
  ...argumentsIn(objectOf(call).function, [...address, 'function'], choice),
  ...inputIn(objectOf(call).custom, [...address, 'custom'], choice),
];

function argumentsIn(holder: unknown, address: SegmentPath, choice: number): TextSegment[] {
  const text = objectOf(holder).arguments;
  return typeof text === 'string' && text !== ''
    ? [{ text: unescaped(text), address: [...address, 'arguments'], form: 'json text', choice }]
    : [];
}

/** JSON may spell any character as an escape: the same JSON without those that are not needed. */
function unescaped(text: string): string {
  if (!text.includes('\\u')) return text;
  try {
    return JSON.stringify(readJson(text));
  } catch {
    return text;
  }
}

function inputIn(holder: unknown, address: SegmentPath, choice: number): TextSegment[] {
  const text = objectOf(holder).input;
  return typeof text === 'string' ? [plain(text, [...address, 'input'], choice)] : [];
}

function besideChat({ choices }: JsonObject): TextSegment[] {
  return listOf(choices).flatMap((choice, index) => {
    const message = objectOf(objectOf(choice).message);
    const address: SegmentPath = ['choices', index, 'message'];
    return [
      ...besideContent.flatMap((field) => fieldOf(message, field, address, index)),
      ...fieldOf(objectOf(message.audio), 'transcript', [...address, 'audio'], index),
      ...listOf(message.reasoning_details).flatMap((detail, place) =>
        ['text', 'summary'].flatMap((field) =>
          fieldOf(objectOf(detail), field, [...address, 'reasoning_details', place], index),
        ),
      ),
    ];
  });
}

function fieldOf(holder: JsonObject, field: string, address: SegmentPath, choice = 0): TextSegment[] {
  const text = holder[field];
  return typeof text === 'string' && text !== '' ? [plain(text, [...address, field], choice)] : [];
}

/** Thoughts, what was cited, and what tools of the provider found. */
function besideMessage({ content }: JsonObject): TextSegment[] {
  return listOf(content).flatMap((entry, index): TextSegment[] => {
    const block = objectOf(entry);
    const address: SegmentPath = ['content', index];
    return [
      ...fieldOf(block, 'thinking', address),
      ...listOf(block.citations).flatMap((citation, place) =>
        fieldOf(objectOf(citation), 'cited_text', [...address, 'citations', place]),
      ),
      ...(/tool_result$/.test(String(block.type)) ? leavesOf(block.content, [...address, 'content']) : []),
    ];
  });
}

function besideResponse({ output }: JsonObject): TextSegment[] {
  return listOf(output).flatMap((entry, index): TextSegment[] => {
    const item = objectOf(entry);
    const address: SegmentPath = ['output', index];
    const texts = (name: 'content' | 'summary', field: string) =>
      listOf(item[name]).flatMap((part, place) => fieldOf(objectOf(part), field, [...address, name, place]));
    if (item.type === 'message') return texts('content', 'refusal');
    if (item.type === 'reasoning') return [...texts('summary', 'text'), ...texts('content', 'text')];
    if (item.type === 'code_interpreter_call') return fieldOf(item, 'code', address);
    return item.type === 'mcp_call' ? fieldOf(item, 'output', address) : [];
  });
}

function completionAnswer({ choices }: JsonObject): TextSegment[] {
  return listOf(choices).flatMap((choice, index) => {
    const { text } = objectOf(choice);
    return typeof text === 'string' ? [plain(text, ['choices', index, 'text'], index)] : [];
  });
}

function messageAnswer({ content }: JsonObject): TextSegment[] {
  return listOf(content).flatMap((block, index): TextSegment[] => {
    const { type, text, input } = objectOf(block);
    const address: SegmentPath = ['content', index];
    if (/tool_use$/.test(String(type)) && isObject(input)) {
      return [{ text: JSON.stringify(input), address: [...address, 'input'], form: 'json', choice: 0 }];
    }
    return typeof text === 'string' ? [plain(text, [...address, 'text'])] : [];
  });
}

/** A text, or the last item: a message, or the results of tools that stand at the end. */
function responseInput({ input }: JsonObject): TextSegment[] {
  if (typeof input === 'string') return [plain(input, ['input'])];
  const list = listOf(input);
  const isResult = (item: unknown): boolean => /_call_output$/.test(String(objectOf(item).type ?? ''));
  const from = firstOfRun(list, isResult);
  return list.slice(from).flatMap((item, index): TextSegment[] => {
    const address: SegmentPath = ['input', from + index];
    const { output } = objectOf(item);
    if (typeof output === 'string') return [plain(output, [...address, 'output'])];
    if (Array.isArray(output)) return output.flatMap((part, place) => partOf(part, [...address, 'output', place], 0));
    return contentOf(objectOf(item), address);
  });
}

function responseOutput({ output }: JsonObject): TextSegment[] {
  return listOf(output).flatMap((item, index): TextSegment[] => {
    const address: SegmentPath = ['output', index];
    const { type } = objectOf(item);
    if (type === 'message') return contentOf(objectOf(item), address);
    if (type === 'custom_tool_call') return inputIn(item, address, 0);
    return argumentsIn(item, address, 0);
  });
}

/** Every text in the arguments of a tool, depth first. */
function toolArguments(body: JsonObject): TextSegment[] {
  const inParams = isObject(body.params) && 'arguments' in body.params;
  return inParams
    ? leavesOf(objectOf(body.params).arguments, ['params', 'arguments'])
    : leavesOf(body.arguments, ['arguments']);
}

function leavesOf(value: unknown, address: SegmentPath): TextSegment[] {
  if (typeof value === 'string') return [plain(value, address)];
  if (Array.isArray(value)) return value.flatMap((item, index) => leavesOf(item, [...address, index]));
  if (!isObject(value)) return [];
  return Object.entries(value).flatMap(([name, item]) => leavesOf(item, [...address, name]));
}

function toolResult(body: JsonObject): TextSegment[] {
  const inResult = isObject(body.result);
  const holder = inResult ? objectOf(body.result) : body;
  const address: SegmentPath = inResult ? ['result'] : [];
  const texts = listOf(holder.content).flatMap((item, index): TextSegment[] => {
    const at: SegmentPath = [...address, 'content', index];
    const { type, text, resource } = objectOf(item);
    if (type === 'resource' && typeof objectOf(resource).text === 'string') {
      return [plain(String(objectOf(resource).text), [...at, 'resource', 'text'])];
    }
    return typeof text === 'string' ? [plain(text, [...at, 'text'])] : [];
  });
  const structured = holder.structuredContent;
  if (!isObject(structured)) return texts;
  return [
    ...texts,
    { text: JSON.stringify(structured), address: [...address, 'structuredContent'], form: 'json', choice: 0 },
  ];
}

/** The texts of a message to an agent; `content` is what one binding calls its parts. */
function agentMessage({ message, request }: JsonObject): TextSegment[] {
  return isObject(message) ? partsOf(message, ['message']) : partsOf(objectOf(request), ['request']);
}

const partsOf = (holder: JsonObject, address: SegmentPath): TextSegment[] =>
  (['parts', 'content'] as const).flatMap((name) =>
    listOf(holder[name]).flatMap((part, index) => partOf(part, [...address, name, index], 0)),
  );

/** What an agent says: its messages, its artifacts and the message of a state; what the client said before stays out. */
function agentAnswer(body: JsonObject, address: SegmentPath = []): TextSegment[] {
  const inner = (
    ['task', 'message', 'msg', 'statusUpdate', 'status_update', 'artifactUpdate', 'artifact_update'] as const
  )
    .filter((name) => isObject(body[name]) && body.status === undefined)
    .flatMap((name) => agentAnswer(objectOf(body[name]), [...address, name]));
  const isUser = /user$/i.test(String(body.role ?? ''));
  const lists = (['artifacts', 'history', 'tasks'] as const).flatMap((name) =>
    listOf(body[name]).flatMap((item, index) => agentAnswer(objectOf(item), [...address, name, index])),
  );
  const { message, update } = objectOf(body.status);
  const told = isObject(message) ? agentAnswer(message, [...address, 'status', 'message']) : [];
  const updated = isObject(update) ? agentAnswer(update, [...address, 'status', 'update']) : [];
  const artifact = isObject(body.artifact) ? agentAnswer(body.artifact, [...address, 'artifact']) : [];
  return [...(isUser ? [] : partsOf(body, address)), ...inner, ...lists, ...told, ...updated, ...artifact];
}

/** Whether an answer asks for tools. */
export function hasToolCalls(type: string, body: JsonObject): boolean {
  if (type === 'chatComplete') {
    return listOf(body.choices).some((choice) => {
      const message = objectOf(objectOf(choice).message);
      return listOf(message.tool_calls).length > 0 || isObject(message.function_call);
    });
  }
  if (type === 'messages') return listOf(body.content).some((block) => /tool_use$/.test(String(objectOf(block).type)));
  return listOf(body.output).some((item) => /_call$/.test(String(objectOf(item).type ?? '')));
}

/** A text that cannot be written back, because it would break what it stands in. */
export class UnwritableText extends Error {}

/** The body with other texts at these segments. It shares with the first what is not changed. */
export function withTexts(body: JsonObject, changes: readonly { segment: TextSegment; text: string }[]): JsonObject {
  let changed = body;
  for (const { segment, text } of changes) {
    if (text !== segment.text) changed = placed(changed, segment.address, 0, writtenValue(segment, text));
  }
  return changed;
}

function writtenValue({ form }: TextSegment, text: string): unknown {
  if (form === 'text') return text;
  try {
    const value: unknown = readJson(text);
    return form === 'json' ? value : text;
  } catch {
    throw new UnwritableText('the replaced text would no longer be the JSON that it stands in');
  }
}

function placed<Holder extends object>(holder: Holder, address: SegmentPath, depth: number, value: unknown): Holder {
  const step = address[depth] ?? '';
  const copy: unknown = Array.isArray(holder) ? [...holder] : { ...holder };
  const fields = copy as Record<string | number, unknown>;
  const inner = fields[step];
  fields[step] =
    depth === address.length - 1 || typeof inner !== 'object' || inner === null
      ? value
      : placed(inner, address, depth + 1, value);
  return copy as Holder;
}
