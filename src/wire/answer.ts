/** An answer as its reader sees it: a status, headers, and bytes that come when they are asked for. */
import type { Bytes } from './collected.ts';

export type ReadBytes = { done: false; value: Bytes } | { done: true; value?: undefined };

/** Bytes in order; whoever reads sets the pace. A stream's own reader is one too. */
export interface ByteReader {
  /** Rejects when the bytes broke off before their end. */
  read(): Promise<ReadBytes>;
  /** Nothing more will be read. */
  cancel(): Promise<void>;
  /** All that was not read yet, where that can be had in a better way than piece by piece. */
  whole?(limit: number): Bytes | Promise<Bytes>;
}

export interface WireAnswer {
  readonly status: number;
  readonly headers: AnswerHeaders;
  /** Null where an answer has no body at all. */
  readonly body: ByteReader | null;
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
