/** One month of rows as queries read it: contexts and metadata by their numbers, and chunks of columns. */
import type { Database } from 'bun:sqlite';
import { metricsFrom } from '../layout.ts';
import type { ListedLog } from '../query.ts';
import type { LogMetrics } from '../record.ts';
import type { Column, ColumnCache } from './column-cache.ts';
import { type TraceKey, traceKey } from './feedback.ts';
import { countColumns, partKey, type Rollup, type RollupPart, sumColumns } from './rollup.ts';
import { boundsOf, chunkRows, columnKey, openForReading, readColumns, type ScanColumn, scanColumns } from './schema.ts';

const flags = new Set<string>(['is_success', 'cost_known', 'usage_estimated', 'is_proxy_call']);
const texts = new Set<string>(['ignored_config_keys', 'metadata', 'attempt', 'mcp', 'timings', 'guardrails']);

const timeoutMs = 1_000;

/** What filters, groups and sums ask of a context. A month has thousands of contexts, and each further field delays the first query. */
const queriedFields = [
  'organisation_id',
  'workspace_id',
  'workspace_slug',
  'api_key_id',
  'user_id',
  'endpoint_type',
  'ai_org',
  'ai_model',
  'mode',
  'virtual_key',
  'config',
  'source',
  'is_success',
  'cost_known',
  'response_status_code',
  'cache_status',
  'retry_success_count',
  'last_used_option_index',
  'prompt_slug',
  'mcp_server',
  'mcp_method',
  'mcp_tool',
] as const satisfies readonly (keyof LogMetrics)[];

export type ContextRow = Pick<LogMetrics, (typeof queriedFields)[number]>;
type StoredContext = Omit<ContextRow, 'is_success' | 'cost_known'> & {
  context: number;
  is_success: number;
  cost_known: number;
};

/** Where a record's bodies stand. */
export interface BodyPlace {
  day: string;
  block: number;
  part: number;
  place: number;
}

export interface StoredLog extends ListedLog {
  body: BodyPlace | null;
  /** The path of its bodies in an object store. */
  object: string | null;
}

/** Rows that stand one after the other, by columns. */
export interface Chunk {
  /** Its own number; chunks that fill have none yet. */
  number: number | null;
  /** The number of the first row. */
  first: number;
  rows: number;
  /** When the oldest and the newest of its calls arrived. */
  firstAt: number;
  lastAt: number;
  column(name: ScanColumn): Float64Array;
}

type Stored = Record<string, unknown>;

export class Month {
  readonly name: string;
  readonly #db: Database;
  readonly #columns: ColumnCache;
  readonly #owner: number;
  /** By their number; they never change, so that only new ones are read. */
  readonly #contexts: (ContextRow | undefined)[] = [];

