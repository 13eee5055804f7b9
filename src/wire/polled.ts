/** What comes piece by piece, asked for without a promise for each piece: a promise that has waited keeps what it brought, long after that was used, until all of the memory is looked through. */
export interface Waker {
  /** Something has come: ask again. */
  wake(): void;
}

export interface Polled<T> {
  /** What is there; null when nothing is, and then the waker is told once something has come. Throws where nothing will. */
  poll(waker: Waker): T | null;
}

/** For those who wait for a single piece. */
export function promised<T>(source: Polled<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    const waker = {
      wake() {
        try {
          const piece = source.poll(waker);
          if (piece !== null) resolve(piece);
        } catch (fault) {
          reject(fault);
        }
      },
    };
    waker.wake();
  });
}
