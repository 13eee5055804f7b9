/** What every framing of a stream's bytes gives. */
import type { ServerEvent } from '../../providers/provider.ts';

/** Cuts bytes into events; what is incomplete is held. */
export interface EventCutter {
  push(chunk: Uint8Array): ServerEvent[];
  /** What is left when the bytes end. */
  rest(): ServerEvent[];
}
