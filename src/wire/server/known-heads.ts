/** Heads that were read lately. A client says the same with every request, but for the length of its body: that is read once. */
import { type RequestHead, readRequestHead, withLength } from './request-head.ts';

const mostKnown = 500;
/** Longer ones, mostly with a config or metadata of their own, would fill the memory. */
const longestKnown = 4_096;

/** Anything else behind this name is no length. */
const lengthLine = /\r\ncontent-length:[ \t]*(\d{1,15})[ \t]*(?=\r\n)/i;

export class KnownHeads {
  readonly #known = new Map<string, RequestHead>();

  /** The head in this text, which goes up to the blank line behind it. Throws a `RefusedHead` where it is not served. */
  read(text: string): RequestHead {
    const told = lengthLine.exec(text);
    if (!told) return this.#rest(text);
    const [line, length] = told;
    const rest = text.slice(0, told.index) + text.slice(told.index + line.length);
    return withLength(this.#rest(rest), Number(length));
  }

  #rest(text: string): RequestHead {
    const known = this.#known.get(text);
    if (known) return known;
    const head = readRequestHead(text);
    if (text.length > longestKnown) return head;
    if (this.#known.size >= mostKnown) this.#known.clear();
    this.#known.set(text, head);
    return head;
  }
}
