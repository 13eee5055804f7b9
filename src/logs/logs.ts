/** The logs of calls, wired together: the spool takes records, the importer stores them, queries read them. */
import { Database } from 'bun:sqlite';
import { mkdirSync, readdirSync, renameSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { faultFields, type Log } from '../log.ts';
import { type BodyObjects, type Engine, openQueries } from './engine.ts';
import { FeedbackBuffer } from './feedback-buffer.ts';
import { type Breaker, readySuffix } from './importer.ts';
import { ImporterHandle } from './importer-handle.ts';
import { withObject } from './objects/read.ts';
import { ObjectStore } from './objects/store.ts';
import { OpenTraces } from './open-traces.ts';
import type { Feedback, LogFilter, LogQueries } from './query.ts';
import type { KeptRecord, LogRecord, LogSink } from './record.ts';
import { openSuffix, Spool } from './spool.ts';
import { findOnTheWay } from './spool-search.ts';
import { systemTimer, type Timer } from './timer.ts';
import { type TraceQuestion, unknownTraces } from './trace-search.ts';

export interface Logs extends LogSink, LogQueries {
  /** Calls that are under way; whoever makes calls tells it. */
  readonly openTraces: OpenTraces;
  /** Those of the traces that nobody knows. Where that cannot be found out, none. */
  unknownTraces(question: TraceQuestion): Promise<string[]>;
  /** Records that could not be kept since the start. */
  readonly dropped: number;
  /** Saves feedback that nobody waits for. */
  giveFeedback(feedback: readonly Feedback[]): void;
  /** Resolves when everything that was appended before has reached the store. */
  settled(): Promise<void>;
  /** Writes and stores what is left, then ends the importer. */
  close(): Promise<void>;
}

export interface LogLimits {
  /** Days that bodies are kept; 0: they are never written. */
  bodyDays: number;
  /** Days that the rows of calls are kept. */
  rowDays: number;
  /** What the spool may take on the disk while the store does not take it. */
  spoolBytes: number;
}

export interface LogOptions {
  limits: LogLimits;
  /** Null: the log store is made of files in the data folder. */
  clickhouseUrl: string | null;
  /** Null: bodies are kept in the log store itself. */
  objects: BodyObjects | null;
  /** A query that takes longer is ended. */
  queryTimeoutMs: number;
  now: () => number;
  /** Sees every record as it is written, and those that are dropped. */
  observe: ((record: LogRecord) => void) | null;
  timer: Timer;
}

const dayMs = 86_400_000;
const defaults: LogOptions = {
  limits: { bodyDays: 36_500, rowDays: 36_500, spoolBytes: Number.POSITIVE_INFINITY },
  clickhouseUrl: null,
  objects: null,
  queryTimeoutMs: 10_000,
  now: Date.now,
  observe: null,
  timer: systemTimer,
};

export function openLogs(dataDir: string, breaker: Breaker, log: Log, options: Partial<LogOptions> = {}): Logs {
  const { limits, clickhouseUrl, objects, queryTimeoutMs, now, observe, timer } = { ...defaults, ...options };
  const folder = join(dataDir, 'spool');
  const engine: Engine = clickhouseUrl
    ? { kind: 'clickhouse', url: clickhouseUrl }
    : { kind: 'embedded', folder: join(dataDir, 'logs') };
  const openTraces = new OpenTraces();
  const spool = new Spool(folder, limits.spoolBytes, log, () => importer.run(), observe);
  const lock = adoptLeftovers(folder, spool, log);
  const retention = { bodyMs: limits.bodyDays * dayMs, rowMs: limits.rowDays * dayMs };
  const importer = new ImporterHandle({ folder, engine, objects, breaker, retention }, log, (segment) =>
    spool.forget(segment),
  );
  const queries = openQueries(engine, queryTimeoutMs, log);
  const bodies = objects && new ObjectStore(objects.store, Math.min(breaker.timeoutMs, queryTimeoutMs));
  const given = new FeedbackBuffer((feedback) => queries.saveFeedback(feedback), log, {
    file: join(dataDir, 'feedback.waiting'),
  });
  let closing: Promise<void> | null = null;
  const close = async () => {
    await spool.close();
    await importer.stop();
    await given.close();
    await queries.close();
    lock?.close();
  };
  /** What is older than it may be is deleted with its whole file, and does not exist for readers before that. */
  const young = (record: KeptRecord | null): KeptRecord | null => {
    const age = record ? now() - record.metrics.created_at : 0;
    if (!record || age > retention.rowMs) return null;
    return age > retention.bodyMs ? { ...record, bodies: {}, object: null } : record;
  };
  const within = (filter: LogFilter): LogFilter => ({
    ...filter,
    from: Math.max(filter.from, now() - retention.rowMs),
  });
  return {
    append: (record) => spool.append(limits.bodyDays === 0 ? { metrics: record.metrics, bodies: {} } : record),
    find: async (id) => withObject(young(await findOnTheWay(spool, queries, id)), bodies),
    list: (query) => queries.list({ ...query, filter: within(query.filter) }),
    aggregate: (query) => queries.aggregate({ ...query, filter: within(query.filter) }),
    values: (filter) => queries.values(within(filter)),
    openTraces,
    unknownTraces: (question) =>
      unknownTraces(question, {
        open: openTraces,
        spool,
        store: queries,
        since: now() - retention.rowMs,
        now: Date.now(),
        shared: engine.kind === 'clickhouse',
        timer,
      }),
    traces: (filter) => queries.traces(within(filter)),
    giveFeedback: (feedback) => given.add(feedback),
    saveFeedback: (feedback) => queries.saveFeedback(feedback),
    findFeedback: (id) => queries.findFeedback(id),
    feedbackOnTrace: (workspaceId, traceId) => queries.feedbackOnTrace(workspaceId, traceId),
    feedback: (filter) => queries.feedback(within(filter)),
    get dropped() {
      return spool.dropped;
    },
    settled: () => spool.emptied(),
    close: () => {
      closing ??= close();
      return closing;
    },
  };
}

/** Makes what an earlier run left behind ready for the importer. Answers the lock on the folder, to be held while we run. */
function adoptLeftovers(folder: string, spool: Spool, log: Log): Database | null {
  let lock: Database | null = null;
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    lock = lockFolder(folder);
    for (const name of readdirSync(folder)) {
      const left = lock && name.endsWith(openSuffix);
      const ready = left ? name.slice(0, -openSuffix.length) + readySuffix : name;
      if (left) renameSync(join(folder, name), join(folder, ready));
      if (!ready.endsWith(readySuffix)) continue;
      const { mtimeMs, size } = statSync(join(folder, ready));
      spool.adopt(ready, { until: mtimeMs, bytes: size });
    }
  } catch (error) {
    log.warn('The spool folder cannot be used now; records are dropped until it can.', faultFields(error));
  }
  return lock;
}

/** A segment that another process still writes must not be taken from it: only the holder of this lock takes any. */
function lockFolder(folder: string): Database | null {
  const lock = new Database(join(folder, 'lock'), { create: true });
  try {
    lock.run('begin exclusive');
    return lock;
  } catch {
    lock.close();
    return null;
  }
}
