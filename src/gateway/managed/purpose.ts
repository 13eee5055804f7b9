/** What an upload is for, where that decides who keeps it: looked up in the form before any of it is carried on. */

import { GatewayError } from '../errors.ts';
import type { Bytes, ClientBody } from '../request/body.ts';
import { readFormFields } from '../request/form.ts';

export interface Looked {
  purpose: string | null;
  /** The same body, unread. */
  body: ClientBody;
}

/** Fields stand before the file as a rule, and within this many bytes. */
const firstLook = 64 * 1024;

/** Null where the form does not say. A form that says it behind its file is held until then, so that it may have `limit` bytes. */
export async function lookForPurpose(body: ClientBody, limit: number): Promise<Looked> {
  if (body.form !== 'stream' || !body.contentType?.startsWith('multipart/form-data')) return { purpose: null, body };
  const { stream, contentType } = body;
  const upload = new Upload(stream, limit);
  // Once early and once at the end: looking at every piece would cost the square of the length.
  const early = purposeIn(await upload.beginning(firstLook), contentType);
  const purpose = early ?? purposeIn(await upload.beginning(Number.POSITIVE_INFINITY), contentType);
  return { purpose, body: { form: 'stream', contentType, stream: upload.replayed() } };
}

const purposeIn = (form: Uint8Array, contentType: string): string | null =>
  readFormFields(form, contentType).find(({ name }) => name === 'purpose')?.value ?? null;

/** Bytes that are looked at before they are carried on. */
class Upload {
  readonly #reader: ReadableStreamDefaultReader<Bytes>;
  readonly #limit: number;
  readonly #seen: Bytes[] = [];
  #size = 0;
  #ended = false;

  constructor(stream: ReadableStream<Bytes>, limit: number) {
    this.#reader = stream.getReader();
    this.#limit = limit;
  }

  /** At least this many bytes from the start, or all. */
  async beginning(bytes: number): Promise<Uint8Array> {
    while (!this.#ended && this.#size < bytes) {
      const { value, done } = await this.#reader.read();
      this.#ended = done;
      if (value) this.#seen.push(value);
      this.#size += value?.length ?? 0;
      if (this.#size > this.#limit) {
        const message = `an upload that names its purpose behind its file may have ${this.#limit} bytes`;
        throw new GatewayError('body_too_large', message);
      }
    }
    return Buffer.concat(this.#seen);
  }

  replayed(): ReadableStream<Bytes> {
    return new ReadableStream<Bytes>({
      pull: async (controller) => {
        const next = this.#seen.shift();
        if (next) return controller.enqueue(next);
        const { value, done } = await this.#reader.read();
        if (done) controller.close();
        else controller.enqueue(value);
      },
      cancel: (reason) => this.#reader.cancel(reason),
    });
  }
}
