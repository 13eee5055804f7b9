/** Long work that lets others have their turn: a generator yields wherever it may be interrupted. */

export type InTurns<T> = Generator<void, T, void>;

/** All of it now. */
export function atOnce<T>(work: InTurns<T>): T {
  for (;;) {
    const step = work.next();
    if (step.done) return step.value;
  }
}

const turnMs = 10;

/** A few milliseconds at a time, so that it holds up nothing else in the process. */
export async function inTurns<T>(work: InTurns<T>): Promise<T> {
  for (;;) {
    const until = performance.now() + turnMs;
    do {
      const step = work.next();
      if (step.done) return step.value;
    } while (performance.now() < until);
    await new Promise<void>((resolve) => setImmediate(resolve));
  }
}
