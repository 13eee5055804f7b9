/** Responses as guardrails see them: texts come in parts, and are told again whole when they end. */
import { isObject, listOf, objectOf } from '../../../providers/json.ts';
import type { JsonObject, ServerEvent } from '../../../providers/provider.ts';
import { type Assembly, asEvent, type Lens } from './lens.ts';

const textTypes: ReadonlySet<unknown> = new Set([
  'response.output_text.delta',
  'response.refusal.delta',
  'response.reasoning_text.delta',
  'response.reasoning_summary_text.delta',
  'response.code_interpreter_call_code.delta',
]);
const inputTypes: ReadonlySet<unknown> = new Set([
  'response.function_call_arguments.delta',
  'response.mcp_call_arguments.delta',
  'response.custom_tool_call_input.delta',
]);

/** `0.1`: a part of a message; `0.s1`: a part of a summary of reasoning; `2`: the arguments of a tool. */
function keyOf({ output_index: item = 0, content_index: part, summary_index: summary }: JsonObject): string {
  if (part !== undefined) return `${item}.${part}`;
  return summary === undefined ? String(item) : `${item}.s${summary}`;
}

const isDelta = (json: JsonObject): boolean => textTypes.has(json.type) || inputTypes.has(json.type);

export const responsesLens: Lens = {
  deltas: (json) =>
    isDelta(json) && typeof json.delta === 'string'
      ? [
          {
            key: keyOf(json),
            text: json.delta,
            inJson: json.type !== 'response.custom_tool_call_input.delta' && inputTypes.has(json.type),
          },
        ]
      : [],
  withTexts: (json, [text = '']) =>
    text === '' ? null : { ...json, delta: text, ...(json.logprobs !== undefined && { logprobs: [] }) },
  closes(json, open) {
    const type = String(json.type);
    if (/^response\.(completed|incomplete|failed)$/.test(type)) return [...open];
    if (type === 'response.output_item.done')
      return open.filter((key) => key.split('.', 1)[0] === String(json.output_index ?? 0));
    return /\.done$/.test(type) ? open.filter((key) => key === keyOf(json)) : [];
  },
  more: (like, _key, text) => ({ ...like, delta: text, ...(like.logprobs !== undefined && { logprobs: [] }) }),
  restated(json, texts) {
    const own = texts.get(keyOf(json));
    const type = String(json.type);
    if (own !== undefined && wholeTexts.has(type)) return { ...json, [wholeTexts.get(type) ?? '']: own };
    if (/^response\.(content|reasoning_summary)_part\.done$/.test(type))
      return own === undefined ? json : { ...json, part: withText(objectOf(json.part), own) };
    if (/_arguments\.done$/.test(type)) return own === undefined ? json : { ...json, arguments: own };
    if (type === 'response.custom_tool_call_input.done') return own === undefined ? json : { ...json, input: own };
    if (type === 'response.output_item.done')
      return { ...json, item: restatedItem(json.item, Number(json.output_index ?? 0), texts) };
    if (!isObject(json.response) || listOf(json.response.output).length === 0) return json;
    const output = listOf(json.response.output).map((item, index) => restatedItem(item, index, texts));
    const { output_text: _, ...response } = json.response;
    return { ...json, response: { ...response, output } };
  },
  numbered: (json, number) => (typeof json.sequence_number === 'number' ? { ...json, sequence_number: number } : json),
  textsOf(answer) {
    const texts = new Map<string, string>();
    listOf(answer.output).forEach((entry, index) => {
      const item = objectOf(entry);
      if (typeof item.arguments === 'string') texts.set(String(index), item.arguments);
      if (typeof item.input === 'string') texts.set(String(index), item.input);
      if (typeof item.code === 'string') texts.set(String(index), item.code);
      const note = (list: unknown, mark: string) =>
        listOf(list).forEach((part, place) => {
          const { text, refusal } = objectOf(part);
          const told = text ?? refusal;
          if (typeof told === 'string') texts.set(`${index}.${mark}${place}`, told);
        });
      note(item.content, '');
      note(item.summary, 's');
    });
    return texts;
  },
  assembly: () => new ResponseAssembly(),
  named: (json) => String(json.type),
};

/** Events that tell a text again, and where. */
const wholeTexts: ReadonlyMap<string, string> = new Map([
  ['response.output_text.done', 'text'],
  ['response.refusal.done', 'refusal'],
  ['response.reasoning_text.done', 'text'],
  ['response.reasoning_summary_text.done', 'text'],
  ['response.code_interpreter_call_code.done', 'code'],
]);

const withText = (part: JsonObject, text: string): JsonObject =>
  typeof part.refusal === 'string'
    ? { ...part, refusal: text }
    : { ...part, text, ...(part.logprobs !== undefined && part.text !== text && { logprobs: [] }) };

function restatedItem(entry: unknown, index: number, texts: ReadonlyMap<string, string>): unknown {
  const item = objectOf(entry);
  const own = texts.get(String(index));
  if (item.type === 'message' || item.type === 'reasoning') {
    const partsOf = (list: unknown, mark: string) =>
      listOf(list).map((part, place) => {
        const text = texts.get(`${index}.${mark}${place}`);
        return text === undefined ? part : withText(objectOf(part), text);
      });
    return {
      ...item,
      ...(Array.isArray(item.content) && { content: partsOf(item.content, '') }),
      ...(Array.isArray(item.summary) && { summary: partsOf(item.summary, 's') }),
    };
  }
  if (own === undefined) return entry;
  if (item.type === 'code_interpreter_call') return { ...item, code: own };
  return typeof item.input === 'string' ? { ...item, input: own } : { ...item, arguments: own };
}

class ResponseAssembly implements Assembly {
  #opened: JsonObject = {};
  #ended: JsonObject | null = null;
  #sequence = -1;
  readonly #items = new Map<number, JsonObject>();
  readonly #texts = new Map<string, string>();

  push(json: JsonObject): void {
    if (typeof json.sequence_number === 'number') this.#sequence = json.sequence_number;
    const response = objectOf(json.response);
    if (json.type === 'response.created') this.#opened = response;
    if (json.type === 'response.completed' || json.type === 'response.incomplete') this.#ended = response;
    if (isObject(json.item)) this.#items.set(Number(json.output_index ?? 0), json.item);
    for (const { key, text } of responsesLens.deltas(json)) this.#texts.set(key, (this.#texts.get(key) ?? '') + text);
  }

  whole(): JsonObject {
    if (this.#ended && listOf(this.#ended.output).length > 0) return this.#ended;
    return { ...this.#opened, output: this.#output(this.#texts) };
  }

  #output(texts: ReadonlyMap<string, string>): unknown[] {
    return [...this.#items.entries()]
      .sort(([a], [b]) => a - b)
      .map(([index, item]) => {
        if (item.type !== 'message') return restatedItem(item, index, texts);
        const parts = [...texts.entries()].filter(([key]) => key.startsWith(`${index}.`) && !key.includes('.s'));
        return { ...item, content: parts.map(([, text]) => ({ type: 'output_text', text, annotations: [] })) };
      });
  }

  refusal(delivered: ReadonlyMap<string, string>): ServerEvent[] {
    const output = this.#output(delivered).map((item) => ({ ...objectOf(item), status: 'incomplete' }));
    return [
      asEvent(responsesLens, {
        type: 'response.incomplete',
        sequence_number: this.#sequence + 1,
        response: { ...this.#opened, status: 'incomplete', incomplete_details: { reason: 'content_filter' }, output },
      }),
    ];
  }
}
