/** Reads bodies from their files by day. */
import { Database } from 'bun:sqlite';
import { existsSync } from 'node:fs';
import { contentOf } from '../content.ts';
import { messagesAt } from '../messages.ts';
import type { KeptBodies } from '../record.ts';
import { bodiesFile } from './files.ts';
import type { BodyPlace } from './month.ts';

const openDays = 8;

export class BodyReader {
  readonly #folder: string;
  readonly #days = new Map<string, Database>();
  /** Neighbours mostly stand in one block, which is opened once for all of them. */
  #last: { day: string; block: number; messages: Buffer } | null = null;

  constructor(folder: string) {
    this.#folder = folder;
  }

  /** Nothing where the file has been deleted for its age. */
  at({ day, block, part, place }: BodyPlace): KeptBodies {
    const messages = this.#block(day, block);
    return messages ? messagesAt(messages.subarray(part), place) : {};
  }

  /** True where any message holds the text, which is lower-case. */
  hold(place: BodyPlace, text: string): boolean {
    return Object.values(this.at(place)).some((message) => {
      const content = contentOf(message);
      if (content.form === 'text') return content.text.toLowerCase().includes(text);
      return content.form === 'json' && JSON.stringify(content.value).toLowerCase().includes(text);
    });
  }

  close(): void {
    for (const db of this.#days.values()) db.close();
    this.#days.clear();
  }

  #block(day: string, block: number): Buffer | null {
    if (this.#last?.day === day && this.#last.block === block) return this.#last.messages;
    const packed = this.#dayOf(day)
      ?.query<{ messages: Uint8Array }, [number]>('select messages from bodies where block = ?')
      .get(block);
    if (!packed) return null;
    const messages = Buffer.from(Bun.zstdDecompressSync(packed.messages));
    this.#last = { day, block, messages };
    return messages;
  }

  #dayOf(day: string): Database | null {
    const file = bodiesFile(this.#folder, day);
    const known = this.#days.get(day);
    if (!existsSync(file)) {
      known?.close();
      this.#days.delete(day);
      return null;
    }
    if (known) return known;
    const db = new Database(file, { readonly: true });
    db.run('PRAGMA busy_timeout = 1000');
    this.#days.set(day, db);
    const [oldest] = this.#days.keys();
    if (this.#days.size > openDays && oldest) {
      this.#days.get(oldest)?.close();
      this.#days.delete(oldest);
    }
    return db;
  }
}
