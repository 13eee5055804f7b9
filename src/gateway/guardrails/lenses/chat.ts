/** Chat completions and completions as guardrails see them. */
import { isObject, listOf, objectOf, objectsOf } from '../../../providers/json.ts';
import type { JsonObject, ServerEvent } from '../../../providers/provider.ts';
import type { Assembly, Lens, TextDelta } from './lens.ts';

/** `3`: the text of a choice; `3.1`: the arguments of one of its tools. */
const keyOf = (choice: JsonObject, tool?: JsonObject): string =>
  tool ? `${numberOf(choice.index)}.${numberOf(tool.index)}` : String(numberOf(choice.index));
const numberOf = (value: unknown): number => (typeof value === 'number' ? value : 0);

/** Every place of a text in a chunk, to read it or to write another. */
function* placesIn(json: JsonObject): Generator<{ holder: JsonObject; field: string; key: string; inJson: boolean }> {
  for (const choice of objectsOf(json.choices)) {
    if (typeof choice.text === 'string') yield { holder: choice, field: 'text', key: keyOf(choice), inJson: false };
    const delta = objectOf(choice.delta);
    if (typeof delta.content === 'string') yield { holder: delta, field: 'content', key: keyOf(choice), inJson: false };
    for (const tool of objectsOf(delta.tool_calls)) {
      const call = objectOf(tool.function);
      if (typeof call.arguments === 'string')
        yield { holder: call, field: 'arguments', key: keyOf(choice, tool), inJson: true };
    }
  }
}

export const chatLens: Lens = {
  deltas: (json) =>
    [...placesIn(json)].map(
      ({ holder, field, key, inJson }): TextDelta => ({ key, text: String(holder[field]), inJson }),
    ),
  withTexts(json, texts) {
    const copy = structuredClone(json);
    let index = 0;
    for (const { holder, field } of placesIn(copy)) holder[field] = texts[index++] ?? '';
    return texts.every((text) => text === '') && isTextAlone(copy) ? null : copy;
  },
  closes: (json, open) => {
    const ended = objectsOf(json.choices)
      .filter(({ finish_reason }) => typeof finish_reason === 'string')
      .map((choice) => keyOf(choice));
    return open.filter((key) => ended.includes(key.split('.', 1)[0] ?? ''));
  },
  more(like, key, text) {
    const [choiceIndex, toolIndex] = key.split('.').map(Number);
    const found = objectsOf(like.choices).find((choice) => numberOf(choice.index) === choiceIndex);
    const choice: JsonObject = { index: choiceIndex, finish_reason: null };
    if (toolIndex !== undefined) choice.delta = { tool_calls: [{ index: toolIndex, function: { arguments: text } }] };
    else if (found && typeof found.text === 'string') choice.text = text;
    else choice.delta = { content: text };
    const { usage: _, ...rest } = like;
    return { ...rest, choices: [choice] };
  },
  restated: (json) => json,
  numbered: (json) => json,
  textsOf(answer) {
    const texts = new Map<string, string>();
    listOf(answer.choices).forEach((entry, index) => {
      const choice = objectOf(entry);
      const message = objectOf(choice.message);
      const text = typeof choice.text === 'string' ? choice.text : message.content;
      if (typeof text === 'string') texts.set(String(index), text);
      listOf(message.tool_calls).forEach((call, tool) => {
        const written = objectOf(objectOf(call).function).arguments;
        if (typeof written === 'string') texts.set(`${index}.${tool}`, written);
      });
    });
    return texts;
  },
  assembly: () => new ChatAssembly(),
  named: () => null,
};

/** A chunk that holds nothing but text is dropped when its text is removed. */
const isTextAlone = (json: JsonObject): boolean =>
  !isObject(json.usage) &&
  objectsOf(json.choices).every((choice) => {
    const { content: _, tool_calls: calls, ...rest } = objectOf(choice.delta);
    const bareTools = objectsOf(calls).every(
      (call) => call.id === undefined && objectOf(call.function).name === undefined,
    );
    return !choice.finish_reason && bareTools && Object.values(rest).every((value) => value === null);
  });

interface Choice {
  text: string;
  isCompletion: boolean;
  tools: { id: unknown; name: unknown; arguments: string }[];
  finishReason: unknown;
}

class ChatAssembly implements Assembly {
  #head: JsonObject = {};
  #usage: unknown;
  readonly #choices: Choice[] = [];

  push(json: JsonObject): void {
    if (this.#head.id === undefined && json.id !== undefined)
      this.#head = { id: json.id, created: json.created, model: json.model };
    if (isObject(json.usage)) this.#usage = json.usage;
    for (const entry of objectsOf(json.choices)) {
      const choice = this.#choice(numberOf(entry.index));
      const delta = objectOf(entry.delta);
      if (typeof entry.text === 'string') {
        choice.text += entry.text;
        choice.isCompletion = true;
      }
      if (typeof delta.content === 'string') choice.text += delta.content;
      for (const tool of objectsOf(delta.tool_calls)) {
        const at = numberOf(tool.index);
        const call = objectOf(tool.function);
        choice.tools[at] ??= { id: tool.id, name: call.name, arguments: '' };
        if (typeof call.arguments === 'string') choice.tools[at].arguments += call.arguments;
      }
      if (entry.finish_reason) choice.finishReason = entry.finish_reason;
    }
  }

  #choice(index: number): Choice {
    const at = Math.min(index, 1_000);
    this.#choices[at] ??= { text: '', isCompletion: false, tools: [], finishReason: null };
    return this.#choices[at];
  }

  whole(): JsonObject {
    const isCompletion = this.#choices.some((choice) => choice?.isCompletion);
    return {
      ...this.#head,
      object: isCompletion ? 'text_completion' : 'chat.completion',
      choices: this.#choices.map((choice, index) =>
        isCompletion ? { index, text: choice.text, finish_reason: choice.finishReason } : messageOf(choice, index),
      ),
      ...(this.#usage !== undefined && { usage: this.#usage }),
    };
  }

  refusal(): ServerEvent[] {
    const isCompletion = this.#choices.some((choice) => choice?.isCompletion);
    const open = this.#choices.flatMap((choice, index) => (choice.finishReason ? [] : [index]));
    const chunk = {
      ...this.#head,
      object: isCompletion ? 'text_completion' : 'chat.completion.chunk',
      choices: (open.length > 0 ? open : [0]).map((index) => ({
        index,
        ...(isCompletion ? { text: '' } : { delta: {} }),
        finish_reason: 'content_filter',
      })),
    };
    return [
      { event: null, data: JSON.stringify(chunk) },
      { event: null, data: '[DONE]' },
    ];
  }
}

const messageOf = ({ text, tools, finishReason }: Choice, index: number): JsonObject => ({
  index,
  message: {
    role: 'assistant',
    content: text === '' && tools.length > 0 ? null : text,
    ...(tools.length > 0 && {
      tool_calls: tools.map(({ id, name, arguments: written }) => ({
        id,
        type: 'function',
        function: { name, arguments: written },
      })),
    }),
  },
  finish_reason: finishReason,
});
