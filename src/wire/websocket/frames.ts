/** Reads what a client says out of the bytes as they come, however they are cut. Masks are taken off in place. */
import { isUtf8 } from 'node:buffer';
import { closeCode, readCloseFrame, withoutWord } from './close-frame.ts';
import { FrameHead } from './frame-head.ts';
import { Gathered } from './gathered.ts';
import { isControl, longestControl, opcode } from './opcode.ts';
import type { SocketMessage } from './relay.ts';
import { turned, unmask } from './unmask.ts';

interface FrameListener {
  message(frame: SocketMessage): void;
  ping(payload: Uint8Array): void;
  /** A frame that is no message. */
  overhead(): void;
  /** A message under way takes so many bytes more, or less; false where there is no room for it. */
  gathers(bytes: number): boolean;
  /** The client has said its last word. */
  left(code: number, reason: string): void;
  /** It said what it must not, and is to be closed with this code. Of what follows only its last word is told. */
  refused(code: number, reason: string): void;
}

export class FrameReader {
  readonly #listener: FrameListener;
  /** Bytes of a message, over all its fragments. */
  readonly #limit: number;
  readonly #head = new FrameHead();
  /** Bytes that are to come of the payload. */
  #left = 0;
  #mask = 0;
  /** What the message under way is; `continuation` when there is none. */
  #kind: number = opcode.continuation;
  readonly #message = new Gathered();
  readonly #control = new Gathered();
  /** Only a close frame counts any more. */
  #deaf = false;
  #over = false;
  #held = false;
  /** What came while it was held. */
  #waiting: Uint8Array[] = [];
  /** What the message under way was granted of the memory for such. */
  #granted = 0;

  constructor(listener: FrameListener, limit: number) {
    this.#listener = listener;
    this.#limit = limit;
  }

  push(bytes: Uint8Array): void {
    if (this.#held) this.#waiting.push(bytes);
    else this.#read(bytes);
  }

  /** What has not been told yet waits. */
  hold(): void {
    this.#held = true;
  }

  goOn(): void {
    this.#held = false;
    while (!this.#held) {
      const next = this.#waiting.shift();
      if (!next) return;
      this.#read(next);
    }
  }

  #read(bytes: Uint8Array): void {
    let at = 0;
    while (at < bytes.length && !this.#over && !this.#held) {
      if (this.#left > 0) at = this.#readPayload(bytes, at);
      else this.#readHead(bytes[at++] ?? 0);
    }
    if (this.#held && at < bytes.length) this.#waiting.unshift(bytes.subarray(at));
  }

  /** From here on nothing is told but the client's last word. */
  ignore(): void {
    this.#deaf = true;
    this.#message.clear();
    this.#giveBack();
  }

  /** Nothing at all is told any more. */
  stop(): void {
    this.#over = true;
    this.#waiting = [];
    this.ignore();
  }

  #readHead(byte: number): void {
    const head = this.#head;
    const complete = head.read(byte);
    if (head.fault !== null) this.#refuse(closeCode.protocolFault, head.fault);
    if (!complete) return;
    if (!isControl(head.opcode)) this.#beginData(head);
    this.#left = head.size;
    this.#mask = head.mask;
    if (head.size === 0) this.#endFrame(nothing);
  }

  #beginData({ opcode: kind, size }: FrameHead): void {
    const continues = kind === opcode.continuation;
    const within = this.#kind !== opcode.continuation;
    if (continues && !within) this.#refuse(closeCode.protocolFault, 'a fragment of no message');
    else if (!continues && within) this.#refuse(closeCode.protocolFault, 'a message within a message');
    else if (this.#message.size + size > this.#limit) {
      this.#refuse(closeCode.tooLarge, `a message of more than ${this.#limit} bytes`);
    }
    if (!continues) this.#kind = kind;
  }

  /** Whether anybody is told of the frame under way. */
  get #counts(): boolean {
    return !this.#deaf || (this.#head.opcode === opcode.close && this.#head.size <= longestControl);
  }

  /** Where the payload ends in these bytes, or they end. */
  #readPayload(bytes: Uint8Array, from: number): number {
    const to = Math.min(from + this.#left, bytes.length);
    this.#left -= to - from;
    if (this.#counts) {
      unmask(bytes, from, to, this.#mask);
      this.#mask = turned(this.#mask, to - from);
      const piece = bytes.subarray(from, to);
      if (this.#left === 0) this.#endFrame(piece);
      else if (isControl(this.#head.opcode)) this.#control.append(piece, longestControl);
      else this.#gather(piece);
    }
    return to;
  }

  #gather(piece: Uint8Array): void {
    const size = this.#message.size + piece.length;
    if (size > this.#granted + ungranted) {
      const more = Math.ceil((size - this.#granted) / ungranted) * ungranted;
      if (!this.#listener.gathers(more)) {
        this.#refuse(closeCode.tryAgainLater, 'no memory is left for messages that come in pieces');
        return;
      }
      this.#granted += more;
    }
    const whole = this.#message.size + piece.length + this.#left;
    this.#message.append(piece, this.#head.final ? whole : this.#limit);
  }

  #giveBack(): void {
    if (this.#granted > 0) this.#listener.gathers(-this.#granted);
    this.#granted = 0;
  }

  #endFrame(last: Uint8Array): void {
    if (!this.#counts) return;
    const kind = this.#head.opcode;
    if (isControl(kind) || !this.#head.final) this.#listener.overhead();
    if (!isControl(kind)) {
      if (this.#head.final) this.#endMessage(last);
      else this.#gather(last);
      return;
    }
    const payload = joined(this.#control, last) ?? last;
    if (kind === opcode.ping) this.#listener.ping(payload);
    else if (kind === opcode.close) this.#endAll(payload);
  }

  #endMessage(last: Uint8Array): void {
    const isText = this.#kind === opcode.text;
    this.#kind = opcode.continuation;
    const gathered = joined(this.#message, last);
    this.#giveBack();
    if (isText) this.#endText(gathered ?? last);
    // A copy, because the memory may hold other messages too.
    else this.#listener.message(gathered ?? Buffer.from(last));
  }

  #endText(bytes: Uint8Array): void {
    if (isUtf8(bytes)) this.#listener.message(decoder.decode(bytes));
    else this.#refuse(closeCode.notText, 'a text that is no UTF-8');
  }

  #endAll(payload: Uint8Array): void {
    const closeFrame = readCloseFrame(payload);
    if ('fault' in closeFrame) this.#refuse(closeFrame.fault, 'a close frame that cannot be read');
    this.#over = true;
    if ('fault' in closeFrame) this.#listener.left(withoutWord, '');
    else this.#listener.left(closeFrame.code, closeFrame.reason);
  }

  #refuse(code: number, reason: string): void {
    if (this.#deaf) return;
    this.ignore();
    this.#listener.refused(code, reason);
  }
}

/** Null when nothing came before the last piece. */
function joined(gathered: Gathered, last: Uint8Array): Buffer<ArrayBuffer> | null {
  if (gathered.size === 0) return null;
  gathered.append(last, gathered.size + last.length);
  return gathered.take();
}

/** Messages up to this size need no grant: their number is bounded by the connections. */
const ungranted = 256 * 1024;

const nothing = new Uint8Array(0);
const decoder = new TextDecoder('utf-8', { ignoreBOM: true });
