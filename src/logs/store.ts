/** Writes the embedded log store: one SQLite file with a narrow row a record, and the messages of many records packed together. */
import { Database, type SQLQueryBindings, type Statement } from 'bun:sqlite';
import { type Context, contextFields, firstMeasure, measureFields, type Row } from './layout.ts';
import { replaceMessages } from './messages.ts';
import type { Frame } from './segment.ts';
import { withoutVectors } from './vectors.ts';

/** Messages are packed once this much has come together: large enough to pack well, small enough to open for one record. */
const blockBytes = 256 * 1024;
const packLevel = 1;
/** Contexts known by heart; a store with more of them looks the others up. */
const contextsKept = 20_000;

const purgedAtOnce = 1_000;
/** As many as a frame of the spool mostly has. */
const rowsAtOnce = 16;

const endpointType = contextFields.indexOf('endpoint_type');
const metadata = firstMeasure + measureFields.indexOf('metadata');
const rowWidth = firstMeasure + measureFields.length;

const schema = `
create table if not exists log_contexts (
  context integer primary key,
  digest text not null unique,
  ${contextFields.join(',\n  ')}
);
create table if not exists logs (
  context integer not null,
  id text not null primary key,
  ${measureFields.slice(1).join(',\n  ')},
  block integer,
  part integer,
  place integer
) without rowid;
create table if not exists log_bodies (block integer primary key, written_at integer, messages blob not null);
`;

const marks = (count: number): string => Array.from({ length: count }, () => '?').join(', ');

/** How long stored things are kept, in milliseconds. */
export interface Retention {
  bodyMs: number;
  rowMs: number;
}

export class LogWriter {
  readonly #db: Database;
  readonly #insertRow: Statement;
  /** Costs each of them half as much. */
  readonly #insertRows: Statement;
  readonly #insertBlock: Statement;
  readonly #insertContext: Statement;
  readonly #contextByDigest: Statement<{ context: number }, [string]>;
  readonly #newestBlock: Statement<{ block: number }, []>;
  readonly #contexts = new Map<string, number>();
  #scratch = Buffer.alloc(2 * blockBytes);

  constructor(file: string, timeoutMs: number) {
    this.#db = new Database(file, { create: true });
    try {
      this.#db.run(`PRAGMA busy_timeout = ${timeoutMs}`);
      this.#db.run('PRAGMA page_size = 8192');
      this.#db.run('PRAGMA journal_mode = WAL');
      // A segment is deleted once its rows are here, so they must be on the disk by then.
      this.#db.run('PRAGMA synchronous = FULL');
      // Rows come in the order of their keys, so a few pages are all that is ever touched again.
      this.#db.run('PRAGMA cache_size = -2000');
      this.#db.run(schema);
      addMissingColumns(this.#db, 'log_contexts', contextFields);
      addMissingColumns(this.#db, 'logs', measureFields);
      addMissingColumns(this.#db, 'log_bodies', ['written_at']);
      const contextColumns = contextFields.join(', ');
      this.#insertContext = this.#db.prepare(
        `insert or ignore into log_contexts (digest, ${contextColumns}) values (${marks(contextFields.length + 1)})`,
      );
      this.#contextByDigest = this.#db.prepare('select context from log_contexts where digest = ?');
      const rowColumns = `context, place, ${measureFields.join(', ')}, block, part`;
      const rowMarks = `(${marks(rowWidth + 2)})`;
      const insertRows = `insert or ignore into logs (${rowColumns}) values`;
      this.#insertRow = this.#db.prepare(`${insertRows} ${rowMarks}`);
      this.#insertRows = this.#db.prepare(
        `${insertRows} ${Array.from({ length: rowsAtOnce }, () => rowMarks).join(', ')}`,
      );
      this.#insertBlock = this.#db.prepare('insert into log_bodies (block, written_at, messages) values (?, ?, ?)');
      this.#newestBlock = this.#db.prepare('select coalesce(max(block), 0) as block from log_bodies');
    } catch (error) {
      this.#db.close();
      throw error;
    }
  }

  /** Stores the frames wholly or not at all. Records that are there already stay as they are. */
  write(frames: Iterable<Frame>): void {
    this.#db.run('begin immediate');
    try {
      this.#writeAll(frames);
      this.#db.run('commit');
    } catch (error) {
      this.#contexts.clear();
      if (this.#db.inTransaction) this.#db.run('rollback');
      throw error;
    }
  }

  /** Deletes some of what is older than it may be; true when there may be more. */
  purge(now: number, { bodyMs, rowMs }: Retention): boolean {
    // Blocks of a release that did not write their age count from the first look at them.
    this.#db.run('update log_bodies set written_at = ? where written_at is null', [now]);
    // The newest block stays, for the numbers of later ones go on from it.
    const bodies = this.#db.run(
      `delete from log_bodies where block in (
         select block from log_bodies
         where written_at < ? and block < (select max(block) from log_bodies) limit ${purgedAtOnce})`,
      [now - bodyMs],
    );
    // Ids begin with the time, so that old rows stand together at the front.
    const rows = this.#db.run(
      `delete from logs where id in (
         select id from logs where id < ? and created_at < ? limit ${purgedAtOnce})`,
      [firstIdAt(now - rowMs), now - rowMs],
    );
    return bodies.changes === purgedAtOnce || rows.changes === purgedAtOnce;
  }

