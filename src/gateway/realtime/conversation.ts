/** The items of a session's conversation in their order, for the log; the oldest give way when they grow too many. */
import type { JsonObject } from '../../providers/provider.ts';
import { objectIn, type ProviderEvent, textIn } from './events.ts';

const mostCharacters = 256 * 1024;

interface Kept {
  fields: JsonObject;
  text: string;
}

export class SessionConversation {
  readonly #items = new Map<string, Kept>();
  #length = 0;
  #leftOut = 0;

  observe({ type, fields }: ProviderEvent): void {
    if (!type.startsWith('conversation.item.')) return;
    const item = objectIn(fields.item);
    const id = textIn(item?.id) ?? textIn(fields.item_id);
    if (id === null) return;
    if (type === 'conversation.item.deleted') this.#forget(id);
    else if (item) this.#keep(id, item);
    else this.#addTranscript(id, textIn(fields.transcript));
  }

  /** As JSON. Each item was written once, so that a long conversation costs little for every response. */
  get text(): string {
    const items = [...this.#items.values()].map(({ text }) => text).join(',');
    return `{"items":[${items}]${this.#leftOut > 0 ? `,"items_left_out":${this.#leftOut}` : ''}}`;
  }

  /** An item that is known keeps its place. */
  #keep(id: string, fields: JsonObject): void {
    const text = JSON.stringify(fields);
    this.#length += text.length - (this.#items.get(id)?.text.length ?? 0);
    this.#items.set(id, { fields, text });
    for (const oldest of this.#items.keys()) {
      if (this.#length <= mostCharacters) break;
      this.#forget(oldest);
      this.#leftOut++;
    }
  }

  #forget(id: string): void {
    this.#length -= this.#items.get(id)?.text.length ?? 0;
    this.#items.delete(id);
  }

  /** What the user said is written down only after the item was made. */
  #addTranscript(id: string, transcript: string | null): void {
    const known = this.#items.get(id);
    if (known && transcript !== null) this.#keep(id, { ...known.fields, transcript });
  }
}
