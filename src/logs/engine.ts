/** Which log store is used: files in the data folder, or ClickHouse; and whether bodies lie in an object store beside it. */
import type { Log } from '../log.ts';
import { ClickHouseQueries } from './clickhouse/queries.ts';
import { openClickHouseWriter } from './clickhouse/writer.ts';
import type { Retention } from './embedded/files.ts';
import { QueryThread } from './embedded/query-client.ts';
import { EmbeddedWriter } from './embedded/writer.ts';
import type { PathFormat } from './objects/path.ts';
import { ObjectStore, type ObjectStoreSettings } from './objects/store.ts';
import { ObjectsWriter } from './objects/writer.ts';
import type { LogWriter, OpenQueries } from './store.ts';

export type Engine = { kind: 'embedded'; folder: string } | { kind: 'clickhouse'; url: string };

/** Bodies in an object store instead of the log store. */
export interface BodyObjects {
  store: ObjectStoreSettings;
  prefix: string;
  format: PathFormat;
}

const dayMs = 86_400_000;

export async function openWriter(
  engine: Engine,
  timeoutMs: number,
  retention: Retention,
  objects: BodyObjects | null = null,
): Promise<LogWriter> {
  const rows = await openRowWriter(engine, timeoutMs, retention);
  if (!objects) return rows;
  const { store, prefix, format } = objects;
  const bodyDays = Math.ceil(retention.bodyMs / dayMs);
  return new ObjectsWriter(rows, new ObjectStore(store, timeoutMs), { prefix, format, bodyDays });
}

async function openRowWriter(engine: Engine, timeoutMs: number, retention: Retention): Promise<LogWriter> {
  if (engine.kind === 'clickhouse') return openClickHouseWriter(engine.url, timeoutMs, retention);
  const writer = new EmbeddedWriter(engine.folder, timeoutMs);
  return {
    write: async (frames) => writer.write(frames),
    purge: async (now, kept) => writer.purge(now, kept),
    close: async () => writer.close(),
  };
}

export const openQueries = (engine: Engine, timeoutMs: number, log: Log): OpenQueries =>
  engine.kind === 'clickhouse'
    ? new ClickHouseQueries(engine.url, timeoutMs)
    : new QueryThread(engine.folder, timeoutMs, log);