  close(): void {
    this.#db.close();
  }

  #writeAll(frames: Iterable<Frame>): void {
    let block = (this.#newestBlock.get()?.block ?? 0) + 1;
    let gathered = 0;
    let newcomers = 0;
    const closeBlock = () => {
      // Where every row was there already, so are the messages: in an earlier block.
      if (newcomers > 0 && gathered > 0) {
        const packed = Bun.zstdCompressSync(this.#scratch.subarray(0, gathered), { level: packLevel });
        this.#insertBlock.run(block, Date.now(), packed);
        block += 1;
      }
      gathered = 0;
      newcomers = 0;
    };
    for (const frame of frames) {
      const messages = storable(frame);
      const contexts = frame.contexts.map((context) => this.#contextNumber(context));
      this.#gather(gathered, messages);
      newcomers += this.#writeRows(frame.rows, contexts, block, gathered);
      gathered += messages.length;
      if (gathered >= blockBytes) closeBlock();
    }
    closeBlock();
  }

  /** Answers how many rows this added. */
  #writeRows(rows: readonly Row[], contexts: readonly number[], block: number, part: number): number {
    let added = 0;
    let cells: unknown[] = [];
    const all = rows.length - (rows.length % rowsAtOnce);
    for (const [at, row] of rows.entries()) {
      addCells(cells, row, contexts, block, part);
      const statement = at < all ? this.#insertRows : this.#insertRow;
      if (at < all && (at + 1) % rowsAtOnce !== 0) continue;
      // One list costs a quarter less than as many arguments; the types know only arguments.
      added += statement.run(cells as unknown as SQLQueryBindings).changes;
      cells = [];
    }
    return added;
  }

  #gather(at: number, messages: Buffer): void {
    if (at + messages.length > this.#scratch.length) {
      const larger = Buffer.allocUnsafeSlow(at + messages.length);
      this.#scratch.copy(larger, 0, 0, at);
      this.#scratch = larger;
    }
    this.#scratch.set(messages, at);
  }

  #contextNumber(context: Context): number {
    const key = JSON.stringify(context);
    const known = this.#contexts.get(key);
    if (known !== undefined) return known;
    const digest = new Bun.CryptoHasher('sha256').update(key).digest('hex');
    const values = contextFields.map((_, at) =>
      Array.isArray(context[at]) ? JSON.stringify(context[at]) : (context[at] ?? null),
    );
    this.#insertContext.run(digest, ...(values as SQLQueryBindings[]));
    const stored = this.#contextByDigest.get(digest)?.context;
    if (stored === undefined) throw new Error('The log store lost a context that it just took');
    if (this.#contexts.size >= contextsKept) this.#contexts.clear();
    this.#contexts.set(key, stored);
    return stored;
  }
}

/** A row's values in the order of its columns. */
function addCells(cells: unknown[], row: Row, contexts: readonly number[], block: number, part: number): void {
  const context = contexts[row[0]];
  if (context === undefined) throw new Error('A row names a context that its frame lacks');
  const hasMessages = row[1] !== null;
  cells.push(context);
  for (let at = 1; at < rowWidth; at++) {
    // An older release wrote fewer fields.
    const value = row[at] ?? null;
    cells.push(at === metadata ? JSON.stringify(value) : value);
  }
  cells.push(hasMessages ? block : null, hasMessages ? part : null);
}

/** The least time-ordered id that can have been made at a time. */
function firstIdAt(ms: number): string {
  const time = Math.max(0, Math.floor(ms)).toString(16).padStart(12, '0');
  return `${time.slice(0, 8)}-${time.slice(8)}`;
}

/** A store of an older release gets the fields that came since; its rows lack them. */
function addMissingColumns(db: Database, table: string, fields: readonly string[]): void {
  const present = new Set(
    db
      .query<{ name: string }, []>(`select name from pragma_table_info('${table}')`)
      .all()
      .map(({ name }) => name),
  );
  for (const field of fields) if (!present.has(field)) db.run(`alter table ${table} add column ${field}`);
}

/** The frame's messages as they may be stored. */
function storable({ contexts, rows, messages }: Frame): Buffer {
  if (messages.length === 0 || contexts.every((context) => context[endpointType] !== 'embed')) return messages;
  const embeddings = new Set(
    rows.filter(([context]) => contexts[context]?.[endpointType] === 'embed').map(([, place]) => place),
  );
  return replaceMessages(messages, (place, bodies) => (embeddings.has(place) ? withoutVectors(bodies) : bodies));
}
