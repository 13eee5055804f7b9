/** Events that are all known, as a stream that can be handed to the client. */
import type { ServerEvent } from '../../providers/provider.ts';
import { Abort } from '../../wire/abort.ts';
import type { ByteReader } from '../../wire/client/answer.ts';
import type { Answer } from '../attempt/answer.ts';
import type { AttemptContext } from '../attempt/context.ts';
import { failed } from '../attempt/exchange.ts';
import { dialectOf } from '../dialects/index.ts';
import { writeEvent } from '../streaming/sse.ts';
import { UpstreamEvents } from '../streaming/upstream-events.ts';

const idleMs = 60_000;

export async function replayed(
  { deps, context, record }: AttemptContext,
  events: readonly ServerEvent[],
  status: number,
): Promise<Answer> {
  const dialect = dialectOf(context.matched.route.kind);
  const stream = new UpstreamEvents(readerOf(events), dialect, new Abort(), { deadlines: deps.deadlines, idleMs });
  const broken = await stream.untilFirst();
  if (broken) return failed(record, broken);
  return {
    status,
    headers: null,
    content: { form: 'events', events: stream, joined: 'fresh', stages: [] },
    record,
    rescue: null,
  };
}

function readerOf(events: readonly ServerEvent[]): ByteReader {
  let bytes: Uint8Array<ArrayBuffer> | null = new Uint8Array(Buffer.concat(events.map(writeEvent)));
  return {
    async read() {
      const value = bytes;
      bytes = null;
      return value && value.length > 0 ? { done: false, value } : { done: true };
    },
    async cancel() {
      bytes = null;
    },
  };
}
