/** Waiting for something that others may wait for too, until the one request gives it up. */
import type { Abortable } from '../../wire/abort.ts';

/** A name server or a token service that stays silent must not outlast the request's own deadline; others may go on waiting. */
export function unlessGivenUp<T>(checked: Promise<T>, signal: Abortable): Promise<T> {
  return new Promise((resolve, reject) => {
    const stop = () => reject(signal.reason);
    signal.addEventListener('abort', stop);
    if (signal.aborted) stop();
    checked.then(resolve, reject).finally(() => signal.removeEventListener('abort', stop));
  });
}
