/** What is still going on after its handler returned: open streams, records not yet written. A shutdown waits for it. */
export class InFlight {
  #count = 0;
  #waiting: (() => void)[] = [];

  /** How many are going on now. */
  get count(): number {
    return this.#count;
  }

  /** Counts one thing in; the answer counts it out, once. */
  enter(): () => void {
    this.begin();
    let inside = true;
    return () => {
      if (!inside) return;
      inside = false;
      this.end();
    };
  }

  /** For those who count it out by themselves, once. */
  begin(): void {
    this.#count++;
  }

  end(): void {
    this.#count--;
    if (this.#count > 0 || this.#waiting.length === 0) return;
    for (const resolve of this.#waiting) resolve();
    this.#waiting = [];
  }

  none(): Promise<void> {
    if (this.#count === 0) return Promise.resolve();
    return new Promise((resolve) => this.#waiting.push(resolve));
  }
}
