/** Credentials that an upstream says back in an error under the status of a success, blotted out before a client or the log sees them. Only errors are looked at, as with providers. */

import { jsonOrNothing } from '../../bounded-json.ts';
import { EventSplitter, readEvents } from '../../gateway/streaming/sse.ts';
import { concealedBytes, secretsSent } from '../../gateway/upstream/conceal.ts';
import type { ByteReader, ReadBytes, WireAnswer } from '../../wire/client/answer.ts';
import { type Bytes, collected, type Look } from '../../wire/client/collected.ts';
import { isFields } from '../protocol/json-rpc.ts';
import { largestMessage } from './answers.ts';

/** What was sent along. */
interface SentWith {
  url: string;
  headers: Readonly<Record<string, string>>;
  /** Those of them that the integration set: any may be a credential. */
  own: Readonly<Record<string, string>>;
}

export function concealedAnswer(answer: WireAnswer, { url, headers, own }: SentWith): WireAnswer {
  // Those of any other status were looked at when they came.
  if (!answer.body || answer.status >= 400) return answer;
  const secrets = secretsSent({ credential: null, fields: {}, customHeaders: own }, { url, headers });
  if (secrets.length === 0) return answer;
  const { body } = answer;
  const type = (answer.headers.get('content-type') ?? '').toLowerCase();
  if (type.startsWith('text/event-stream')) return { ...answer, body: new ConcealedEvents(body, secrets) };
  return type.includes('json') ? { ...answer, body: new ConcealedMessage(body, secrets) } : answer;
}

/** Failures of tools are results that say so. */
function tellsError(text: string): boolean {
  const message = jsonOrNothing(text);
  const messages: unknown[] = Array.isArray(message) ? message : [message];
  return messages.some(
    (one) => isFields(one) && (isFields(one.error) || (isFields(one.result) && one.result.isError === true)),
  );
}

/** Whole events alone travel on: whoever reads them can do nothing with less. */
class ConcealedEvents implements ByteReader {
  readonly #body: ByteReader;
  readonly #secrets: readonly string[];
  readonly #splitter = new EventSplitter(largestMessage);
  #over = false;

  constructor(body: ByteReader, secrets: readonly string[]) {
    this.#body = body;
    this.#secrets = secrets;
  }

  async read(): Promise<ReadBytes> {
    while (!this.#over) {
      const { done, value } = await this.#body.read();
      this.#over = done;
      const whole = value ? this.#splitter.push(value) : this.#splitter.rest();
      if (whole) return { done: false, value: this.#concealed(new Uint8Array(whole)) };
    }
    return { done: true };
  }

  cancel(): Promise<void> {
    return this.#body.cancel();
  }

  #concealed(whole: Bytes): Bytes {
    const concealed = concealedBytes(whole, this.#secrets);
    if (concealed === whole) return whole;
    return readEvents(whole).some(({ data }) => tellsError(data)) ? concealed : whole;
  }
}

/** A message that comes whole. */
class ConcealedMessage implements ByteReader {
  readonly #body: ByteReader;
  readonly #secrets: readonly string[];
  #over = false;

  constructor(body: ByteReader, secrets: readonly string[]) {
    this.#body = body;
    this.#secrets = secrets;
  }

  async read(): Promise<ReadBytes> {
    if (this.#over) return { done: true };
    const value = await this.whole(Number.POSITIVE_INFINITY);
    return value.length > 0 ? { done: false, value } : { done: true };
  }

  cancel(): Promise<void> {
    return this.#body.cancel();
  }

  async whole(limit: number, look?: Look): Promise<Bytes> {
    this.#over = true;
    const bytes = await collected(this.#body, limit, look);
    const concealed = concealedBytes(bytes, this.#secrets);
    if (concealed === bytes) return bytes;
    const text = new TextDecoder().decode(bytes);
    // Some servers write one message a line.
    return tellsError(text) || text.split('\n').some(tellsError) ? concealed : bytes;
  }
}
