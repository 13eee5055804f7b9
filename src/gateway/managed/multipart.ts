/** Reads a multipart form as it arrives: small text fields, and one file whose bytes are handed on without being held. */
import { GatewayError } from '../errors.ts';
import { boundaryOf, readPartHead } from '../request/form-head.ts';
import { broken, FormCutter, type FormEvent } from './form-cutter.ts';

interface UploadedForm {
  filename: string;
  content: AsyncIterable<Uint8Array>;
  /** A text field that stood before the file; null when it did not. */
  field(name: string): string | null;
  /** A text field wherever it stands; the content must have been read by then. */
  laterField(name: string): Promise<string | null>;
}

const longestField = 64 * 1024;

export async function readUpload(stream: ReadableStream<Uint8Array>, contentType: string): Promise<UploadedForm> {
  const mark = boundaryOf(contentType);
  if (!mark) throw new GatewayError('invalid_content_type', 'send the file as multipart/form-data with a boundary');
  const form = new FormEvents(stream, mark);
  const fields = new Map<string, string>();
  const filename = await readFields(form, fields);
  if (filename === null) throw new GatewayError('invalid_body', 'the form has no file', { field: 'file' });
  return {
    filename,
    content: form.value(Number.POSITIVE_INFINITY),
    field: (name) => fields.get(name) ?? null,
    async laterField(name) {
      while ((await readFields(form, fields)) !== null) for await (const _ of form.value(longestField));
      return fields.get(name) ?? null;
    },
  };
}

/** Reads text fields up to a file, and answers its name; null at the end of the form. */
async function readFields(form: FormEvents, fields: Map<string, string>): Promise<string | null> {
  for (;;) {
    const event = await form.next();
    if (event.is === 'end') return null;
    if (event.is !== 'part') continue;
    const { name, filename } = readPartHead(event.head);
    if (filename !== null) return filename;
    const pieces: Uint8Array[] = [];
    for await (const piece of form.value(longestField)) pieces.push(piece);
    fields.set(name ?? '', Buffer.concat(pieces).toString());
  }
}

class FormEvents {
  readonly #reader: ReadableStreamDefaultReader<Uint8Array>;
  readonly #cutter: FormCutter;
  readonly #waiting: FormEvent[] = [];

  constructor(stream: ReadableStream<Uint8Array>, mark: string) {
    this.#reader = stream.getReader();
    this.#cutter = new FormCutter(mark);
  }

  async next(): Promise<FormEvent> {
    for (;;) {
      const event = this.#waiting.shift();
      if (event) return event;
      if (this.#cutter.isComplete) return { is: 'end' };
      const { value, done } = await this.#reader.read();
      if (done) throw broken();
      this.#waiting.push(...this.#cutter.push(value));
    }
  }

  /** The bytes of the part that was begun last. */
  async *value(limit: number): AsyncGenerator<Uint8Array> {
    let size = 0;
    for (;;) {
      const event = await this.next();
      if (event.is !== 'bytes') {
        this.#waiting.unshift(event);
        return;
      }
      size += event.bytes.length;
      if (size > limit) throw new GatewayError('invalid_body', `a field of the form is longer than ${limit} bytes`);
      yield event.bytes;
    }
  }
}
