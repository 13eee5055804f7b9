/** Takes the mask off what a client sent, in place and four bytes at a time. */

/** The mask as a number whose lowest byte is laid over the first byte. */
export type Mask = number;

/** A view of the memory as words costs as much as this many bytes one by one. */
const worthWords = 96;

export function unmask(bytes: Uint8Array, from: number, to: number, mask: Mask): void {
  if (to - from < worthWords) {
    unmaskSingly(bytes, from, to, mask);
    return;
  }
  const start = from + (-(bytes.byteOffset + from) & 3);
  const count = (to - start) >>> 2;
  const end = start + count * 4;
  unmaskSingly(bytes, from, start, mask);
  // The machines that this runs on have the lowest byte of a word first, as the mask has.
  const words = new Int32Array(bytes.buffer, bytes.byteOffset + start, count);
  const key = turned(mask, start - from);
  for (let index = 0; index < count; index++) words[index] = (words[index] ?? 0) ^ key;
  unmaskSingly(bytes, end, to, key);
}

/** The mask for what comes behind so many bytes. */
export function turned(mask: Mask, size: number): Mask {
  const bits = (size & 3) * 8;
  return bits === 0 ? mask : (mask >>> bits) | (mask << (32 - bits));
}

function unmaskSingly(bytes: Uint8Array, from: number, to: number, mask: Mask): void {
  for (let at = from, bits = 0; at < to; at++, bits = (bits + 8) & 31) {
    bytes[at] = (bytes[at] ?? 0) ^ ((mask >>> bits) & 0xff);
  }
}
