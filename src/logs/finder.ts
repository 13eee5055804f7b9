/** Reads the embedded log store; it never writes and never waits for the writer. */
import { Database, type Statement } from 'bun:sqlite';
import { type Context, contextFields, measureFields, metricsOf, type Row } from './layout.ts';
import { messagesAt } from './messages.ts';
import type { KeptRecord } from './record.ts';

const flags = new Set<string>(['is_success', 'usage_estimated', 'cost_known', 'is_proxy_call']);
const texts = new Set<string>(['ignored_config_keys', 'metadata']);

type StoredRow = Record<string, unknown> & { block: number | null; part: number; place: number };

export class LogFinder {
  readonly #db: Database;
  readonly #byId: Statement<StoredRow, [string]>;
  readonly #messages: Statement<{ messages: Uint8Array }, [number]>;

  constructor(file: string) {
    this.#db = new Database(file, { readonly: true });
    try {
      this.#db.run('PRAGMA busy_timeout = 100');
      this.#byId = this.#db.prepare('select * from logs join log_contexts using (context) where id = ?');
      this.#messages = this.#db.prepare('select messages from log_bodies where block = ?');
    } catch (error) {
      this.#db.close();
      throw error;
    }
  }

  find(id: string): KeptRecord | null {
    const stored = this.#byId.get(id);
    if (!stored) return null;
    const value = (field: string) =>
      flags.has(field) ? stored[field] === 1 : texts.has(field) ? JSON.parse(String(stored[field])) : stored[field];
    const context = contextFields.map(value) as Context;
    const metrics = metricsOf(context, [0, null, ...measureFields.map(value)] as Row);
    const packed = stored.block === null ? null : this.#messages.get(stored.block);
    if (!packed) return { metrics, bodies: {} };
    const unpacked = Buffer.from(Bun.zstdDecompressSync(packed.messages));
    return { metrics, bodies: messagesAt(unpacked.subarray(stored.part), stored.place) };
  }

  close(): void {
    this.#db.close();
  }
}
