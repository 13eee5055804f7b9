/** How another target's response goes on from what the client has of the first one: under its item, its numbers and its places. */
import { isObject, listOf, textOf } from '../../providers/json.ts';
import type { JsonObject, ServerEvent } from '../../providers/provider.ts';
import { jsonOf, objectIn, type ResumeRules, type Seam, type StreamState } from './dialect.ts';
import {
  isForeign,
  isInFirstItem,
  isInItem,
  isInText,
  itemClosed,
  itemOpened,
  stepOf,
  steps,
} from './responses-steps.ts';

const isEnd = ({ type }: JsonObject): boolean => type === 'response.completed' || type === 'response.incomplete';

const textDelta = (json: JsonObject): string | null =>
  json.type === 'response.output_text.delta' && isInText(json) ? textOf(json.delta) : null;

const named = (json: JsonObject): ServerEvent => ({ event: String(json.type), data: JSON.stringify(json) });

export const responsesTakeover: ResumeRules = {
  continuation: ({ input, ...body }, delivered) => ({
    ...body,
    input: [
      ...(typeof input === 'string' ? [{ role: 'user', content: input }] : listOf(input)),
      // Models that go on from a prefix refuse one that ends in white space.
      { role: 'assistant', content: delivered.trimEnd() },
    ],
  }),
  textOf: (event) => textDelta(jsonOf(event) ?? {}),
  rewritten(event, text, seam) {
    const json = jsonOf(event);
    if (!json) return event;
    const changed = isObject(json.response) ? { response: responseOf(json, seam) } : ofItem(json, text, seam);
    const told = { ...json, sequence_number: seam.delivered.sequence + 1, ...changed };
    return { event: event.event, data: JSON.stringify(told) };
  },
  thoughtFilter({ steps: told }) {
    if (told < itemOpened) return (event) => event;
    const hidden = new Set<unknown>();
    return (event) => {
      const json = jsonOf(event);
      if (!json) return event;
      const { output_index: index } = json;
      // Items are numbered from 0: one at `hidden.size` comes before any that is shown.
      const isThought = isReasoning(json.item) && index === hidden.size;
      if (isThought) hidden.add(index);
      if (isThought || hidden.has(index)) return null;
      if (hidden.size === 0) return event;
      return { event: event.event, data: JSON.stringify(shifted(json, hidden.size)) };
    };
  },
  place(event, delivered) {
    const json = jsonOf(event);
    if (!json || isEnd(json) || textDelta(json) !== null) return 'new';
    const step = stepOf(json);
    if (step === 0) {
      if (!isInItem(json)) return 'repeated';
      return isInFirstItem(json) && delivered.steps === itemClosed ? 'clash' : 'new';
    }
    if (step > delivered.steps) return 'new';
    return isForeign(json) ? 'clash' : 'repeated';
  },
  ends: (event) => isEnd(jsonOf(event) ?? {}),
  closing(event, delivered) {
    if (!hasMessage(delivered) || delivered.steps === itemClosed) return [];
    const { item: item_id, sequence, steps: told } = delivered;
    const place = { item_id, output_index: 0, content_index: 0 };
    const item = messageOf(delivered, jsonOf(event)?.type);
    const [part] = item.content;
    const fields: Readonly<Record<string, JsonObject>> = {
      'response.content_part.added': { ...place, part: textPart('') },
      'response.output_text.done': { ...place, text: part.text, logprobs: [] },
      'response.content_part.done': { ...place, part },
      'response.output_item.done': { output_index: 0, item },
    };
    return steps
      .slice(told)
      .map((type, index) => named({ type, sequence_number: sequence + 1 + index, ...fields[type] }));
  },
};

const isReasoning = (item: unknown): boolean => isObject(item) && item.type === 'reasoning';

/** As if the response had begun behind its first items. */
function shifted(json: JsonObject, by: number): JsonObject {
  if (typeof json.output_index === 'number') return { ...json, output_index: json.output_index - by };
  if (!isObject(json.response)) return json;
  const output = listOf(json.response.output);
  return { ...json, response: { ...json.response, output: output.slice(by) } };
}

/** The client has an item of text and nothing beside it. */
const hasMessage = ({ steps: told, beyondText }: StreamState): boolean => told >= itemOpened && !beyondText;

const messageOf = ({ item, text }: StreamState, ending: unknown) => ({
  id: item,
  type: 'message',
  status: ending === 'response.incomplete' ? 'incomplete' : 'completed',
  content: [textPart(text.whole)] as const,
  role: 'assistant',
});

const textPart = (text: string) => ({ type: 'output_text', annotations: [], logprobs: [], text });

/** Only the last event names the new response: it is the one that its provider keeps, and that later calls can refer to. */
function responseOf(json: JsonObject, seam: Seam): JsonObject {
  const response = objectIn(json, 'response');
  const { delivered } = seam;
  if (!isEnd(json)) return { ...response, id: delivered.id ?? response.id };
  const [first, ...others] = listOf(response.output);
  const unadded = hasMessage(delivered) ? [messageOf(delivered, json.type)] : [];
  const text = textOf(response.output_text);
  return {
    ...response,
    output: first === undefined ? unadded : [itemOf(first, seam), ...others],
    ...(text !== null && { output_text: whole(text, seam) }),
  };
}

function ofItem(json: JsonObject, text: string, seam: Seam): JsonObject {
  if (!isInFirstItem(json)) return {};
  const { item } = seam.delivered;
  return {
    ...(json.item_id !== undefined && { item_id: item ?? json.item_id }),
    ...(json.item !== undefined && { item: itemOf(json.item, seam) }),
    ...(isInText(json) && ofText(json, text, seam)),
  };
}

function ofText(json: JsonObject, text: string, seam: Seam): JsonObject {
  // What is left of a piece has no probabilities of its own.
  if (textDelta(json) !== null) return { delta: text, ...(text !== json.delta && { logprobs: [] }) };
  const said = json.type === 'response.output_text.done' ? textOf(json.text) : null;
  return {
    ...(said !== null && { text: whole(said, seam) }),
    ...(json.part !== undefined && { part: partOf(json.part, seam) }),
    ...(json.annotation !== undefined && { annotation: moved(json.annotation, seam) }),
  };
}

function itemOf(item: unknown, seam: Seam): unknown {
  if (!isObject(item)) return item;
  const { before, delivered } = seam;
  const [first, ...others] = listOf(item.content);
  const content = first === undefined ? before !== '' && [textPart(before)] : [partOf(first, seam), ...others];
  return { ...item, id: delivered.item ?? item.id, ...(content && { content }) };
}

function partOf(part: unknown, seam: Seam): unknown {
  if (!isObject(part) || part.type !== 'output_text') return part;
  const text = textOf(part.text);
  const annotations = listOf(part.annotations).map((annotation) => moved(annotation, seam));
  return {
    ...part,
    ...(text !== null && { text: whole(text, seam) }),
    ...(part.annotations !== undefined && { annotations }),
  };
}

/** What the new stream has said by now, as the whole that the client has. */
const whole = (own: string, { before, repeated }: Seam): string => before + own.slice(repeated);

/** A place in the new text, as a place in the whole one. */
function moved(annotation: unknown, { before, repeated }: Seam): unknown {
  if (!isObject(annotation)) return annotation;
  const { start_index: start, end_index: end } = annotation;
  const by = before.length - repeated;
  return {
    ...annotation,
    ...(typeof start === 'number' && { start_index: start + by }),
    ...(typeof end === 'number' && { end_index: end + by }),
  };
}
