/** The message item of a response in the making: its parts open, grow and close. */
import type { Annotation } from '../../chat/answer.ts';
import { objectsOf } from '../../json.ts';
import type { JsonObject } from '../../provider.ts';
import { flatAnnotation } from '../citations.ts';

/** Makes an event of the stream, with the next number. */
export type Tell = (type: string, fields: JsonObject) => JsonObject;

type Part =
  | { type: 'output_text'; text: string; annotations: JsonObject[]; logprobs: JsonObject[] }
  | { type: 'refusal'; refusal: string };

export class MessageItem {
  readonly #tell: Tell;
  readonly #id: string;
  readonly #index: number;
  readonly #parts: Part[] = [];

  constructor(tell: Tell, id: string, index: number) {
    this.#tell = tell;
    this.#id = id;
    this.#index = index;
  }

  json(status: string): JsonObject {
    return {
      id: this.#id,
      type: 'message',
      status,
      role: 'assistant',
      content: this.#parts.map((part) => ({ ...part })),
    };
  }

  say(delta: string, logprobs: readonly JsonObject[]): JsonObject[] {
    const { part, events } = this.#text();
    if (part.type !== 'output_text') return events;
    part.text += delta;
    part.logprobs.push(...logprobs);
    return [...events, this.#told('response.output_text.delta', { delta, logprobs })];
  }

  refuse(delta: string): JsonObject[] {
    const { part, events } = this.#ready('refusal', () => ({ type: 'refusal', refusal: '' }));
    if (part.type !== 'refusal') return events;
    part.refusal += delta;
    return [...events, this.#told('response.refusal.delta', { delta })];
  }

  cite(annotations: readonly Annotation[]): JsonObject[] {
    const { part, events } = this.#text();
    if (part.type !== 'output_text') return events;
    const cited = annotations.map((given) => {
      const annotation = flatAnnotation(given);
      part.annotations.push(annotation);
      const annotation_index = part.annotations.length - 1;
      return this.#told('response.output_text.annotation.added', { annotation_index, annotation });
    });
    return [...events, ...cited];
  }

  /** Closes the part that is open. */
  closePart(): JsonObject[] {
    const part = this.#parts.at(-1);
    if (!part) return [];
    const done =
      part.type === 'output_text'
        ? this.#told('response.output_text.done', { text: part.text, logprobs: part.logprobs })
        : this.#told('response.refusal.done', { refusal: part.refusal });
    return [done, this.#told('response.content_part.done', { part: { ...part } })];
  }

  #text(): { part: Part; events: JsonObject[] } {
    return this.#ready('output_text', () => ({ type: 'output_text', text: '', annotations: [], logprobs: [] }));
  }

  /** The last part where it is of this type, else a new one. */
  #ready(type: Part['type'], fresh: () => Part): { part: Part; events: JsonObject[] } {
    const last = this.#parts.at(-1);
    if (last?.type === type) return { part: last, events: [] };
    const closing = this.closePart();
    const part = fresh();
    this.#parts.push(part);
    return { part, events: [...closing, this.#told('response.content_part.added', { part: { ...part } })] };
  }

  #told(type: string, fields: JsonObject): JsonObject {
    const content_index = this.#parts.length - 1;
    return this.#tell(type, { item_id: this.#id, output_index: this.#index, content_index, ...fields });
  }
}

/** Log probabilities of a piece of text: the list inside chat's form. */
export const logprobsIn = (logprobs: unknown): readonly JsonObject[] =>
  typeof logprobs === 'object' && logprobs !== null && 'content' in logprobs ? objectsOf(logprobs.content) : [];
