/** One month of rows as queries read it: contexts and metadata by their numbers, and chunks of columns. */
import type { Database } from 'bun:sqlite';
import { type Context, contextFields, firstMeasure, measureFields, metricsOf, type Row } from '../layout.ts';
import type { ListedLog } from '../query.ts';
import type { LogMetrics } from '../record.ts';
import type { ColumnCache } from './column-cache.ts';
import { chunkRows, columnKey, openForReading, rowFields, type ScanColumn, scanColumns } from './schema.ts';
import { type Columns, readColumns } from './writer.ts';

const flags = new Set<string>(['is_success', 'cost_known', 'usage_estimated', 'is_proxy_call']);
const texts = new Set<string>(['ignored_config_keys', 'metadata', 'attempt', 'mcp', 'timings', 'guardrails']);

const patienceMs = 1_000;

/** The part of a record that many have in common, by name. */
export type ContextRow = Pick<LogMetrics, (typeof contextFields)[number]>;

/** Where a record's bodies stand. */
export interface BodyPlace {
  day: string;
  block: number;
  part: number;
  place: number;
}

export interface StoredLog extends ListedLog {
  body: BodyPlace | null;
}

/** Rows that stand one after the other, by columns. */
export interface Chunk {
  /** The number of the first row. */
  first: number;
  rows: number;
  column(name: ScanColumn): Float64Array;
}

type Stored = Record<string, unknown>;

export class Month {
  readonly name: string;
  readonly #db: Database;
  readonly #columns: ColumnCache;
  /** By their number; they never change, so that only new ones are read. */
  readonly #contexts: (ContextRow | undefined)[] = [];

  constructor(name: string, file: string, columns: ColumnCache) {
    this.name = name;
    this.#columns = columns;
    this.#db = openForReading(file, patienceMs);
    this.#db.run('PRAGMA mmap_size = 4294967296');
  }

  /** Everything that `work` reads is of one moment. */
  read<T>(work: () => T): T {
    this.#db.run('begin');
    try {
      return work();
    } finally {
      this.#db.run('commit');
    }
  }

