/** Bodies that are carried through unread: bytes go on as they come, with back-pressure; a bounded copy is kept for the log and for usage. */
import type { ByteReader } from '../wire/answer.ts';
import type { Deadlines } from './deadlines.ts';
import { GatewayError } from './errors.ts';
import { KeptCopy } from './kept-copy.ts';
import { GivenUp } from './send.ts';

export interface Carried {
  copy: KeptCopy;
  outcome: 'complete' | 'failed' | 'client left';
  /** Why it failed, where it was we who gave up. */
  error: GatewayError | null;
}

/** What is carried, and how long it may stay silent. */
interface Cargo {
  body: ByteReader;
  abort: AbortController;
  idleMs: number;
}

export function carry(
  { body, abort, idleMs }: Cargo,
  deadlines: Deadlines,
  done: (carried: Carried) => void,
): ReadableStream<Uint8Array> {
  const copy = new KeptCopy();
  const stalled = () => new GatewayError('stream_stalled', `the provider was silent for ${idleMs} ms`);
  let over = false;
  const finish = (outcome: Carried['outcome']) => {
    if (over) return;
    over = true;
    const { reason } = abort.signal;
    done({ copy, outcome, error: reason instanceof GivenUp ? reason.error : null });
  };
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        // Counted only while we wait for the provider: a client may take its time.
        const idle = deadlines.set(idleMs, () => abort.abort(new GivenUp(stalled())));
        try {
          const { value, done: ended } = await body.read();
          if (ended) {
            controller.close();
            finish('complete');
            return;
          }
          copy.push(value);
          controller.enqueue(value);
        } catch (fault) {
          // The client sees the same broken connection that we saw.
          controller.error(fault);
          finish('failed');
        } finally {
          idle.clear();
        }
      },
      cancel() {
        finish('client left');
        abort.abort();
      },
    },
    { highWaterMark: 0 },
  );
}
