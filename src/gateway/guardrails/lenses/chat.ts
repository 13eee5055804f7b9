/** Chat completions and completions as guardrails see them. */

import { besideContent } from '../../../guardrails/text/segments.ts';
import { isObject, listOf, objectOf, objectsOf } from '../../../providers/json.ts';
import type { JsonObject, ServerEvent } from '../../../providers/provider.ts';
import type { Assembly, Lens, TextDelta } from './lens.ts';

/** `3`: the text of a choice; `3.1`: the arguments of one of its tools; `3.function_call`: those of the older form; `3.refusal`: a text beside its content. */
const keyOf = (choice: JsonObject, tool?: JsonObject): string =>
  tool ? `${numberOf(choice.index)}.${numberOf(tool.index)}` : String(numberOf(choice.index));
const numberOf = (value: unknown): number => (typeof value === 'number' ? value : 0);

/** Every place of a text in a chunk, to read it or to write another. */
function* placesIn(json: JsonObject): Generator<{ holder: JsonObject; field: string; key: string; inJson: boolean }> {
  for (const choice of objectsOf(json.choices)) {
    if (typeof choice.text === 'string') yield { holder: choice, field: 'text', key: keyOf(choice), inJson: false };
    const delta = objectOf(choice.delta);
    if (typeof delta.content === 'string') yield { holder: delta, field: 'content', key: keyOf(choice), inJson: false };
    for (const field of besideContent) {
      if (typeof delta[field] === 'string')
        yield { holder: delta, field, key: `${keyOf(choice)}.${field}`, inJson: false };
    }
    const older = objectOf(delta.function_call);
    if (typeof older.arguments === 'string')
      yield { holder: older, field: 'arguments', key: `${keyOf(choice)}.function_call`, inJson: true };
    for (const tool of objectsOf(delta.tool_calls)) {
      const call = objectOf(tool.function);
      const custom = objectOf(tool.custom);
      if (typeof call.arguments === 'string')
        yield { holder: call, field: 'arguments', key: keyOf(choice, tool), inJson: true };
      if (typeof custom.input === 'string')
        yield { holder: custom, field: 'input', key: keyOf(choice, tool), inJson: false };
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
    let isChanged = false;
    for (const { holder, field } of placesIn(copy)) {
      const text = texts[index++] ?? '';
      isChanged ||= text !== holder[field];
      holder[field] = text;
    }
    // They spell what was held back or replaced.
    if (isChanged) for (const choice of objectsOf(copy.choices)) if (choice.logprobs) choice.logprobs = null;
    return texts.every((text) => text === '') && isTextAlone(copy) ? null : copy;
  },
  closes: (json, open) => {
    const ended = objectsOf(json.choices)
      .filter(({ finish_reason }) => typeof finish_reason === 'string')
      .map((choice) => keyOf(choice));
    return open.filter((key) => ended.includes(key.split('.', 1)[0] ?? ''));
  },
  more(like, key, text) {
    const [first = '', part] = key.split('.');
    const choiceIndex = Number(first);
    const found = objectsOf(like.choices).find((choice) => numberOf(choice.index) === choiceIndex);
    const choice: JsonObject = { index: choiceIndex, finish_reason: null };
    if (part === 'function_call') choice.delta = { function_call: { arguments: text } };
    else if (part !== undefined && besideContent.includes(part)) choice.delta = { [part]: text };
    else if (part !== undefined) choice.delta = { tool_calls: [moreOfTool(found, Number(part), text)] };
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
      for (const field of besideContent) {
        const beside = message[field];
        if (typeof beside === 'string') texts.set(`${index}.${field}`, beside);
      }
      const older = objectOf(message.function_call).arguments;
      if (typeof older === 'string') texts.set(`${index}.function_call`, older);
      listOf(message.tool_calls).forEach((call, tool) => {
        const written = objectOf(objectOf(call).function).arguments ?? objectOf(objectOf(call).custom).input;
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
    const { content: _, tool_calls: calls, function_call: older, ...rest } = objectOf(choice.delta);
    const bareTools = objectsOf(calls).every(
      (call) => call.id === undefined && (objectOf(call.function).name ?? objectOf(call.custom).name) === undefined,
    );
    const isBare = bareTools && objectOf(older).name === undefined;
    return (
      !choice.finish_reason &&
      isBare &&
      Object.entries(rest).every(([name, value]) => value === null || (value === '' && besideContent.includes(name)))
    );
  });

const moreOfTool = (like: JsonObject | undefined, index: number, text: string): JsonObject => {
  const tool = objectsOf(objectOf(like?.delta).tool_calls).find((call) => numberOf(call.index) === index);
  return isObject(tool?.custom) ? { index, custom: { input: text } } : { index, function: { arguments: text } };
};

interface Choice {
  text: string;
  isCompletion: boolean;
  /** Texts beside the content, by their fields. */
  beside: Map<string, string>;
  older: { name: unknown; arguments: string } | null;
  tools: { id: unknown; name: unknown; arguments: string; isCustom: boolean }[];
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
      for (const field of besideContent) {
        const text = delta[field];
        if (typeof text === 'string') choice.beside.set(field, (choice.beside.get(field) ?? '') + text);
      }
      if (isObject(delta.function_call)) {
        const { name, arguments: written } = delta.function_call;
        choice.older ??= { name, arguments: '' };
        if (typeof written === 'string') choice.older.arguments += written;
      }
      for (const tool of objectsOf(delta.tool_calls)) {
        const at = numberOf(tool.index);
        const call = objectOf(tool.function);
        const custom = objectOf(tool.custom);
        choice.tools[at] ??= {
          id: tool.id,
          name: call.name ?? custom.name,
          arguments: '',
          isCustom: isObject(tool.custom),
        };
        if (typeof custom.input === 'string') choice.tools[at].arguments += custom.input;
        if (typeof call.arguments === 'string') choice.tools[at].arguments += call.arguments;
      }
      if (entry.finish_reason) choice.finishReason = entry.finish_reason;
    }
  }

  #choice(index: number): Choice {
    const at = Math.max(0, Math.min(Math.trunc(index), 1_000));
    this.#choices[at] ??= {
      text: '',
      isCompletion: false,
      beside: new Map(),
      older: null,
      tools: [],
      finishReason: null,
    };
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

const messageOf = ({ text, beside, older, tools, finishReason }: Choice, index: number): JsonObject => ({
  index,
  message: {
    role: 'assistant',
    content: text === '' && (tools.length > 0 || older) ? null : text,
    ...Object.fromEntries(beside),
    ...(older && { function_call: older }),
    ...(tools.length > 0 && {
      tool_calls: tools.map(({ id, name, arguments: written, isCustom }) =>
        isCustom
          ? { id, type: 'custom', custom: { name, input: written } }
          : { id, type: 'function', function: { name, arguments: written } },
      ),
    }),
  },
  finish_reason: finishReason,
});
