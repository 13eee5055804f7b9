/** Writes the embedded log store: slim rows with their columns by month, and the bodies of many records packed together by day. */
import type { Database, Statement } from 'bun:sqlite';
import { existsSync, mkdirSync } from 'node:fs';
import { lazy } from '../../lazy.ts';
import { type Context, contextFields, firstMeasure, measureFields, type Row } from '../layout.ts';
import { everyMessage, replaceMessages } from '../messages.ts';
import { noPreviews, type Previews, previewsOf } from '../preview.ts';
import type { SegmentFrame, StoredObject } from '../segment.ts';
import { withoutVectors } from '../vectors.ts';
import {
  bodiesFile,
  dayOf,
  deleteExpired,
  feedbackFile,
  monthOf,
  monthsIn,
  type Retention,
  rowsFile,
} from './files.ts';
import { chunksOfRollup } from './rollup.ts';
import { openForWriting, rowFields } from './schema.ts';
import { sealRows } from './seal.ts';

/** Messages are packed once this much has come together: large enough to pack well, small enough to open for one record. */
const blockBytes = 256 * 1024;
const packLevel = 1;
/** Contexts and metadata known by heart; a file with more of them looks the others up. */
const numbersKept = 20_000;
/** As many as a frame of the spool mostly has. */
const rowsAtOnce = 16;
/** Late records open an older month; more files than these are not kept open. */
const openMonths = 4;

const endpointType = contextFields.indexOf('endpoint_type');
const createdAt = firstMeasure + measureFields.indexOf('created_at');
const metadataAt = firstMeasure + measureFields.indexOf('metadata');
/** The fields that hold objects. */
const objectsAt = new Set(
  (['attempt', 'mcp', 'timings', 'guardrails'] as const).map((field) => firstMeasure + measureFields.indexOf(field)),
);
const ownCells = rowFields.map((field) => firstMeasure + measureFields.indexOf(field));

const marks = (count: number): string => Array.from({ length: count }, () => '?').join(', ');

/** Where the messages of a frame will stand. */
interface Place {
  day: string;
  block: number;
  part: number;
}

export class EmbeddedWriter {
  readonly #folder: string;
  readonly #timeoutMs: number;
  readonly #blockChunks: number;
  readonly #months = new Map<string, MonthWriter>();
  #bodies: BodyWriter | null = null;

  constructor(folder: string, timeoutMs: number, blockChunks = chunksOfRollup) {
    this.#folder = folder;
    this.#timeoutMs = timeoutMs;
    this.#blockChunks = blockChunks;
    mkdirSync(folder, { recursive: true, mode: 0o700 });
  }

  /** Stores the frames. Records that are there already stay as they are, so that a segment may be written again. */
  write(frames: Iterable<SegmentFrame>): void {
    const bodies = this.#bodiesOf(dayOf(Date.now()));
    const begun = new Set<MonthWriter>();
    try {
      bodies.begin();
      for (const frame of frames) this.#writeFrame(frame, bodies, begun);
      for (const month of begun) month.seal();
      // The bodies first: a row never names a block that is not there.
      bodies.commit();
      for (const month of begun) month.commit();
    } catch (error) {
      bodies.rollBack();
      for (const month of begun) month.rollBack();
      throw error;
    }
    this.#closeOldMonths();
  }

