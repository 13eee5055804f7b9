/** Reads a multipart form as it arrives: small text fields, and one file whose bytes are handed on without being held. */
import { GatewayError } from '../errors.ts';

interface UploadedForm {
  filename: string;
  content: AsyncIterable<Uint8Array>;
  /** A text field that stood before the file; null when it did not. */
  field(name: string): string | null;
  /** A text field wherever it stands; the content must have been read by then. */
  laterField(name: string): Promise<string | null>;
}

const longestHead = 16 * 1024;
const longestField = 64 * 1024;

export async function readUpload(stream: ReadableStream<Uint8Array>, contentType: string): Promise<UploadedForm> {
  const boundary = /boundary=(?:"([^"]+)"|([^;\s]+))/i.exec(contentType);
  const mark = boundary?.[1] ?? boundary?.[2];
  if (!mark) throw new GatewayError('invalid_content_type', 'send the file as multipart/form-data with a boundary');
  const form = new FormBytes(stream, mark);
  const fields = new Map<string, string>();
  await form.skipPreamble();
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
async function readFields(form: FormBytes, fields: Map<string, string>): Promise<string | null> {
  for (;;) {
    const head = await form.head();
    if (head === null) return null;
    const filename = /\bfilename="([^"]*)"/i.exec(head)?.[1];
    if (filename !== undefined) return filename;
    const pieces: Uint8Array[] = [];
    for await (const piece of form.value(longestField)) pieces.push(piece);
    fields.set(/\bname="([^"]*)"/i.exec(head)?.[1] ?? '', Buffer.concat(pieces).toString());
  }
}

/** The bytes of a form, looked at no further ahead than a boundary is long. */
class FormBytes {
  readonly #reader: ReadableStreamDefaultReader<Uint8Array>;
  readonly #boundary: Buffer;
  /** A line break in front lets the first boundary look like all others. */
  #held: Buffer = Buffer.from('\r\n');
  #ended = false;

  constructor(stream: ReadableStream<Uint8Array>, mark: string) {
    this.#reader = stream.getReader();
    this.#boundary = Buffer.from(`\r\n--${mark}`);
  }

  async skipPreamble(): Promise<void> {
    for await (const _ of this.value(longestHead));
  }

  /** The headers of the next part; null behind the last. */
  async head(): Promise<string | null> {
    await this.#until(() => this.#held.length >= 2);
    if (this.#held.subarray(0, 2).toString() === '--') return null;
    await this.#until(() => this.#held.includes('\r\n\r\n') || this.#held.length > longestHead);
    const end = this.#held.indexOf('\r\n\r\n');
    if (end === -1) throw broken();
    const head = this.#held.toString('utf8', 0, end);
    this.#held = this.#held.subarray(end + 4);
    return head;
  }

  /** The bytes up to the next boundary. */
  async *value(limit: number): AsyncGenerator<Uint8Array> {
    let size = 0;
    for (;;) {
      const at = this.#held.indexOf(this.#boundary);
      // A boundary may have begun at the end of what is held.
      const safe = at === -1 ? Math.max(0, this.#held.length - this.#boundary.length) : at;
      size += safe;
      if (size > limit) throw new GatewayError('invalid_body', `a field of the form is longer than ${limit} bytes`);
      if (safe > 0) yield this.#held.subarray(0, safe);
      this.#held = this.#held.subarray(at === -1 ? safe : at + this.#boundary.length);
      if (at !== -1) return;
      if (!(await this.#more())) throw broken();
    }
  }

  async #until(enough: () => boolean): Promise<void> {
    while (!enough()) if (!(await this.#more())) throw broken();
  }

  async #more(): Promise<boolean> {
    if (this.#ended) return false;
    const { value, done } = await this.#reader.read();
    this.#ended = done;
    if (value) this.#held = Buffer.concat([this.#held, value]);
    return !done;
  }
}

const broken = (): GatewayError => new GatewayError('invalid_body', 'the form ends in the middle of a part');
