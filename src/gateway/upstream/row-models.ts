/** Rows of a batch that name their provider with the model: it goes, and blanks behind the name take its place, so that a form keeps its length and all else in it stays as it came. */
import { isObject, objectOf, parsed, textOf } from '../../providers/json.ts';

/** The name of a model as the provider knows it; throws for models of other providers. */
type PlainModel = (named: string, where: string) => string;

/** A longer line is no row of a batch. */
const longestLine = 32 * 1024 * 1024;
const lineEnd = 10;
/** How the name of a saved provider begins in JSON. */
const mark = Buffer.from('"@');

export function withPlainModels(
  stream: ReadableStream<Uint8Array>,
  plainModel: PlainModel,
): ReadableStream<Uint8Array> {
  const lines = new RowLines(plainModel);
  return stream.pipeThrough(
    new TransformStream<Uint8Array, Uint8Array>({
      transform(piece, controller) {
        for (const bytes of lines.push(piece)) controller.enqueue(bytes);
      },
      flush(controller) {
        for (const bytes of lines.rest()) controller.enqueue(bytes);
      },
    }),
  );
}

class RowLines {
  readonly #plainModel: PlainModel;
  /** Of the line that is not complete yet. */
  #held: Buffer[] = [];
  #heldBytes = 0;
  /** The line is too long to be a row: it goes on as it comes. */
  #passing = false;

  constructor(plainModel: PlainModel) {
    this.#plainModel = plainModel;
  }

  push(piece: Uint8Array): Uint8Array[] {
    const bytes = Buffer.from(piece.buffer, piece.byteOffset, piece.byteLength);
    const end = bytes.lastIndexOf(lineEnd) + 1;
    if (end === 0) return this.#hold(bytes);
    const whole = Buffer.concat([...this.#held, bytes.subarray(0, end)]);
    const ready = this.#passing ? afterFirstLine(whole, this.#rewritten) : this.#rewritten(whole);
    this.#held = [];
    this.#heldBytes = 0;
    this.#passing = false;
    return [ready, ...this.#hold(bytes.subarray(end))];
  }

  rest(): Uint8Array[] {
    const left = Buffer.concat(this.#held);
    this.#held = [];
    return left.length === 0 ? [] : [this.#passing ? left : this.#rewritten(left)];
  }

  #hold(bytes: Buffer): Uint8Array[] {
    if (this.#passing) return bytes.length === 0 ? [] : [bytes];
    this.#held.push(Buffer.from(bytes));
    this.#heldBytes += bytes.length;
    if (this.#heldBytes <= longestLine) return [];
    const ready = this.#held;
    this.#held = [];
    this.#heldBytes = 0;
    this.#passing = true;
    return ready;
  }

  /** Lines that are whole. */
  readonly #rewritten = (lines: Buffer): Buffer => {
    if (!lines.includes(mark)) return lines;
    const written = Buffer.from(lines);
    for (let start = 0; start < written.length; ) {
      const next = written.indexOf(lineEnd, start);
      const end = next === -1 ? written.length : next;
      const line = written.subarray(start, end);
      if (line.includes(mark)) this.#rewrite(line);
      start = end + 1;
    }
    return written;
  };

  /** In its place. */
  #rewrite(line: Buffer): void {
    const text = line.toString();
    const row = parsed(text);
    const named = isObject(row) ? textOf(objectOf(row.body).model) : null;
    if (!isObject(row) || !named?.startsWith('@')) return;
    const id = textOf(row.custom_id);
    const model = this.#plainModel(named, id === null ? 'a row' : `the row "${id}"`);
    if (model === named) return;
    const written = JSON.stringify(named);
    const plain = JSON.stringify(model);
    const blanks = ' '.repeat(Buffer.byteLength(written) - Buffer.byteLength(plain));
    // The same text may stand elsewhere in the row; the right place is the one that changes the model.
    for (let at = text.indexOf(written); at !== -1; at = text.indexOf(written, at + 1)) {
      const changed = text.slice(0, at) + plain + blanks + text.slice(at + written.length);
      if (objectOf(objectOf(parsed(changed)).body).model !== model) continue;
      line.write(changed);
      return;
    }
  }
}

function afterFirstLine(bytes: Buffer, rewritten: (lines: Buffer) => Buffer): Buffer {
  const end = bytes.indexOf(lineEnd) + 1;
  return Buffer.concat([bytes.subarray(0, end), rewritten(bytes.subarray(end))]);
}
