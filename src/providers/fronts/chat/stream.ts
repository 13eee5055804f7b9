/** A streamed answer, written as chunks of a chat completion. */

import type { AnswerEvent, AnswerWriter } from '../../chat/answer.ts';
import type { MediaPart } from '../../chat/conversation.ts';
import { wordOf } from '../../json.ts';
import type { CallFacts, JsonObject, ServerEvent, Usage } from '../../provider.ts';
import { finishWord, ToldCalls } from './calls.ts';
import { isSound, shownPiece } from './media.ts';
import { chatUsage } from './usage.ts';

const done: ServerEvent = { event: null, data: '[DONE]' };

export function chatWriter(facts: CallFacts): AnswerWriter {
  const options = facts.body.stream_options;
  const wantsUsage = typeof options === 'object' && options !== null && 'include_usage' in options;
  return new ChatWriter(facts, wantsUsage && options.include_usage === true);
}

class ChatWriter implements AnswerWriter {
  readonly #facts: CallFacts;
  readonly #wantsUsage: boolean;
  readonly #created: number;
  readonly #calls: ToldCalls;
  #id: string | null = null;
  #model: string | null = null;
  #usage: Usage | null = null;
  /** Choices that have said who speaks. */
  readonly #opened = new Set<number>();
  /** The last word of each choice, held until the usage is known. */
  readonly #finished = new Map<number, string>();
  /** Choices whose sound has begun. */
  readonly #sounding = new Set<number>();
  /** How many blocks each choice has shown, for clients that read them. */
  readonly #blocks = new Map<number, { index: number; type: string }>();

  constructor(facts: CallFacts, wantsUsage: boolean) {
    this.#facts = facts;
    this.#wantsUsage = wantsUsage;
    this.#created = facts.now();
    this.#calls = new ToldCalls(facts);
  }

  write(event: AnswerEvent): ServerEvent[] {
    switch (event.type) {
      case 'start':
        this.#id ??= event.id;
        this.#model ??= event.model;
        return this.#opening(0);
      case 'text':
        return this.#delta(
          event.choice,
          { content: event.text, ...this.#block(event.choice, 'text', { text: event.text }) },
          { ...(event.logprobs !== undefined && { logprobs: event.logprobs }) },
        );
      case 'refusal':
        return this.#delta(event.choice, { refusal: event.text });
      case 'thinking':
        return this.#extra(event.choice, {
          reasoning_content: event.text,
          ...this.#block(event.choice, 'thinking', { thinking: event.text }),
        });
      case 'signature':
        return this.#extra(event.choice, this.#signed(event.choice, event.signature));
      case 'redacted-thinking':
        return this.#extra(event.choice, this.#block(event.choice, 'redacted_thinking', { data: event.content }, true));
      case 'block':
        return this.#extra(event.choice, this.#block(event.choice, wordOf(event.block.type), event.block, true));
      case 'tool-call':
        return this.#told(event.choice, this.#calls.opened(event));
      case 'arguments':
        return this.#told(event.choice, this.#calls.argued(event));
      case 'media':
        return this.#shown(event.choice, event.media);
      case 'annotations':
        return this.#delta(event.choice, { annotations: event.annotations });
      case 'finish':
        if (!this.#finished.has(event.choice)) this.#finished.set(event.choice, this.#said(event));
        return this.#opening(event.choice);
      case 'usage':
        this.#usage = event.usage;
        return [];
      case 'extras':
        return this.#facts.strict ? [] : [this.#event([], event.fields)];
    }
  }

  end(): ServerEvent[] {
    if (this.#finished.size === 0 || this.#finished.size < this.#opened.size) return [];
    const usage = this.#usage && { usage: chatUsage(this.#usage) };
    const choices = [...this.#finished];
    const last = choices.map(([choice, reason], index) =>
      this.#choice(
        choice,
        {},
        { finish_reason: reason },
        index === choices.length - 1 && !this.#wantsUsage ? usage : {},
      ),
    );
    const rest = this.#calls.rest().map(({ choice, delta }) => this.#choice(choice, delta));
    return [...rest, ...last, ...(usage && this.#wantsUsage ? [this.#event([], usage)] : []), done];
  }

  #opening(choice: number): ServerEvent[] {
    if (this.#opened.has(choice)) return [];
    this.#opened.add(choice);
    return [this.#choice(choice, { role: 'assistant', content: '' })];
  }

  #delta(choice: number, delta: JsonObject, more: JsonObject = {}): ServerEvent[] {
    return [...this.#opening(choice), this.#choice(choice, delta, more)];
  }

  #told(choice: number, delta: JsonObject | null): ServerEvent[] {
    return delta ? this.#delta(choice, delta) : this.#opening(choice);
  }

  #shown(choice: number, media: MediaPart): ServerEvent[] {
    const isFirstSound = !this.#sounding.has(choice);
    if (isSound(media)) this.#sounding.add(choice);
    return this.#delta(choice, shownPiece(media, this.#facts, isFirstSound));
  }

  /** What strict clients are spared. */
  #extra(choice: number, delta: JsonObject): ServerEvent[] {
    return this.#facts.strict ? this.#opening(choice) : this.#delta(choice, delta);
  }

  #said({ reason, providerReason }: Extract<AnswerEvent, { type: 'finish' }>): string {
    const word = finishWord(reason, this.#facts);
    return this.#facts.strict ? word : (providerReason ?? word);
  }

  /** A piece of a block, under the number that the block has in its message. */
  #block(choice: number, type: string, delta: Readonly<JsonObject>, whole = false): JsonObject {
    if (this.#facts.strict) return {};
    const last = this.#blocks.get(choice);
    const current = last?.type === type && !whole ? last : { index: (last?.index ?? -1) + 1, type };
    this.#blocks.set(choice, whole ? { ...current, type: '' } : current);
    return { content_blocks: [{ index: current.index, delta }] };
  }

  /** A signature ends its thought: the next one is another block. */
  #signed(choice: number, signature: string): JsonObject {
    const written = this.#block(choice, 'thinking', { signature });
    const last = this.#blocks.get(choice);
    if (last) this.#blocks.set(choice, { ...last, type: '' });
    return written;
  }

  #choice(index: number, delta: JsonObject, more: JsonObject = {}, beside: JsonObject | null = null): ServerEvent {
    return this.#event([{ index, delta, logprobs: null, finish_reason: null, ...more }], beside ?? {});
  }

  #event(choices: readonly JsonObject[], more: Readonly<JsonObject> = {}): ServerEvent {
    this.#id ??= this.#facts.newId('chatcmpl-');
    const chunk = {
      id: this.#id,
      object: 'chat.completion.chunk',
      created: this.#created,
      model: this.#model ?? this.#facts.model,
      provider: this.#facts.provider,
      choices,
      ...more,
    };
    return { event: null, data: JSON.stringify(chunk) };
  }
}
