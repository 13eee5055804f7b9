/** Writes what queries read instead of rows: the columns of every full chunk, and a rollup of every full block of chunks. */
import type { Database } from 'bun:sqlite';
import { chunksOfRollup, partKey, type RollupPart, rollUp, rollupParts } from './rollup.ts';
import { boundsOf, type Columns, chunkRows, columnKey, readColumns, scanColumns } from './schema.ts';

interface Block {
  first: number;
  chunks: number;
}

/** Rows are numbered from 1 without gaps, so it is known which of them fill a chunk. Part of the transaction that adds rows. */
export function sealRows(db: Database, blockChunks = chunksOfRollup): void {
  const rows = numberOf(db, 'select coalesce(max(n), 0) as number from logs');
  const sealed = numberOf(db, 'select count(*) as number from chunks');
  const full = Math.floor(rows / chunkRows);
  for (let chunk = sealed; chunk < full; chunk++) sealChunk(db, chunk);
  const rolledUp = numberOf(db, 'select coalesce(max(first_chunk + chunks), 0) as number from rollups');
  for (let first = rolledUp; first + blockChunks <= full; first += blockChunks) {
    sealBlock(db, { first, chunks: blockChunks });
  }
}

function sealChunk(db: Database, chunk: number): void {
  const first = chunk * chunkRows + 1;
  const columns = readColumns(db, first, first + chunkRows - 1);
  for (const [at, column] of scanColumns.entries()) {
    const { buffer } = columns[column];
    db.run('insert into columns (key, data) values (?, ?)', [columnKey(at, chunk), new Uint8Array(buffer)]);
  }
  const [firstAt, lastAt] = boundsOf(columns.created_at);
  db.run('insert into chunks (chunk, first_at, last_at) values (?, ?, ?)', [chunk, firstAt, lastAt]);
}

function sealBlock(db: Database, { first, chunks }: Block): void {
  const arrays = rollUp(Array.from({ length: chunks }, (_, at) => sealedColumns(db, first + at)));
  const { block } = db
    .query<{ block: number }, [number, number]>(
      'insert into rollups (first_chunk, chunks) values (?, ?) returning block',
    )
    .get(first, chunks) ?? { block: 0 };
  for (const part of rollupParts satisfies readonly RollupPart[]) {
    const { buffer, byteOffset, byteLength } = arrays[part];
    const bytes = new Uint8Array(buffer, byteOffset, byteLength);
    db.run('insert into rollup_parts (key, data) values (?, ?)', [partKey(part, block), bytes]);
  }
}

function sealedColumns(db: Database, chunk: number): Columns {
  const read = db.query<{ data: Uint8Array<ArrayBuffer> }, [number]>('select data from columns where key = ?');
  const columns = {} as Columns;
  for (const [at, column] of scanColumns.entries()) {
    const data = read.get(columnKey(at, chunk))?.data;
    if (!data) throw new Error(`The log store lacks the column ${column} of its chunk ${chunk}`);
    columns[column] = new Float64Array(data.buffer, data.byteOffset, data.byteLength / 8);
  }
  return columns;
}

const numberOf = (db: Database, sql: string): number => db.query<{ number: number }, []>(sql).get()?.number ?? 0;
