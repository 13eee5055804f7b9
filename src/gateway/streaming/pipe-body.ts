/** Bodies that are carried through unread: bytes go on as they come, with back-pressure; a bounded copy is kept for the log and for usage. */
import type { Abort } from '../../wire/abort.ts';
import type { ByteReader } from '../../wire/client/answer.ts';
import { type BodySource, bodyBy } from '../../wire/server/reply.ts';
import { GatewayError } from '../errors.ts';
import type { Deadlines } from '../upstream/deadlines.ts';
import { GivenUp } from '../upstream/send.ts';
import { BodyCapture } from './body-capture.ts';

export interface Carried {
  copy: BodyCapture;
  outcome: 'complete' | 'failed' | 'client left';
  /** Why it failed, where it was we who gave up. */
  error: GatewayError | null;
}

/** What is carried, and how long it may stay silent. */
interface Cargo {
  body: ByteReader;
  abort: Abort;
  idleMs: number;
}

export function pipeBody(
  { body, abort, idleMs }: Cargo,
  deadlines: Deadlines,
  done: (carried: Carried) => void,
): BodySource {
  const copy = new BodyCapture();
  const stalled = () => new GatewayError('stream_stalled', `the provider was silent for ${idleMs} ms`);
  let over = false;
  const finish = (outcome: Carried['outcome']) => {
    if (over) return;
    over = true;
    const { reason } = abort.signal;
    done({ copy, outcome, error: reason instanceof GivenUp ? reason.error : null });
  };
  /** Counted only while we wait for the provider: a client may take its time. */
  const nextPiece = async () => {
    const idle = deadlines.set(idleMs, () => abort.abort(new GivenUp(stalled())));
    try {
      return await body.read();
    } finally {
      idle.clear();
    }
  };
  return bodyBy(
    async (to) => {
      try {
        for (let piece = await nextPiece(); !piece.done && !over; piece = await nextPiece()) {
          copy.push(piece.value);
          await to.write(piece.value);
        }
        finish('complete');
      } catch (fault) {
        finish('failed');
        // The client sees the same broken connection that we saw.
        throw fault;
      }
    },
    () => {
      finish('client left');
      abort.abort();
    },
  );
}
