/** An agent's stream on its way to the client: each event leaves in the tick in which it is whole, as the bytes that came; a stream that breaks ends in an error event. */

import { BodyCapture } from '../gateway/streaming/body-capture.ts';
import { EventSplitter, readEvents } from '../gateway/streaming/sse.ts';
import type { Deadlines } from '../gateway/upstream/deadlines.ts';
import type { MaybePromise } from '../maybe-promise.ts';
import { explained } from '../mcp/upstream/http.ts';
import type { Abort } from '../wire/abort.ts';
import type { ByteReader } from '../wire/client/answer.ts';
import { type BodySource, bodyBy, type Sink } from '../wire/server/reply.ts';
import { AgentError, agentErrorOf } from './errors.ts';
import type { Heartbeat } from './keep-alive.ts';

export const largestEvent = 10 * 1024 * 1024;
/** An agent that says nothing for so long is given up. */
export const idleStreamMs = 300_000;
const encoder = new TextEncoder();
const alive = encoder.encode(': keep-alive\n\n');

export interface PipeEnd {
  copy: BodyCapture;
  /** Null where it came to its proper end. */
  fault: AgentError | null;
  firstEventMs: number | null;
}

export interface Passed {
  bytes: Uint8Array;
  /** Set where the stream ends behind these bytes. */
  end?: AgentError;
}

interface Pipe {
  body: ByteReader;
  abort: Abort;
  deadlines: Pick<Deadlines, 'set'>;
  heartbeat: Heartbeat;
  /** Sees what whole events say before they leave; what it answers leaves in their place. */
  passing(bytes: Uint8Array, events: readonly { data: string }[]): MaybePromise<Passed>;
  /** The last event of a stream that broke. */
  lastEvent(error: AgentError): string;
  ended(end: PipeEnd): void;
}

export function eventPipe(pipe: Pipe): BodySource {
  const { body, abort, deadlines, heartbeat, passing, lastEvent, ended } = pipe;
  const copy = new BodyCapture();
  const splitter = new EventSplitter();
  const startedAt = performance.now();
  let firstEventMs: number | null = null;
  let open = 0;
  let over = false;

  const finish = (fault: AgentError | null) => {
    if (over) return;
    over = true;
    ended({ copy, fault, firstEventMs });
  };

  /** Counted only while we wait for the agent: a client may take its time. */
  const nextPiece = async () => {
    const idle = deadlines.set(idleStreamMs, () =>
      abort.abort(new AgentError('upstream_timeout', `the agent was silent for ${idleStreamMs} ms`)),
    );
    try {
      return await body.read();
    } finally {
      idle.clear();
    }
  };

  const send = async (to: Sink, whole: Uint8Array) => {
    const { bytes, end } = await passing(whole, readEvents(whole));
    if (bytes.length > 0) {
      firstEventMs ??= performance.now() - startedAt;
      copy.push(bytes);
      await to.write(bytes);
    }
    if (end) throw end;
  };

  const carry = async (to: Sink) => {
    for (let piece = await nextPiece(); !piece.done && !over; piece = await nextPiece()) {
      open += piece.value.length;
      const whole = splitter.push(piece.value);
      open -= whole?.length ?? 0;
      if (open > largestEvent) throw new AgentError('upstream_error', `an event is larger than ${largestEvent} bytes`);
      if (whole) await send(to, whole);
    }
    const rest = splitter.rest();
    // Some servers leave out the blank line behind their last event.
    if (rest) await send(to, Buffer.concat([rest, encoder.encode('\n\n')]));
  };

  return bodyBy(
    async (to) => {
      const stop = heartbeat.add(() => void to.write(alive));
      try {
        await carry(to);
        finish(null);
      } catch (fault) {
        const { reason } = abort;
        const error =
          reason instanceof AgentError
            ? reason
            : (agentErrorOf(fault) ?? agentErrorOf(explained(fault, abort)) ?? brokeOff());
        if (!over) {
          const last = encoder.encode(lastEvent(error));
          copy.push(last);
          await to.write(last);
        }
        finish(error);
        abort.abort();
      } finally {
        stop();
      }
    },
    () => {
      finish(new AgentError('client_closed', 'the client closed the connection'));
      abort.abort();
    },
  );
}

const brokeOff = () => new AgentError('upstream_error', 'the agent broke off its stream');
