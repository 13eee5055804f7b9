/** A form written anew from the parts that were judged, with a boundary that nothing in it can hold: what was not seen is not sent. */
import { broken, FormCutter } from '../managed/form-cutter.ts';
import type { Bytes } from './body.ts';
import { boundaryOf, type PartHead, readPartHead, writePartHead } from './form-head.ts';

/** Told of every part as it goes by; throws where it must not go on. */
export interface FormWatch {
  part(head: PartHead): void;
  bytes(bytes: Uint8Array): void;
  /** The form is complete. */
  end(): void;
}

export class FormWriter {
  readonly contentType: string;
  readonly #boundary: string;
  readonly #cutter: FormCutter;
  readonly #watch: FormWatch;
  #begun = false;

  constructor(mark: string, watch: FormWatch) {
    this.#boundary = `gw${Bun.randomUUIDv7().replaceAll('-', '')}`;
    this.contentType = `multipart/form-data; boundary=${this.#boundary}`;
    this.#cutter = new FormCutter(mark);
    this.#watch = watch;
  }

  /** What may go on now. */
  push(piece: Uint8Array): Uint8Array {
    const written: Uint8Array[] = [];
    for (const event of this.#cutter.push(piece)) {
      if (event.is === 'bytes') {
        this.#watch.bytes(event.bytes);
        written.push(event.bytes);
        continue;
      }
      const opening = this.#begun ? `\r\n--${this.#boundary}` : `--${this.#boundary}`;
      if (event.is === 'end') {
        this.#watch.end();
        written.push(Buffer.from(`${opening}--\r\n`));
        continue;
      }
      this.#begun = true;
      const head = readPartHead(event.head);
      this.#watch.part(head);
      written.push(Buffer.from(`${opening}\r\n${writePartHead(head)}`));
    }
    return Buffer.concat(written);
  }

  requireEnd(): void {
    if (!this.#cutter.isComplete) throw broken();
  }
}

const unwatched: FormWatch = { part: () => undefined, bytes: () => undefined, end: () => undefined };

export function canonicalForm(body: Uint8Array, contentType: string): { bytes: Bytes; contentType: string } {
  const writer = new FormWriter(boundaryOf(contentType) ?? '', unwatched);
  const bytes = new Uint8Array(writer.push(body));
  writer.requireEnd();
  return { bytes, contentType: writer.contentType };
}
