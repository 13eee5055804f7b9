/** Feedback that calls themselves give: gathered for a moment, then saved together. While the store does not take it, the newest wait. */
import { faultFields, type Log } from '../log.ts';
import type { Feedback } from './query.ts';

const flushMs = 500;
const mostSaved = 500;
const mostHeld = 20_000;

export class FeedbackBuffer {
  readonly #save: (feedback: readonly Feedback[]) => Promise<void>;
  readonly #log: Log;
  #held: Feedback[] = [];
  #timer: ReturnType<typeof setTimeout> | null = null;
  #saving: Promise<void> | null = null;

  constructor(save: (feedback: readonly Feedback[]) => Promise<void>, log: Log) {
    this.#save = save;
    this.#log = log;
  }

  add(feedback: readonly Feedback[]): void {
    this.#held.push(...feedback);
    if (this.#held.length > mostHeld) {
      const lost = this.#held.splice(0, this.#held.length - mostHeld).length;
      this.#log.warn('Feedback of guardrails is dropped: the log store does not take it.', { dropped: lost });
    }
    this.#timer ??= setTimeout(() => void this.#flush(), flushMs);
  }

  /** Saves what is held, as far as the store takes it. */
  async close(): Promise<void> {
    await this.#flush();
    if (this.#timer) clearTimeout(this.#timer);
  }

  #flush(): Promise<void> {
    this.#saving ??= this.#saveHeld().finally(() => {
      this.#saving = null;
    });
    return this.#saving;
  }

  async #saveHeld(): Promise<void> {
    if (this.#timer) clearTimeout(this.#timer);
    this.#timer = null;
    while (this.#held.length > 0) {
      const some = this.#held.slice(0, mostSaved);
      try {
        await this.#save(some);
      } catch (fault) {
        this.#log.warn('Feedback of guardrails could not be saved; it is tried again.', faultFields(fault));
        this.#timer = setTimeout(() => void this.#flush(), flushMs);
        return;
      }
      const saved = new Set(some);
      this.#held = this.#held.filter((one) => !saved.has(one));
    }
  }
}
