/** The items of a conversation in their order, as the client is told of them. */
import type { JsonObject } from '../../provider.ts';
import type { LiveOutbox } from './outbox.ts';

export type Item = JsonObject & { id: string };

export class Thread {
  readonly #outbox: LiveOutbox;
  /** The item that stands last. */
  last: string | null = null;

  constructor(outbox: LiveOutbox) {
    this.#outbox = outbox;
  }

  added(item: Item): void {
    this.#outbox.tell('conversation.item.added', { previous_item_id: this.last, item });
    this.last = item.id;
  }

  done(item: Item): void {
    this.#outbox.tell('conversation.item.done', { item });
  }
}
