/** The logs of calls, wired together: the spool takes records, the carrier stores them, the reader finds them in both. */
import { Database } from 'bun:sqlite';
import { mkdirSync, readdirSync, renameSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { faultFields, type Log } from '../log.ts';
import { type Breaker, readySuffix } from './carrier.ts';
import { CarrierHandle } from './carrier-handle.ts';
import { SpoolAwareReader } from './reader.ts';
import type { LogReader, LogSink } from './record.ts';
import { openSuffix, Spool } from './spool.ts';

export interface Logs extends LogSink, LogReader {
  /** Records that could not be kept since the start. */
  readonly dropped: number;
  /** Writes and stores what is left, then ends the carrier. */
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

const dayMs = 86_400_000;
const unlimited: LogLimits = { bodyDays: 36_500, rowDays: 36_500, spoolBytes: Number.POSITIVE_INFINITY };

export function openLogs(dataDir: string, breaker: Breaker, log: Log, limits: LogLimits = unlimited): Logs {
  const folder = join(dataDir, 'spool');
  const file = join(dataDir, 'logs.db');
  const spool = new Spool(folder, limits.spoolBytes, log, () => carrier.carry());
  const lock = adoptLeftovers(folder, spool, log);
  const retention = { bodyMs: limits.bodyDays * dayMs, rowMs: limits.rowDays * dayMs };
  const carrier = new CarrierHandle({ folder, file, breaker, retention }, log, (segment) => spool.forget(segment));
  const reader = new SpoolAwareReader(spool, file);
  let closing: Promise<void> | null = null;
  const close = async () => {
    await spool.close();
    await carrier.stop();
    reader.close();
    lock?.close();
  };
  return {
    append: (record) => spool.append(limits.bodyDays === 0 ? { metrics: record.metrics, bodies: {} } : record),
    find: (id) => reader.find(id),
    get dropped() {
      return spool.dropped;
    },
    close: () => {
      closing ??= close();
      return closing;
    },
  };
}

/** Makes what an earlier run left behind ready for the carrier. Answers the lock on the folder, to be held while we run. */
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
