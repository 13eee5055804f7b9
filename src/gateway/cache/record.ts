/** Records answers for the cache: taken as the target gave them, kept once it is known that the request ended well. */
import type { ResponseCache } from '../../cache/cache.ts';
import { type CacheEntry, largestEntry } from '../../cache/engine.ts';
import type { SemanticIndex } from '../../cache/semantic/semantic-index.ts';
import type { ServerEvent } from '../../providers/provider.ts';
import type { ByteReader, ReadBytes } from '../../wire/client/answer.ts';
import type { Answer } from '../attempt/answer.ts';
import type { AnswerStep } from '../attempt/steps.ts';
import type { Settler } from '../settle/settlement.ts';
import { writeEvent } from '../streaming/sse.ts';
import type { StreamStage } from '../streaming/stages.ts';
import type { Coalescing } from './coalesce.ts';

/** Stands behind the guardrails of the answer, so that a hit is as redacted as the answer was, and before what they report, which belongs to one request. */
export const recordStep: AnswerStep = {
  name: 'record',
  applies: ({ record }) => Boolean(record.cache),
  run({ record }, answer) {
    const pending = record.cache;
    if (!pending || answer.status !== 200 || record.guard?.softDenied) return answer;
    const { content } = answer;
    if (content.form === 'bytes') {
      const contentType = answer.headers?.get('content-type') ?? 'application/json';
      if (content.bytes.length <= largestEntry) pending.answer = { body: content.bytes, stream: null, contentType };
      return answer;
    }
    if (content.form === 'raw') {
      return copied(answer, (body, contentType) => {
        pending.answer = { body, stream: null, contentType };
      });
    }
    return content.form === 'events'
      ? watched(answer, (stream) => {
          pending.answer = { body: null, stream, contentType: 'application/json' };
        })
      : answer;
  },
};

/** A body that is carried through is kept when it came to an end that HTTP itself marks. */
function copied(answer: Answer, complete: (body: Uint8Array, contentType: string) => void): Answer {
  const { content, headers } = answer;
  const marksItsEnd = headers?.has('content-length') || headers?.has('transfer-encoding');
  if (content.form !== 'raw' || !content.body || !marksItsEnd || headers?.has('content-encoding')) return answer;
  const body = new CopiedBody(content.body, (bytes) =>
    complete(bytes, headers?.get('content-type') ?? 'application/octet-stream'),
  );
  return { ...answer, content: { ...content, body } };
}

class CopiedBody implements ByteReader {
  readonly #body: ByteReader;
  readonly #complete: (bytes: Uint8Array) => void;
  #parts: Uint8Array[] | null = [];
  #size = 0;

  constructor(body: ByteReader, complete: (bytes: Uint8Array) => void) {
    this.#body = body;
    this.#complete = complete;
  }

  async read(): Promise<ReadBytes> {
    const piece = await this.#body.read();
    if (piece.done) {
      if (this.#parts) this.#complete(Buffer.concat(this.#parts));
      this.#parts = null;
    } else {
      this.#size += piece.value.length;
      if (this.#size > largestEntry) this.#parts = null;
      this.#parts?.push(piece.value.slice());
    }
    return piece;
  }

  cancel(): Promise<void> {
    return this.#body.cancel();
  }
}

/** Only a stream that came to its proper end is kept. */
function watched(answer: Answer, complete: (stream: Uint8Array) => void): Answer {
  const { content } = answer;
  if (content.form !== 'events' || content.joined !== 'fresh') return answer;
  let parts: Uint8Array[] | null = [];
  let size = 0;
  const keep = (events: readonly ServerEvent[]) => {
    for (const event of events) {
      if (!parts) return;
      const bytes = writeEvent(event);
      size += bytes.length;
      if (size > largestEntry) parts = null;
      else parts.push(bytes);
    }
  };
  const stage: StreamStage = {
    name: 'record',
    push(events) {
      keep(events);
      return events;
    },
    end(outcome) {
      if (outcome === 'complete' && parts) complete(Buffer.concat(parts));
      parts = null;
      return [];
    },
  };
  return { ...answer, content: { ...content, stages: [...content.stages, stage] } };
}

/** Nothing but successes is kept, with what they cost: that is what a hit saves. */
export function recordSettler(cache: ResponseCache, coalescing: Coalescing, index: SemanticIndex): Settler {
  return ({ record, outcome, settlement }) => {
    const pending = record.cache;
    if (!pending) return;
    let entry: CacheEntry | null = null;
    const isWhole = pending.shortOf === undefined || settlement.usage.outputTokens < pending.shortOf;
    const passed = isWhole && !record.guard?.inputFailed && !record.guard?.outputFailed;
    if (pending.answer && passed && outcome?.status === 200 && record.status === 200) {
      const { usage, cost, model } = settlement;
      entry = { ...pending.answer, model, usage, cents: cost.known ? cost.cents : null };
      cache.set(pending.place, entry, pending.ttlSeconds);
      const { question, place, ttlSeconds } = pending;
      if (question) index.add(question.partition, question.vector, place, ttlSeconds);
    }
    if (pending.leads) coalescing.finish(pending.place, entry);
  };
}
