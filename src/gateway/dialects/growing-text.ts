/** A text that comes in small pieces. */

/** A piece keeps all of the event alive that it was cut from; pieces that are joined are a text of their own. */
const mostLoose = 4;

export class GrowingText {
  #joined = '';
  #loose: string[] = [];

  push(piece: string): void {
    if (this.#loose.push(piece) === mostLoose) this.#join();
  }

  get whole(): string {
    this.#join();
    return this.#joined;
  }

  #join(): void {
    this.#joined += this.#loose.join('');
    this.#loose = [];
  }
}
