/** Heads that were read lately. A client says the same with every request, but for the length of its body: that is read once. */
import { type RequestHead, readRequestHead, withLength } from './request-head.ts';

const mostKnown = 500;
/** Longer ones, mostly with a config or metadata of their own, would fill the memory. */
const longestKnown = 4_096;

const mostDigits = 15;
/** Anything else behind this name is no length. */
const lengthLine = new RegExp(`\\r\\ncontent-length:[ \\t]*(\\d{1,${mostDigits}})[ \\t]*(?=\\r\\n)`, 'i');
const zero = 48;

/** A head around the length that it tells. */
interface Around {
  before: string;
  after: string;
  head: RequestHead;
}

export class RequestHeadCache {
  readonly #known = new Map<string, RequestHead>();
  /** The one that came last, which mostly is the next one, too. */
  #last: Around | null = null;

  /** The head in this text, which goes up to the blank line behind it. Throws a `RefusedHead` where it is not served. */
  read(text: string): RequestHead {
    const again = this.#last && lengthWithin(text, this.#last);
    if (this.#last && again !== null) return withLength(this.#last.head, again);
    const told = lengthLine.exec(text);
    if (!told) return this.#rest(text);
    const [line, length = ''] = told;
    const end = told.index + line.length;
    const head = this.#rest(text.slice(0, told.index) + text.slice(end));
    if (text.length <= longestKnown) {
      const at = text.lastIndexOf(length, end);
      this.#last = { before: text.slice(0, at), after: text.slice(at + length.length), head };
    }
    return withLength(head, Number(length));
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

/** The length that a head tells; null where it is not the one that was read before. */
function lengthWithin(text: string, { before, after }: Around): number | null {
  const end = text.length - after.length;
  const digits = end - before.length;
  if (digits < 1 || digits > mostDigits || !text.startsWith(before) || !text.endsWith(after)) return null;
  let length = 0;
  for (let at = before.length; at < end; at++) {
    const digit = text.charCodeAt(at) - zero;
    if (digit < 0 || digit > 9) return null;
    length = length * 10 + digit;
  }
  return length;
}
