/** The head of a client's frame, read byte by byte: it is short, and may be cut anywhere. */
import { isControl, longestControl, opcode } from './opcode.ts';

const finalBit = 0x80;
const reservedBits = 0x70;
const maskedBit = 0x80;
const inTwoBytes = 126;
const inEightBytes = 127;

export class FrameHead {
  opcode = 0;
  final = true;
  /** Of the payload. */
  size = 0;
  /** Its lowest byte is laid over the first byte of the payload. */
  mask = 0;
  /** What no client may send. The end of the frame can be told nevertheless. */
  fault: string | null = null;
  #read = 0;
  #sizeEndsAt = 2;
  #endsAt = 2;

  /** True when the head is complete; the next byte but the payload's begins another. */
  read(byte: number): boolean {
    const at = this.#read++;
    if (at === 0) this.#readOpening(byte);
    else if (at === 1) this.#readSize(byte);
    else if (at < this.#sizeEndsAt) this.#readLongSize(byte, at);
    else this.mask |= byte << (8 * (at - this.#sizeEndsAt));
    if (this.#read < this.#endsAt) return false;
    this.#read = 0;
    return true;
  }

  #readOpening(byte: number): void {
    this.opcode = byte & 0x0f;
    this.final = (byte & finalBit) !== 0;
    this.mask = 0;
    this.#endsAt = 2;
    this.fault = this.#faultOfOpening((byte & reservedBits) !== 0);
  }

  #faultOfOpening(reserved: boolean): string | null {
    if (reserved) return 'a frame with reserved bits';
    if (!isControl(this.opcode)) return this.opcode > opcode.binary ? unknown : null;
    if (this.opcode > opcode.pong) return unknown;
    return this.final ? null : 'a control frame in fragments';
  }

  #readSize(byte: number): void {
    const masked = (byte & maskedBit) !== 0;
    const told = byte & ~maskedBit;
    if (!masked) this.fault ??= 'a frame without a mask';
    if (told > longestControl && isControl(this.opcode)) this.fault ??= 'a control frame that is too long';
    this.#sizeEndsAt = told < inTwoBytes ? 2 : told < inEightBytes ? 4 : 10;
    this.#endsAt = this.#sizeEndsAt + (masked ? 4 : 0);
    this.size = told < inTwoBytes ? told : 0;
  }

  #readLongSize(byte: number, at: number): void {
    const inTwo = this.#sizeEndsAt === 4;
    if (at === 2 && !inTwo && byte >= 0x80) this.fault ??= 'a size that is none';
    this.size = this.size * 256 + byte;
    if (at + 1 < this.#sizeEndsAt) return;
    const fitsInLess = inTwo ? this.size < inTwoBytes : this.size <= 0xffff;
    if (fitsInLess) this.fault ??= 'a size in more bytes than it needs';
  }
}

const unknown = 'a frame of an unknown kind';
