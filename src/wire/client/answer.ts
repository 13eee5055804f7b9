/** An answer as its reader sees it: a status, headers, and bytes that come when they are asked for. */

import type { Polled, Waker } from '../polled.ts';
import type { Bytes, Look } from './bytes.ts';

export type ReadBytes =
  /** `progress`: the sender has done more than its bytes show. */
  { done: false; value: Bytes; progress?: boolean } | { done: true; value?: undefined };

/** Bytes in order; whoever reads sets the pace. A stream's own reader is one too. */
export interface ByteReader extends Partial<Polled<ReadBytes>> {
  /** Rejects when the bytes broke off before their end. */
  read(): Promise<ReadBytes>;
  /** Nothing more will be read. */
  cancel(): Promise<void>;
  /** All that was not read yet, where that can be had in a better way than piece by piece. */
  whole?(limit: number, look?: Look): Bytes | Promise<Bytes>;
}

export interface WireAnswer {
  readonly status: number;
  readonly headers: AnswerHeaders;
  /** Null where an answer has no body at all. */
  readonly body: ByteReader | null;
  /** The request was sent twice, because the first connection was closing. */
  readonly replayed?: boolean;
  /** The headers that were sent, where they are not those that the call was made with: a token was fetched for it. */
  readonly sentHeaders?: Readonly<Record<string, string>>;
}

/** Any reader, as one that wakes whoever waits. */
export const polled = (reader: ByteReader): Polled<ReadBytes> =>
  isPolled(reader) ? reader : new AwaitedReader(reader);

const isPolled = (reader: ByteReader): reader is ByteReader & Polled<ReadBytes> => reader.poll !== undefined;

class AwaitedReader implements Polled<ReadBytes> {
  readonly #reader: ByteReader;
  #came: { read: ReadBytes } | { fault: unknown } | null = null;
  #waker: Waker | null = null;

  constructor(reader: ByteReader) {
    this.#reader = reader;
  }

  poll(waker: Waker): ReadBytes | null {
    const came = this.#came;
    if (came && 'fault' in came) throw came.fault;
    this.#came = null;
    if (came) return came.read;
    if (!this.#waker) this.#ask();
    this.#waker = waker;
    return null;
  }

  #ask(): void {
    this.#reader.read().then(
      (read) => this.#tell({ read }),
      (fault) => this.#tell({ fault }),
    );
  }

  #tell(came: { read: ReadBytes } | { fault: unknown }): void {
    const waker = this.#waker;
    this.#came = came;
    this.#waker = null;
    waker?.wake();
  }
}

export type AnswerHeaders = Headers | ReceivedHeaders;

/** Headers as they came, by their names in lower case; those that came twice are joined. */
export class ReceivedHeaders implements Pick<Headers, 'get' | 'has'> {
  readonly fields: Readonly<Record<string, string>>;

  constructor(fields: Readonly<Record<string, string>>) {
    this.fields = fields;
  }

  get(name: string): string | null {
    return this.fields[name] ?? this.fields[name.toLowerCase()] ?? null;
  }

  has(name: string): boolean {
    return this.get(name) !== null;
  }
}

export const isOk = ({ status }: WireAnswer): boolean => status >= 200 && status <= 299;

/** An answer that did not come over our own wire. */
export const answerOf = ({ status, headers, body }: Response): WireAnswer => ({
  status,
  headers,
  body: body?.getReader() ?? null,
});
