/** The tables of the embedded log store. */
import { Database } from 'bun:sqlite';
import { contextFields, measureFields } from '../layout.ts';

/** The fields of a row that stand in it itself; metadata stands once for all rows that share it. */
export const rowFields = measureFields.filter((field) => field !== 'metadata');

/** Those that an older release may lack: the fields, and where bodies lie in an object store. */
const storedFields = [...rowFields, 'object_path'];

/** Rows of one block of columns. Sums and filters read columns; the last rows, which fill no block yet, are read as rows. */
export const chunkRows = 4_096;

/** The columns that sums, filters and orders read, each as one array for a chunk of rows. */
export const scanColumns = [
  'context',
  'metadata_set',
  'created_at',
  'req_units',
  'res_units',
  'total_units',
  'cost',
  'response_time',
  'saved_cost',
] as const;
export type ScanColumn = (typeof scanColumns)[number];
export type Columns = Record<ScanColumn, Float64Array<ArrayBuffer>>;

/** The key of a column's array among all arrays of a file. */
export const columnKey = (column: number, chunk: number): number => column * 2 ** 32 + chunk;

const rowsSchema = `
create table if not exists contexts (
  context integer primary key,
  digest text not null unique,
  ${contextFields.join(',\n  ')}
);
create table if not exists metadata_sets (
  metadata_set integer primary key,
  digest text not null unique,
  metadata text not null,
  user text
);
create table if not exists logs (
  n integer primary key,
  context integer not null,
  metadata_set integer not null,
  ${rowFields.join(',\n  ')},
  prompt_preview text not null,
  answer_preview text not null,
  body_day text,
  block integer,
  part integer,
  place integer,
  object_path text
);
create unique index if not exists logs_id on logs (id);
create index if not exists logs_trace on logs (trace_id) where trace_id is not null;
create index if not exists logs_span on logs (span_id) where span_id is not null;
create table if not exists chunks (chunk integer primary key, first_at real not null, last_at real not null);
create table if not exists columns (key integer primary key, data blob not null);
create table if not exists rollups (block integer primary key, first_chunk integer not null, chunks integer not null);
create table if not exists rollup_parts (key integer primary key, data blob not null);
`;

const bodiesSchema = 'create table if not exists bodies (block integer primary key, messages blob not null)';

const feedbackSchema = `
create table if not exists feedbacks (
  id text primary key,
  organisation_id text not null,
  workspace_id text not null,
  trace_id text not null,
  value integer not null,
  weight real not null,
  metadata text not null,
  created_at integer not null
);
create index if not exists feedbacks_trace on feedbacks (workspace_id, trace_id);
create index if not exists feedbacks_time on feedbacks (organisation_id, created_at);
`;

export function openForWriting(file: string, kind: 'rows' | 'bodies' | 'feedback', timeoutMs: number): Database {
  const db = new Database(file, { create: true });
  try {
    db.run(`PRAGMA busy_timeout = ${timeoutMs}`);
    db.run('PRAGMA page_size = 8192');
    db.run('PRAGMA journal_mode = WAL');
    // A segment is deleted once its rows are here, so they must be on the disk by then.
    db.run('PRAGMA synchronous = FULL');
    // Rows come in the order of their keys, so few pages are touched again.
    db.run('PRAGMA cache_size = -4000');
    db.run(kind === 'rows' ? rowsSchema : kind === 'bodies' ? bodiesSchema : feedbackSchema);
    if (kind === 'rows') {
      addMissingColumns(db, 'contexts', contextFields);
      addMissingColumns(db, 'logs', storedFields);
    }
    return db;
  } catch (error) {
    db.close();
    throw error;
  }
}

/** A file of an older release gets the fields that came since; its rows lack them. */
function addMissingColumns(db: Database, table: string, fields: readonly string[]): void {
  for (const field of missingColumns(db, table, fields)) db.run(`alter table ${table} add column ${field}`);
}

function missingColumns(db: Database, table: string, fields: readonly string[]): string[] {
  const columns = db.query<{ name: string }, []>(`select name from pragma_table_info('${table}')`).all();
  const present = new Set(columns.map(({ name }) => name));
  return fields.filter((field) => !present.has(field));
}

/** Opens the rows of a month; those that an older release wrote, and nobody has written since, get the fields that came since. */
export function openForReading(file: string, timeoutMs: number): Database {
  const open = () => {
    const db = new Database(file, { readonly: true });
    db.run(`PRAGMA busy_timeout = ${timeoutMs}`);
    return db;
  };
  const db = open();
  const isWhole =
    missingColumns(db, 'contexts', contextFields).length === 0 &&
    missingColumns(db, 'logs', storedFields).length === 0 &&
    missingColumns(db, 'rollup_parts', ['data']).length === 0;
  if (isWhole) return db;
  db.close();
  openForWriting(file, 'rows', timeoutMs).close();
  return open();
}

/** The columns of some rows, read from the rows themselves. */
export function readColumns(db: Database, first: number, last: number): Columns {
  const rows = db
    .query(`select ${scanColumns.join(', ')} from logs where n between ? and ? order by n`)
    .values(first, last);
  const columns = {} as Columns;
  for (const [at, column] of scanColumns.entries()) {
    const values = new Float64Array(rows.length);
    for (let row = 0; row < rows.length; row++) values[row] = Number(rows[row]?.[at]);
    columns[column] = values;
  }
  return columns;
}

/** The first and the last of some moments. */
export function boundsOf(times: Float64Array): [first: number, last: number] {
  let first = Number.POSITIVE_INFINITY;
  let last = Number.NEGATIVE_INFINITY;
  for (const time of times) {
    if (time < first) first = time;
    if (time > last) last = time;
  }
  return [first, last];
}
