/** Gives up what is under way. The web's own controller does the same at many times the price. */

/** An object that listens needs no function of its own for it. */
export type AbortListener = (() => void) | { handleEvent(): void };

/** What a call listens to. An AbortSignal is one too. */
export interface Abortable {
  readonly aborted: boolean;
  readonly reason: unknown;
  addEventListener(type: 'abort', listener: AbortListener): void;
  removeEventListener(type: 'abort', listener: AbortListener): void;
}

const none: readonly AbortListener[] = [];

const tell = (listener: AbortListener): void => (typeof listener === 'function' ? listener() : listener.handleEvent());

export class Abort implements Abortable {
  aborted = false;
  reason: unknown = undefined;
  /** As a rule there is one. */
  #listener: AbortListener | null = null;
  #others = none;

  get signal(): Abortable {
    return this;
  }

  abort(reason: unknown = new DOMException('The operation was aborted.', 'AbortError')): void {
    if (this.aborted) return;
    this.aborted = true;
    this.reason = reason;
    const first = this.#listener;
    const others = this.#others;
    this.#listener = null;
    this.#others = none;
    if (first) tell(first);
    for (const listener of others) tell(listener);
  }

  addEventListener(_: 'abort', listener: AbortListener): void {
    if (this.#listener === null) this.#listener = listener;
    else this.#others = [...this.#others, listener];
  }

  removeEventListener(_: 'abort', listener: AbortListener): void {
    if (this.#listener === listener) this.#listener = null;
    else if (this.#others.length > 0) this.#others = this.#others.filter((other) => other !== listener);
  }
}

/** For those who take nothing but the web's own. */
export function signalOf(abortable: Abortable): AbortSignal {
  if (abortable instanceof AbortSignal) return abortable;
  const controller = new AbortController();
  const follow = () => controller.abort(abortable.reason);
  if (abortable.aborted) follow();
  else abortable.addEventListener('abort', follow);
  return controller.signal;
}
