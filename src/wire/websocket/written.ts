/** The frames that a server sends: whole and unmasked. */
import { isSendable } from './close-frame.ts';
import { longestControl, opcode } from './opcode.ts';

export function messageFrame(content: string | Uint8Array): Buffer {
  if (typeof content !== 'string') return frameOf(opcode.binary, content);
  const size = Buffer.byteLength(content);
  const frame = emptyFrame(opcode.text, size);
  frame.write(content, frame.length - size);
  return frame;
}

/** Codes that must not be sent are left out, and their reason with them. */
export function closeFrame(code: number, reason: string): Buffer {
  if (!isSendable(code)) return frameOf(opcode.close, nothing);
  // What does not fit is left out, by whole characters.
  const { written } = encoder.encodeInto(reason, room);
  const frame = emptyFrame(opcode.close, 2 + written);
  frame.writeUInt16BE(code, 2);
  frame.set(room.subarray(0, written), 4);
  return frame;
}

export const pingFrame = (): Buffer => frameOf(opcode.ping, nothing);

export const pongFrame = (payload: Uint8Array): Buffer => frameOf(opcode.pong, payload);

const encoder = new TextEncoder();
const room = new Uint8Array(longestControl - 2);
const nothing = new Uint8Array(0);

function frameOf(code: number, payload: Uint8Array): Buffer {
  const frame = emptyFrame(code, payload.length);
  frame.set(payload, frame.length - payload.length);
  return frame;
}

const final = 0x80;
const inTwoBytes = 126;
const inEightBytes = 127;

/** A head, and behind it room for the payload: in one piece, so that it travels in one. */
function emptyFrame(code: number, size: number): Buffer {
  const headSize = size < inTwoBytes ? 2 : size <= 0xffff ? 4 : 10;
  const frame = Buffer.allocUnsafe(headSize + size);
  frame[0] = final | code;
  if (headSize === 2) {
    frame[1] = size;
  } else if (headSize === 4) {
    frame[1] = inTwoBytes;
    frame.writeUInt16BE(size, 2);
  } else {
    frame[1] = inEightBytes;
    frame.writeUInt32BE(Math.floor(size / 2 ** 32), 2);
    frame.writeUInt32BE(size % 2 ** 32, 6);
  }
  return frame;
}
