/** One request's answer as it comes in over a connection: the head, then the body, then the question what the connection is good for. */

import { closedByServer, WireFault } from '../fault.ts';
import { BodyFrames } from '../http1/body-frames.ts';
import { type Flow, IncomingBody } from '../http1/incoming-body.ts';
import type { WireAnswer } from './answer.ts';
import { type AnswerHead, readHead, refuseOther } from './answer-head.ts';
import type { Bytes } from './collected.ts';

const longestHead = 256 * 1024;
const blankLine = Buffer.from('\r\n\r\n');
/** Nobody asked for another protocol. */
const switching = 101;

export class ResponseReader {
  /** Nothing of an answer has come. */
  silent = true;
  /** The whole answer has come. */
  over = false;
  readonly #flow: Flow;
  readonly #toHead: boolean;
  readonly answer: Promise<WireAnswer>;
  /** Null once it has answered: bodies take long, and whatever is kept for so long is kept thousands of times. */
  #answering: PromiseWithResolvers<WireAnswer> | null;
  #opening: Buffer<ArrayBuffer> | null = null;
  /** The size of the answers that only told of another to come. */
  #interim = 0;
  #endsByClosing = false;
  /** As the answer's head says. */
  #keptSeconds = 0;
  #frames: BodyFrames | null = null;
  #body: IncomingBody | null = null;
  #excess = false;

  constructor(flow: Flow, method: string) {
    this.#flow = flow;
    this.#toHead = method === 'HEAD';
    this.#answering = Promise.withResolvers();
    this.answer = this.#answering.promise;
  }

  /** Throws when this cannot be an answer. */
  receive(bytes: Buffer<ArrayBuffer>): void {
    this.silent = false;
    const rest = this.#frames ? bytes : this.#receiveHead(bytes);
    if (rest === null || this.over) return;
    if (rest.length > 0) this.#receiveBody(rest);
  }

  /** The server has closed the connection: some answers end so, others are broken. */
  closed(fault: unknown): void {
    if (this.over) return;
    if (this.#endsByClosing && fault === null) {
      this.#end();
      return;
    }
    this.break(fault ?? closedByServer());
  }

  /** Another connection answers in its place. */
  redo(answer: Promise<WireAnswer>): void {
    this.over = true;
    this.#settle(answer);
  }

  break(fault: unknown): void {
    if (this.over) return;
    this.over = true;
    if (this.#body) this.#body.break(fault);
    else this.#answering?.reject(fault);
    this.#answering = null;
  }

  /** For how many seconds the connection can wait for another request; 0 when it is of no more use. */
  get worthKeeping(): number {
    return this.#excess ? 0 : this.#keptSeconds;
  }

  /** What comes behind the head, or null while that is not complete. */
  #receiveHead(bytes: Buffer<ArrayBuffer>): Bytes | null {
    let rest = this.#opening ? Buffer.concat([this.#opening, bytes]) : bytes;
    let from = this.#opening ? Math.max(0, this.#opening.length - blankLine.length) : 0;
    for (;;) {
      const end = rest.indexOf(blankLine, from);
      if (this.#interim + (end < 0 ? rest.length : end) > longestHead) throw tooLargeHead();
      if (end < 0) {
        refuseOther(rest);
        this.#opening = rest;
        return null;
      }
      const head = readHead(rest.toString('latin1', 0, end + 2), this.#toHead);
      rest = rest.subarray(end + blankLine.length);
      if (head.status === switching) throw new WireFault('InvalidAnswer', 'the server speaks another protocol now');
      if (head.status >= 200) {
        this.#opening = null;
        this.#begin(head, rest);
        return rest;
      }
      // Not the answer yet, but a server that says so without end says nothing.
      this.#interim += end + blankLine.length;
      from = 0;
    }
  }

  #begin(head: AnswerHead, rest: Bytes): void {
    const { status, headers, framing } = head;
    this.#endsByClosing = framing?.by === 'close';
    if (head.persists) this.#keptSeconds = Math.min(longestKept, head.persistsSeconds ?? longestKept) - 1;
    if (!framing) {
      this.#excess = rest.length > 0;
      this.over = true;
      this.#settle({ status, headers, body: null });
      return;
    }
    this.#frames = new BodyFrames(framing);
    this.#body = new IncomingBody(this.#flow);
    this.#settle({ status, headers, body: this.#body });
    if (this.#frames.endedAt === 0) {
      this.#excess = rest.length > 0;
      this.#end();
    }
  }

  #receiveBody(bytes: Bytes): void {
    const piece = this.#frames?.push(bytes);
    if (piece?.length) this.#body?.push(piece);
    // Whoever took the piece may have given up the call.
    if (this.over) return;
    const endedAt = this.#frames?.endedAt ?? -1;
    if (endedAt < 0) return;
    this.#excess = endedAt < bytes.length;
    this.#end();
  }

  #settle(answer: WireAnswer | Promise<WireAnswer>): void {
    this.#answering?.resolve(answer);
    this.#answering = null;
  }

  #end(): void {
    this.over = true;
    this.#body?.complete();
  }
}

const longestKept = 60;

const tooLargeHead = (): WireFault =>
  new WireFault('HeadTooLarge', `the headers of the answer are larger than ${longestHead} bytes`);
