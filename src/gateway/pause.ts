/** Waits between two tries, cut short when the client leaves. */
export type Pause = (ms: number, clientGone: AbortSignal) => Promise<void>;

export const pause: Pause = (ms, clientGone) =>
  new Promise((resolve) => {
    const timer = setTimeout(finish, ms);
    clientGone.addEventListener('abort', finish, { once: true });
    if (clientGone.aborted) finish();
    function finish() {
      clearTimeout(timer);
      clientGone.removeEventListener('abort', finish);
      resolve();
    }
  });
