/** What is to be said to each side of a session. Nothing but the setup is said to the provider before it has agreed to it. */
import type { JsonObject, Relayed } from '../../provider.ts';

export class LiveOutbox {
  readonly #newId: (prefix: string) => string;
  #toClient: string[] = [];
  #toProvider: string[] = [];
  #waiting: string[] = [];
  #agreed = false;
  /** Characters that wait for the provider's word. */
  held = 0;

  constructor(newId: (prefix: string) => string) {
    this.#newId = newId;
  }

  /** An event of OpenAI's, for the client. */
  tell(type: string, fields: JsonObject): void {
    this.#toClient.push(JSON.stringify({ type, event_id: this.#newId('event_'), ...fields }));
  }

  setUp(setup: JsonObject): void {
    this.#toProvider.push(JSON.stringify({ setup }));
  }

  ask(message: JsonObject): void {
    const text = JSON.stringify(message);
    if (this.#agreed) this.#toProvider.push(text);
    else {
      this.#waiting.push(text);
      this.held += text.length;
    }
  }

  /** The provider has taken the setup. */
  agreed(): void {
    this.#agreed = true;
    this.#toProvider.push(...this.#waiting);
    this.#waiting = [];
    this.held = 0;
  }

  take(): Relayed {
    const relayed = { toClient: this.#toClient, toProvider: this.#toProvider };
    this.#toClient = [];
    this.#toProvider = [];
    return relayed;
  }
}
