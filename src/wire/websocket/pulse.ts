/** Whether the other side is still there: one that is silent is asked, and given up when it does not answer. */
const silentMs = 30_000;
const answerMs = 16_000;

export class Pulse {
  #heardAt = performance.now();
  #askedAt: number | null = null;

  /** A sign of life. */
  heard(): void {
    this.#heardAt = performance.now();
    this.#askedAt = null;
  }

  /** What is to be done about it now. */
  look(now: number): 'wait' | 'ask' | 'give up' {
    if (this.#askedAt !== null) return now - this.#askedAt < answerMs ? 'wait' : 'give up';
    if (now - this.#heardAt < silentMs) return 'wait';
    this.#askedAt = now;
    return 'ask';
  }
}
