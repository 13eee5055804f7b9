/** Messages as guardrails see them. */
import { objectOf, parsed } from '../../../providers/json.ts';
import type { JsonObject, ServerEvent } from '../../../providers/provider.ts';
import { type Assembly, asEvent, type Lens, type TextDelta } from './lens.ts';

type DeltaField = 'text' | 'partial_json' | 'thinking';

const fields: Readonly<Record<string, DeltaField>> = {
  text_delta: 'text',
  input_json_delta: 'partial_json',
  thinking_delta: 'thinking',
};

const fieldOf = (json: JsonObject): DeltaField | null =>
  json.type === 'content_block_delta' ? (fields[String(objectOf(json.delta).type)] ?? null) : null;

const keyOf = (json: JsonObject): string => String(json.index ?? 0);

export const messagesLens: Lens = {
  deltas(json): TextDelta[] {
    const field = fieldOf(json);
    const text = field === null ? startText(json) : objectOf(json.delta)[field];
    if (typeof text !== 'string') return [];
    return [
      {
        key: keyOf(json),
        text,
        inJson: field === 'partial_json',
        ...(field === 'thinking' && { isSigned: true as const }),
      },
    ];
  },
  withTexts(json, [text = '']) {
    const field = fieldOf(json);
    if (field === null) return { ...json, content_block: { ...objectOf(json.content_block), text } };
    return text === '' ? null : { ...json, delta: { ...objectOf(json.delta), [field]: text } };
  },
  closes: (json, open) => (json.type === 'content_block_stop' ? open.filter((key) => key === keyOf(json)) : []),
  more(like, key, text) {
    const field = fieldOf(like) ?? 'text';
    const type = Object.keys(fields).find((name) => fields[name] === field);
    return { type: 'content_block_delta', index: Number(key), delta: { type, [field]: text } };
  },
  restated: (json) => json,
  numbered: (json) => json,
  textsOf(answer) {
    const texts = new Map<string, string>();
    (Array.isArray(answer.content) ? answer.content : []).forEach((entry, index) => {
      const block = objectOf(entry);
      if (block.type === 'text' && typeof block.text === 'string') texts.set(String(index), block.text);
      if (typeof block.thinking === 'string') texts.set(String(index), block.thinking);
      if (isToolUse(block)) texts.set(String(index), JSON.stringify(block.input ?? {}));
    });
    return texts;
  },
  assembly: () => new MessageAssembly(),
  named: (json) => String(json.type),
};

/** What the model asks of a tool, whoever runs it. */
const isToolUse = ({ type }: JsonObject): boolean => /tool_use$/.test(String(type));

/** Most blocks begin empty. */
const startText = (json: JsonObject): string | null => {
  const block = objectOf(json.content_block);
  return json.type === 'content_block_start' &&
    block.type === 'text' &&
    typeof block.text === 'string' &&
    block.text !== ''
    ? block.text
    : null;
};

interface Block {
  start: JsonObject;
  text: string;
  isOpen: boolean;
}

class MessageAssembly implements Assembly {
  #message: JsonObject = {};
  #stop: JsonObject = {};
  #usage: JsonObject = {};
  readonly #blocks = new Map<number, Block>();

  push(json: JsonObject): void {
    const index = Number(json.index ?? 0);
    if (json.type === 'message_start') {
      this.#message = objectOf(json.message);
      this.#usage = objectOf(this.#message.usage);
    } else if (json.type === 'content_block_start') {
      const start = objectOf(json.content_block);
      this.#blocks.set(index, { start, text: typeof start.text === 'string' ? start.text : '', isOpen: true });
    } else if (json.type === 'content_block_delta') {
      const field = fieldOf(json);
      const block = this.#blocks.get(index) ?? { start: { type: 'text' }, text: '', isOpen: true };
      if (field) block.text += String(objectOf(json.delta)[field] ?? '');
      this.#blocks.set(index, block);
    } else if (json.type === 'content_block_stop') {
      const block = this.#blocks.get(index);
      if (block) block.isOpen = false;
    } else if (json.type === 'message_delta') {
      this.#stop = { ...this.#stop, ...objectOf(json.delta) };
      this.#usage = { ...this.#usage, ...objectOf(json.usage) };
    }
  }

  whole(): JsonObject {
    const content = [...this.#blocks.entries()].sort(([a], [b]) => a - b).map(([, block]) => contentOf(block));
    return { ...this.#message, content, ...this.#stop, usage: this.#usage };
  }

  refusal(): ServerEvent[] {
    const closing = [...this.#blocks]
      .filter(([, { isOpen }]) => isOpen)
      .map(([index]) => asEvent(messagesLens, { type: 'content_block_stop', index }));
    const usage = { output_tokens: 0, ...this.#usage };
    return [
      ...closing,
      asEvent(messagesLens, { type: 'message_delta', delta: { stop_reason: 'refusal', stop_sequence: null }, usage }),
      asEvent(messagesLens, { type: 'message_stop' }),
    ];
  }
}

function contentOf({ start, text }: Block): JsonObject {
  if (start.type === 'text') return { ...start, text };
  if (start.type === 'thinking') return { ...start, thinking: text };
  return isToolUse(start) ? { ...start, input: parsed(text === '' ? '{}' : text) ?? {} } : start;
}
