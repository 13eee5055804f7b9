/** Writes the file of an export, a page of rows at a time. */
import { mkdirSync, renameSync, rmSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { join } from 'node:path';
import type { Cursor, LogFilter, LogQueries } from '../query.ts';
import { type ExportField, exportLine, needsBodies } from './fields.ts';

const pageRows = 500;
/** Bodies are looked up so many at a time. */
const lookups = 16;

/** What is asked of the log store for an export. */
export interface ExportQuery {
  filter: LogFilter;
  offset: number;
  limit: number;
}

export const exportFolder = (dataDir: string): string => join(dataDir, 'exports');
export const exportFile = (dataDir: string, id: string): string => join(exportFolder(dataDir), `${id}.jsonl`);

interface ExportWork {
  dataDir: string;
  id: string;
  query: ExportQuery;
  fields: readonly ExportField[];
  /** Told after every page; false ends the work. */
  onProgress(written: number): Promise<boolean>;
}

/** Newest first. Answers how many lines were written; null where the work was ended. The file is there wholly or not at all. */
export async function writeExport(logs: LogQueries, work: ExportWork): Promise<number | null> {
  const { dataDir, id, query, fields } = work;
  mkdirSync(exportFolder(dataDir), { recursive: true, mode: 0o700 });
  const draft = `${exportFile(dataDir, id)}.part`;
  const file = await open(draft, 'w', 0o600);
  try {
    let written = 0;
    let after: Cursor | undefined;
    while (written < query.limit) {
      const { rows } = await logs.list({
        filter: query.filter,
        sort: 'created_at',
        descending: true,
        offset: after ? 0 : query.offset,
        limit: Math.min(pageRows, query.limit - written),
        ...(after && { after }),
      });
      for (let at = 0; at < rows.length; at += lookups) {
        const lines = await Promise.all(
          rows.slice(at, at + lookups).map(async ({ metrics }) => {
            const record = needsBodies(fields) ? await logs.find(metrics.id) : null;
            // Lines without bodies that are there would be a lie; the export can be started again.
            if (record?.bodiesFault?.kind === 'away') throw new Error(record.bodiesFault.message);
            return exportLine(metrics, record?.bodies ?? {}, fields);
          }),
        );
        await file.write(lines.join(''));
      }
      written += rows.length;
      const last = rows.at(-1);
      if (!last || rows.length < pageRows) break;
      after = { value: last.metrics.created_at, id: last.metrics.id };
      if (!(await work.onProgress(written))) return null;
    }
    await file.sync();
    renameSync(draft, exportFile(dataDir, id));
    return written;
  } finally {
    await file.close();
    rmSync(draft, { force: true });
  }
}