  /** The contexts by their number, from 1. */
  contexts(): readonly (ContextRow | undefined)[] {
    const columns = contextFields.join(', ');
    const rows = this.#db
      .query<Stored, [number]>(`select context, ${columns} from contexts where context >= ? order by context`)
      .all(Math.max(1, this.#contexts.length));
    for (const row of rows) this.#contexts[Number(row.context)] = contextRow(row);
    return this.#contexts;
  }

  /** The numbers of the metadata that hold every one of these pairs, as a mask. */
  metadataMask(pairs: Readonly<Record<string, string>>): Uint8Array {
    const mask = new Uint8Array(this.#metadataCount() + 1);
    const names = Object.keys(pairs);
    const holds = names
      .map(() => 'exists (select 1 from json_each(metadata) where key = ? and value = ?)')
      .join(' and ');
    const found = this.#db
      .query<{ metadata_set: number }, string[]>(`select metadata_set from metadata_sets where ${holds}`)
      .all(...names.flatMap((name) => [name, pairs[name] ?? '']));
    for (const { metadata_set } of found) mask[metadata_set] = 1;
    return mask;
  }

  /** The value under a key, or null, by the number of the metadata. */
  metadataValues(key: string): (string | null)[] {
    const values: (string | null)[] = new Array(this.#metadataCount() + 1).fill(null);
    const sql =
      key === '_user'
        ? 'select metadata_set, user as value from metadata_sets where user is not null'
        : 'select metadata_set, item.value from metadata_sets, json_each(metadata) as item where item.key = ?';
    const found = this.#db
      .query<{ metadata_set: number; value: unknown }, string[]>(sql)
      .all(...(key === '_user' ? [] : [key]));
    for (const { metadata_set, value } of found) values[metadata_set] = String(value);
    return values;
  }

  /** The names of metadata that any row of these sets has. */
  metadataKeys(sets: Uint8Array): string[] {
    const rows = this.#db.query<{ metadata_set: number; metadata: string }, []>(
      'select metadata_set, metadata from metadata_sets',
    );
    const keys = new Set<string>();
    for (const { metadata_set, metadata } of rows.iterate()) {
      if (sets[metadata_set] === 1) for (const key of Object.keys(JSON.parse(metadata))) keys.add(key);
    }
    return [...keys];
  }

  get metadataCount(): number {
    return this.#metadataCount();
  }

  /** The numbers of the rows of these traces, rising. */
  rowsOfTraces(traceIds: readonly string[]): number[] {
    const list = JSON.stringify(traceIds);
    return this.#numbers(
      `select n from logs where trace_id in (select value from json_each(?1))
       union select n from logs where id in (select value from json_each(?1)) and trace_id is null order by n`,
      list,
    );
  }

  rowsOfSpans(spanIds: readonly string[]): number[] {
    return this.#numbers(
      `select n from logs where span_id in (select value from json_each(?1))
       union select n from logs where id in (select value from json_each(?1)) and span_id is null order by n`,
      JSON.stringify(spanIds),
    );
  }

  numberOf(id: string): number | null {
    return this.#db.query<{ n: number }, [string]>('select n from logs where id = ?').get(id)?.n ?? null;
  }

  /** The trace of a row. */
  traceOf(n: number): string {
    const row = this.#db
      .query<{ trace_id: string }, [number]>('select coalesce(trace_id, id) as trace_id from logs where n = ?')
      .get(n);
    return row?.trace_id ?? '';
  }

  row(n: number): StoredLog | null {
    const stored = this.#db
      .query<Stored, [number]>(
        'select logs.*, metadata_sets.metadata, contexts.* from logs join contexts using (context) join metadata_sets using (metadata_set) where n = ?',
      )
      .get(n);
    return stored ? storedLog(stored) : null;
  }

  /** What a search by text looks at, for some rows. */
  textsOf(first: number, last: number) {
    return this.#db
      .query<
        { n: number; texts: string; day: string | null; block: number; part: number; place: number },
        [number, number]
      >(
        `select n, prompt_preview || ' ' || answer_preview || ' ' || coalesce(error_message, '') as texts,
           body_day as day, block, part, place from logs where n between ? and ?`,
      )
      .all(first, last);
  }

  /** The chunks that can hold rows of the range, oldest first, and at the end the rows that fill no chunk yet. */
  *chunks(from: number, to: number): Generator<Chunk> {
    const sealed = this.#db
      .query<{ chunk: number; first_at: number; last_at: number }, []>(
        'select chunk, first_at, last_at from chunks order by chunk',
      )
      .all();
    const column = this.#db.query<{ data: Uint8Array<ArrayBuffer> }, [number]>(
      'select data from columns where key = ?',
    );
    for (const { chunk, first_at, last_at } of sealed) {
      if (last_at < from || first_at >= to) continue;
      yield {
        first: chunk * chunkRows + 1,
        rows: chunkRows,
        column: (name) =>
          this.#columns.get(`${this.name} ${chunk} ${name}`, () => {
            const data = column.get(columnKey(scanColumns.indexOf(name), chunk))?.data;
            if (!data) throw new Error(`The log store lacks the column ${name} of its chunk ${chunk}`);
            return new Float64Array(data.buffer, data.byteOffset, data.byteLength / 8);
          }),
      };
    }
    const first = sealed.length * chunkRows + 1;
    const rest = readColumns(this.#db, first, Number.MAX_SAFE_INTEGER);
    if (rest.context.length > 0)
      yield { first, rows: rest.context.length, column: (name) => rest[name as keyof Columns] };
  }

  close(): void {
    this.#db.close();
  }

  #metadataCount(): number {
    return (
      this.#db.query<{ n: number }, []>('select coalesce(max(metadata_set), 0) as n from metadata_sets').get()?.n ?? 0
    );
  }

  #numbers(sql: string, list: string): number[] {
    return this.#db
      .query<{ n: number }, [string]>(sql)
      .all(list)
      .map(({ n }) => n);
  }
}

const parsed = (field: string, value: unknown): unknown => {
  if (flags.has(field)) return value === 1;
  return texts.has(field) && value !== null ? JSON.parse(String(value)) : value;
};

const contextRow = (row: Stored): ContextRow =>
  Object.fromEntries(contextFields.map((field) => [field, parsed(field, row[field])])) as unknown as ContextRow;

function storedLog(stored: Stored): StoredLog {
  const context = contextFields.map((field) => parsed(field, stored[field])) as unknown as Context;
  const own = measureFields.map((field) => parsed(field, stored[field]));
  const row = [0, null, ...own] as unknown as Row;
  if (own.length + firstMeasure !== row.length || rowFields.length !== own.length - 1)
    throw new Error('A stored row is not whole');
  const { body_day, block, part, place } = stored;
  return {
    metrics: metricsOf(context, row),
    promptPreview: String(stored.prompt_preview),
    answerPreview: String(stored.answer_preview),
    body:
      body_day === null
        ? null
        : { day: String(body_day), block: Number(block), part: Number(part), place: Number(place) },
  };
}
