/** Bytes of a stream, cut into pieces of a size and put together into events again. */
import { cutterOf } from '../src/gateway/streaming/framing.ts';
import type { Framing, ServerEvent } from '../src/providers/provider.ts';

export function cut(
  bytes: Uint8Array | string,
  framing: Framing = 'sse',
  pieceSize = Number.POSITIVE_INFINITY,
): ServerEvent[] {
  const cutter = cutterOf(framing);
  const whole = Buffer.from(bytes);
  const events: ServerEvent[] = [];
  for (let from = 0; from < whole.length; from += pieceSize) {
    events.push(...cutter.push(whole.subarray(from, from + pieceSize)));
  }
  return [...events, ...cutter.rest()];
}
