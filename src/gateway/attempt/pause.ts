/** Waits between two tries, cut short when the client leaves. */
import type { Abortable } from '../../wire/abort.ts';

export type Pause = (ms: number, clientGone: Abortable) => Promise<void>;

export const pause: Pause = (ms, clientGone) =>
  new Promise((resolve) => {
    const timer = setTimeout(finish, ms);
    clientGone.addEventListener('abort', finish);
    if (clientGone.aborted) finish();
    function finish() {
      clearTimeout(timer);
      clientGone.removeEventListener('abort', finish);
      resolve();
    }
  });
