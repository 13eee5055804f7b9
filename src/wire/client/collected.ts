/** The whole of a body, up to a limit. */

import { WireFault } from '../fault.ts';
import type { ByteReader } from './answer.ts';

export type Bytes = Uint8Array<ArrayBuffer>;

/** More than the limit closes the connection. */
export function collected(body: ByteReader, limit: number): Bytes | Promise<Bytes> {
  return body.whole ? body.whole(limit) : readThrough(body, limit);
}

export async function readThrough(body: ByteReader, limit: number): Promise<Bytes> {
  const chunks: Bytes[] = [];
  let size = 0;
  for (;;) {
    const { done, value } = await body.read();
    if (done) break;
    size += value.length;
    if (size > limit) {
      await body.cancel();
      throw bodyTooLarge(limit);
    }
    chunks.push(value);
  }
  const [only] = chunks;
  return chunks.length === 1 && only ? only : Buffer.concat(chunks);
}

export const bodyTooLarge = (limit: number): WireFault =>
  new WireFault('BodyTooLarge', `it is larger than ${limit} bytes`);