  /** Deletes what is older than it may be, and makes the rollups that files of an older release lack. */
  purge(now: number, retention: Retention): void {
    this.#deleteExpired(now, retention);
    for (const name of monthsIn(this.#folder)) {
      const month = this.#monthWriter(name);
      month.begin();
      month.seal();
      month.commit();
      this.#closeOldMonths();
    }
  }

  #deleteExpired(now: number, retention: Retention): void {
    deleteExpired(this.#folder, now, retention);
    for (const [month] of this.#months) if (!existsSync(rowsFile(this.#folder, month))) this.#closeMonth(month);
    if (this.#bodies && !existsSync(bodiesFile(this.#folder, this.#bodies.day))) {
      this.#bodies.close();
      this.#bodies = null;
    }
    if (!existsSync(feedbackFile(this.#folder))) return;
    const feedback = openForWriting(feedbackFile(this.#folder), 'feedback', this.#timeoutMs);
    feedback.run('delete from feedbacks where created_at < ?', [now - retention.rowMs]);
    feedback.close();
  }

  close(): void {
    for (const [month] of this.#months) this.#closeMonth(month);
    this.#bodies?.close();
    this.#bodies = null;
  }

  #writeFrame(frame: SegmentFrame, bodies: BodyWriter, begun: Set<MonthWriter>): void {
    const messages = storable(frame);
    const place = bodies.gather(messages);
    const kept = lazy(() => everyMessage(messages));
    const previewsAt = (at: number | null): Previews =>
      at === null ? noPreviews : previewsOf(frame.previews[at], () => kept()[at]);
    const objects = frame.objects && new Map(frame.objects.map((object, at) => [frame.rows[at], object]));
    for (const [month, rows] of byMonth(frame.rows)) {
      const writer = this.#monthWriter(month);
      if (!begun.has(writer)) {
        begun.add(writer);
        writer.begin();
      }
      const contexts = frame.contexts.map((context) => writer.contextNumber(context));
      const cells = rows.map((row) => {
        const context = contexts[row[0]];
        if (context === undefined) throw new Error('A row names a context that its frame lacks');
        const object = objects?.get(row) ?? null;
        const previews = object ?? previewsAt(row[1]);
        return rowCells(row, context, writer.metadataNumber(row[metadataAt]), place, previews, object);
      });
      bodies.newcomers += writer.insert(cells);
    }
    bodies.closeWhenFull();
  }

  #bodiesOf(day: string): BodyWriter {
    if (this.#bodies && this.#bodies.day !== day) {
      this.#bodies.close();
      this.#bodies = null;
    }
    this.#bodies ??= new BodyWriter(bodiesFile(this.#folder, day), day, this.#timeoutMs);
    return this.#bodies;
  }

  #monthWriter(month: string): MonthWriter {
    const known = this.#months.get(month);
    if (known) return known;
    const opened = new MonthWriter(rowsFile(this.#folder, month), this.#timeoutMs, this.#blockChunks);
    this.#months.set(month, opened);
    return opened;
  }

  #closeOldMonths(): void {
    for (const [month] of this.#months) {
      if (this.#months.size <= openMonths) return;
      this.#closeMonth(month);
    }
  }

  #closeMonth(month: string): void {
    this.#months.get(month)?.close();
    this.#months.delete(month);
  }
}

/** Rows of one month, in one file. */
class MonthWriter {
  readonly #db: Database;
  readonly #blockChunks: number;
  readonly #insertRow: Statement;
  /** Costs each of them half as much. */
  readonly #insertRows: Statement;
  readonly #contexts: Numbers;
  readonly #metadata: Numbers;

  constructor(file: string, timeoutMs: number, blockChunks: number) {
    this.#db = openForWriting(file, 'rows', timeoutMs);
    this.#blockChunks = blockChunks;
    const columns = [
      'context',
      'metadata_set',
      ...rowFields,
      'prompt_preview',
      'answer_preview',
      'body_day',
      'block',
      'part',
      'place',
      'object_path',
    ];
    const one = `(${marks(columns.length)})`;
    const insert = `insert or ignore into logs (${columns.join(', ')}) values`;
    this.#insertRow = this.#db.prepare(`${insert} ${one}`);
    this.#insertRows = this.#db.prepare(`${insert} ${Array.from({ length: rowsAtOnce }, () => one).join(', ')}`);
    this.#contexts = new Numbers(this.#db, 'contexts', 'context', contextFields);
    this.#metadata = new Numbers(this.#db, 'metadata_sets', 'metadata_set', ['metadata', 'user']);
  }

  begin(): void {
    this.#db.run('begin immediate');
  }

  commit(): void {
    this.#db.run('commit');
  }

  rollBack(): void {
    this.#contexts.forget();
    this.#metadata.forget();
    if (this.#db.inTransaction) this.#db.run('rollback');
  }

  close(): void {
    this.#db.close();
  }

  contextNumber(context: Context): number {
    return this.#contexts.of(JSON.stringify(context), () =>
      contextFields.map((_, at) => (Array.isArray(context[at]) ? JSON.stringify(context[at]) : (context[at] ?? null))),
    );
  }

  metadataNumber(metadata: unknown): number {
    const text = JSON.stringify(metadata ?? {});
    return this.#metadata.of(text, () => [text, userOf(metadata)]);
  }

  /** Answers how many rows this added. */
  insert(rows: readonly unknown[][]): number {
    let added = 0;
    let at = 0;
    for (; at + rowsAtOnce <= rows.length; at += rowsAtOnce) {
      // One list costs a quarter less than as many arguments.
      added += this.#insertRows.run(rows.slice(at, at + rowsAtOnce).flat()).changes;
    }
    for (const row of rows.slice(at)) added += this.#insertRow.run(row).changes;
    return added;
  }

  /** Writes the columns and rollups of what has become full. */
  seal(): void {
    sealRows(this.#db, this.#blockChunks);
  }
}

/** Gives equal things one number in a file. */
class Numbers {
  readonly #known = new Map<string, number>();
  readonly #insert: Statement;
  readonly #find: Statement<{ number: number }, [string]>;

  constructor(db: Database, table: string, key: string, columns: readonly string[]) {
    this.#insert = db.prepare(
      `insert or ignore into ${table} (digest, ${columns.join(', ')}) values (${marks(columns.length + 1)})`,
    );
    this.#find = db.prepare(`select ${key} as number from ${table} where digest = ?`);
  }

  of(text: string, values: () => unknown[]): number {
    const known = this.#known.get(text);
    if (known !== undefined) return known;
    const digest = new Bun.CryptoHasher('sha256').update(text).digest('base64');
    this.#insert.run(digest, ...values());
    const stored = this.#find.get(digest)?.number;
    if (stored === undefined) throw new Error('The log store lost what it just took');
    if (this.#known.size >= numbersKept) this.#known.clear();
    this.#known.set(text, stored);
    return stored;
  }

  forget(): void {
    this.#known.clear();
  }
}

/** Bodies of one day, packed into blocks. */
class BodyWriter {
  readonly day: string;
  /** Rows that were added since the last block: without any, their messages stand in an earlier block. */
  newcomers = 0;
  readonly #db: Database;
  readonly #insert: Statement;
  readonly #newest: Statement<{ block: number }, []>;
  #scratch = Buffer.alloc(2 * blockBytes);
  #gathered = 0;
  #block = 1;

  constructor(file: string, day: string, timeoutMs: number) {
    this.day = day;
    this.#db = openForWriting(file, 'bodies', timeoutMs);
    this.#insert = this.#db.prepare('insert into bodies (block, messages) values (?, ?)');
    this.#newest = this.#db.prepare('select coalesce(max(block), 0) as block from bodies');
  }

  begin(): void {
    this.#db.run('begin immediate');
    this.#block = (this.#newest.get()?.block ?? 0) + 1;
    this.#gathered = 0;
    this.newcomers = 0;
  }

  /** Adds the messages of a frame to the block that fills, and answers where they stand. */
  gather(messages: Buffer): Place {
    const part = this.#gathered;
    if (part + messages.length > this.#scratch.length) {
      const larger = Buffer.allocUnsafeSlow(part + messages.length);
      this.#scratch.copy(larger, 0, 0, part);
      this.#scratch = larger;
    }
    this.#scratch.set(messages, part);
    this.#gathered += messages.length;
    return { day: this.day, block: this.#block, part };
  }

  closeWhenFull(): void {
    if (this.#gathered >= blockBytes) this.#closeBlock();
  }

  commit(): void {
    this.#closeBlock();
    this.#db.run('commit');
  }

  rollBack(): void {
    if (this.#db.inTransaction) this.#db.run('rollback');
  }

  close(): void {
    this.#db.close();
  }

  #closeBlock(): void {
    if (this.newcomers > 0 && this.#gathered > 0) {
      const packed = Bun.zstdCompressSync(this.#scratch.subarray(0, this.#gathered), { level: packLevel });
      this.#insert.run(this.#block, packed);
      this.#block += 1;
    }
    this.#gathered = 0;
    this.newcomers = 0;
  }
}

function byMonth(rows: readonly Row[]): Map<string, Row[]> {
  const months = new Map<string, Row[]>();
  for (const row of rows) {
    const month = monthOf(Number(row[createdAt]));
    const others = months.get(month);
    if (others) others.push(row);
    else months.set(month, [row]);
  }
  return months;
}

/** A row's values in the order of its columns. */
function rowCells(
  row: Row,
  context: number,
  metadataSet: number,
  place: Place,
  { prompt, answer }: Previews,
  object: StoredObject | null,
): unknown[] {
  const cells: unknown[] = [context, metadataSet];
  for (const at of ownCells) {
    // An older release wrote fewer fields.
    const value = row[at] ?? null;
    cells.push(objectsAt.has(at) && value !== null ? JSON.stringify(value) : value);
  }
  const at = row[1];
  cells.push(prompt, answer);
  if (at === null) cells.push(null, null, null, null);
  else cells.push(place.day, place.block, place.part, at);
  cells.push(object?.path ?? null);
  return cells;
}

function userOf(metadata: unknown): string | null {
  if (typeof metadata !== 'object' || metadata === null || !('_user' in metadata)) return null;
  return typeof metadata._user === 'string' && metadata._user !== '' ? metadata._user : null;
}

/** The frame's messages as they may be stored. */
function storable({ contexts, rows, messages }: SegmentFrame): Buffer {
  if (messages.length === 0 || contexts.every((context) => context[endpointType] !== 'embed')) return messages;
  const embeddings = new Set(
    rows.filter(([context]) => contexts[context]?.[endpointType] === 'embed').map(([, place]) => place),
  );
  return replaceMessages(messages, (place, bodies) => (embeddings.has(place) ? withoutVectors(bodies) : bodies));
}
