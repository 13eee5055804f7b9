/** The whole of a body, up to a limit. */

import { WireFault } from '../fault.ts';
import type { ByteReader } from './answer.ts';
import type { Bytes, Look } from './bytes.ts';

export type { Bytes, Look } from './bytes.ts';

/** More than the limit closes the connection. */
export function collected(body: ByteReader, limit: number, look?: Look): Bytes | Promise<Bytes> {
  return body.whole ? body.whole(limit, look) : readThrough(body, limit, look);
}

export async function readThrough(body: ByteReader, limit: number, look?: Look): Promise<Bytes> {
  const chunks: Bytes[] = [];
  let size = 0;
  let looked = 0;
  for (;;) {
    const { done, value } = await body.read();
    if (done) break;
    size += value.length;
    if (size > limit) {
      await body.cancel();
      throw bodyTooLarge(limit);
    }
    chunks.push(value);
    if (!look) continue;
    try {
      look(value);
    } catch (fault) {
      await body.cancel();
      throw fault;
    }
    looked += value.length;
    if (looked < lookedAtOnce) continue;
    looked = 0;
    await othersTurn();
  }
  const [only] = chunks;
  if (chunks.length === 1 && only) return only;
  return size <= joinedAtOnce ? Buffer.concat(chunks) : joinedInTurns(chunks, size);
}

/** Whoever looks takes time for every byte, and a client may send megabytes at once. */
const lookedAtOnce = 256 * 1024;

const othersTurn = () => new Promise<void>((resolve) => setImmediate(resolve));

/** Others have their turn behind so many bytes: memory that is used for the first time is slow. */
const joinedAtOnce = 512 * 1024;

async function joinedInTurns(chunks: readonly Bytes[], size: number): Promise<Bytes> {
  const whole = Buffer.allocUnsafe(size);
  let filled = 0;
  let since = 0;
  for (const chunk of chunks) {
    if (since > joinedAtOnce) {
      since = 0;
      await othersTurn();
    }
    whole.set(chunk, filled);
    filled += chunk.length;
    since += chunk.length;
    giveBack(chunk);
  }
  return whole;
}

/** At once, where nobody else can have a part of it: megabytes that wait to be collected are collected together, and everybody waits. */
function giveBack({ buffer, length }: Bytes): void {
  if (buffer.byteLength === length) buffer.transfer(0);
}

export const bodyTooLarge = (limit: number): WireFault =>
  new WireFault('BodyTooLarge', `it is larger than ${limit} bytes`);
