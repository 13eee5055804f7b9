/** Marks for the prompt cache: a request may hold four, and those that last longer stand before the others. */
import { isObject, listOf, objectOf } from '../json.ts';
import type { JsonObject } from '../provider.ts';

const most = 4;

type Marked = JsonObject & { cache_control: JsonObject };

/** The body with as many marks as it may hold: of too many the earliest go, for each later one covers them. */
export function withinMarks(body: JsonObject): JsonObject {
  const blocks = markedIn(body);
  if (blocks.length === 0) return body;
  const room = isObject(body.cache_control) ? most - 1 : most;
  const dropped = new Set<JsonObject>(blocks.slice(0, Math.max(0, blocks.length - room)));
  const kept = blocks.slice(dropped.size);
  const firstShort = kept.findIndex(({ cache_control: mark }) => !isLong(mark));
  const shortened = new Set<JsonObject>(firstShort === -1 ? [] : kept.slice(firstShort).filter(isLongLived));
  if (dropped.size === 0 && shortened.size === 0) return body;
  const settle = (block: unknown): unknown => {
    if (!isObject(block)) return block;
    const { cache_control: mark, ...rest } = block;
    if (dropped.has(block)) return rest;
    return shortened.has(block) ? { ...rest, cache_control: { ...objectOf(mark), ttl: '5m' } } : block;
  };
  return {
    ...body,
    ...(body.tools !== undefined && { tools: listOf(body.tools).map(settle) }),
    ...(Array.isArray(body.system) && { system: body.system.map(settle) }),
    messages: listOf(body.messages).map((message) => settledMessage(message, settle)),
  };
}

/** In the order in which the provider reads them. */
function markedIn({ tools, system, messages }: JsonObject): Marked[] {
  const marked: Marked[] = [];
  const look = (blocks: unknown): void => {
    if (Array.isArray(blocks)) for (const block of blocks) if (isMarked(block)) marked.push(block);
  };
  look(tools);
  look(system);
  for (const message of listOf(messages)) look(objectOf(message).content);
  return marked;
}

const isMarked = (block: unknown): block is Marked => isObject(block) && isObject(block.cache_control);
const isLong = (mark: JsonObject): boolean => mark.ttl === '1h';
const isLongLived = ({ cache_control: mark }: Marked): boolean => isLong(mark);

function settledMessage(message: unknown, settle: (block: unknown) => unknown): unknown {
  const { content } = objectOf(message);
  return Array.isArray(content) ? { ...objectOf(message), content: content.map(settle) } : message;
}