  constructor(name: string, file: string, columns: ColumnCache) {
    this.name = name;
    this.#columns = columns;
    this.#owner = columns.newOwner();
    this.#db = openForReading(file, timeoutMs);
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
    const rows = this.#db
      .query<StoredContext, [number]>(
        `select context, ${queriedFields.join(', ')} from contexts where context >= ? order by context`,
      )
      .all(Math.max(1, this.#contexts.length));
    for (const row of rows) {
      this.#contexts[row.context] = { ...row, is_success: row.is_success === 1, cost_known: row.cost_known === 1 };
    }
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

  /** The trace of a row, with its workspace: others may use the same id. */
  traceOf(n: number): TraceKey {
    const row = this.#db
      .query<{ trace_id: string; workspace_id: string }, [number]>(
        'select coalesce(trace_id, id) as trace_id, workspace_id from logs join contexts using (context) where n = ?',
      )
      .get(n);
    return traceKey(row?.workspace_id ?? '', row?.trace_id ?? '');
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

  /** The chunks that can hold rows of the range, in the order in which they were written; at the end the rows that fill no chunk yet. */
  chunks(from: number, to: number): Chunk[] {
    const sealed = this.#db
      .query<{ chunk: number; first_at: number; last_at: number }, []>(
        'select chunk, first_at, last_at from chunks order by chunk',
      )
      .all();
    const chunks = sealed.map(
      ({ chunk, first_at, last_at }): Chunk => ({
        number: chunk,
        first: chunk * chunkRows + 1,
        rows: chunkRows,
        firstAt: first_at,
        lastAt: last_at,
        column: (name) => this.#column(chunk, name),
      }),
    );
    const first = sealed.length * chunkRows + 1;
    const rest = readColumns(this.#db, first, Number.MAX_SAFE_INTEGER);
    const rows = rest.context.length;
    if (rows > 0) {
      const [firstAt, lastAt] = boundsOf(rest.created_at);
      chunks.push({ number: null, first, rows, firstAt, lastAt, column: (name) => rest[name] });
    }
    return chunks.filter(({ firstAt, lastAt }) => lastAt >= from && firstAt < to);
  }

  /** The rollups, in the order of the chunks that they cover. */
  rollups(): Rollup[] {
    return this.#db
      .query<{ block: number; first_chunk: number; chunks: number }, []>(
        'select block, first_chunk, chunks from rollups order by first_chunk',
      )
      .all()
      .map(({ block, first_chunk, chunks }) => this.#rollup(block, first_chunk, first_chunk + chunks));
  }

  #rollup(block: number, firstChunk: number, endChunk: number): Rollup {
    const floats = (part: RollupPart) => this.#cached(`${block} ${part}`, () => asFloats(this.#partOf(part, block)));
    const whole = (part: RollupPart) => this.#cached(`${block} ${part}`, () => asWhole(this.#partOf(part, block)));
    const hours = floats('hours');
    const entries = hours.at(-1) ?? 0;
    const columnOf = (all: readonly string[], name: string) => all.indexOf(name) * entries;
    return {
      firstChunk,
      endChunk,
      hours,
      entries,
      count: (name) => whole('counts').subarray(columnOf(countColumns, name)).subarray(0, entries),
      sum: (name) => floats('sums').subarray(columnOf(sumColumns, name)).subarray(0, entries),
      latencies: () => whole('latencies'),
      sets: () => whole('sets'),
    };
  }

  #column(chunk: number, name: ScanColumn): Float64Array {
    return this.#cached(`${chunk} ${name}`, () => {
      const key = columnKey(scanColumns.indexOf(name), chunk);
      return asFloats(this.#bytesAt('columns', key, `the column ${name} of its chunk ${chunk}`));
    });
  }

  #partOf(part: RollupPart, block: number): Uint8Array<ArrayBuffer> {
    return this.#bytesAt('rollup_parts', partKey(part, block), `the ${part} of its rollup ${block}`);
  }

  #cached<C extends Column>(key: string, read: () => C): C {
    return this.#columns.get(`${this.#owner} ${key}`, read);
  }

  #bytesAt(table: 'columns' | 'rollup_parts', key: number, what: string): Uint8Array<ArrayBuffer> {
    const data = this.#db
      .query<{ data: Uint8Array<ArrayBuffer> }, [number]>(`select data from ${table} where key = ?`)
      .get(key)?.data;
    if (!data) throw new Error(`The log store lacks ${what}`);
    return data;
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

const asFloats = ({ buffer, byteOffset, byteLength }: Uint8Array<ArrayBuffer>): Float64Array =>
  new Float64Array(buffer, byteOffset, byteLength / 8);

const asWhole = ({ buffer, byteOffset, byteLength }: Uint8Array<ArrayBuffer>): Uint32Array =>
  new Uint32Array(buffer, byteOffset, byteLength / 4);

const parsed = (field: string, value: unknown): unknown => {
  if (flags.has(field)) return value === 1;
  return texts.has(field) && value !== null ? JSON.parse(String(value)) : value;
};

function storedLog(stored: Stored): StoredLog {
  const { body_day, block, part, place, object_path } = stored;
  return {
    metrics: metricsFrom((field) => parsed(field, stored[field])),
    promptPreview: String(stored.prompt_preview),
    answerPreview: String(stored.answer_preview),
    body:
      body_day === null
        ? null
        : { day: String(body_day), block: Number(block), part: Number(part), place: Number(place) },
    object: typeof object_path === 'string' ? object_path : null,
  };
}
