/** A thought of a response in the making: told as its summary, closed with what proves it to its provider. */
import type { JsonObject } from '../../provider.ts';
import { seal } from '../sealed.ts';
import type { Tell } from './parts.ts';

export class ThoughtItem {
  readonly #tell: Tell;
  readonly #id: string;
  readonly #index: number;
  #text = '';
  #signature: string | null = null;

  constructor(tell: Tell, id: string, index: number) {
    this.#tell = tell;
    this.#id = id;
    this.#index = index;
  }

  get index(): number {
    return this.#index;
  }

  json(): JsonObject {
    return {
      id: this.#id,
      type: 'reasoning',
      summary: this.#text === '' ? [] : [summary(this.#text)],
      ...(this.#signature !== null && {
        encrypted_content: seal({ holds: 'signature', signature: this.#signature }),
      }),
    };
  }

  think(delta: string): JsonObject[] {
    const opening =
      this.#text === '' ? [this.#told('response.reasoning_summary_part.added', { part: summary('') })] : [];
    this.#text += delta;
    return [...opening, this.#told('response.reasoning_summary_text.delta', { delta })];
  }

  sign(signature: string): void {
    this.#signature = signature;
  }

  close(): JsonObject[] {
    if (this.#text === '') return [];
    return [
      this.#told('response.reasoning_summary_text.done', { text: this.#text }),
      this.#told('response.reasoning_summary_part.done', { part: summary(this.#text) }),
    ];
  }

  #told(type: string, fields: JsonObject): JsonObject {
    return this.#tell(type, { item_id: this.#id, output_index: this.#index, summary_index: 0, ...fields });
  }
}

const summary = (text: string): JsonObject => ({ type: 'summary_text', text });
