/** Writes the files of exports that were started, and deletes those that are old. */
import { existsSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import type { Services } from '../admin/kernel/services.ts';
import type { ExportField } from '../logs/exports/fields.ts';
import { exportFile, exportFolder, writeExport } from '../logs/exports/write.ts';
import { decode } from '../store/json.ts';
import type { LogExportTable } from '../store/tables/log-exports.ts';
import type { Job } from './runner.ts';

const keptMs = 7 * 86_400_000;

export const createExportRun = (services: Services): Job => ({
  name: 'export-runner',
  everyMs: 1_000,
  async run() {
    // One that a stop or a kill cut short is still in progress, and begins anew.
    for (;;) {
      const next = await services.store.db
        .selectFrom('log_exports')
        .selectAll()
        .where('status', '=', 'in_progress')
        .orderBy('last_updated_at')
        .executeTakeFirst();
      if (!next) return;
      await runExport(services, next);
    }
  },
});

export async function runExport(services: Services, row: LogExportTable): Promise<void> {
  const { db } = services.store;
  const update = (changes: Partial<LogExportTable>) =>
    db
      .updateTable('log_exports')
      .set({ ...changes, last_updated_at: services.clock.now().toISOString() })
      .where('id', '=', row.id)
      .where('status', '=', 'in_progress')
      .executeTakeFirst();
  try {
    const written = await writeExport(services.logs, {
      dataDir: services.settings.dataDir,
      id: row.id,
      query: decode(row.query),
      fields: decode(row.requested_data) as ExportField[],
      // Nothing is updated where the export was cancelled meanwhile.
      onProgress: async (count) => (await update({ written_records: count })).numUpdatedRows > 0n,
    });
    if (written === null) return;
    const finished = services.clock.now().toISOString();
    const { numUpdatedRows } = await update({
      status: 'success',
      written_records: written,
      total_records: written,
      finished_at: finished,
      error: null,
    });
    // Cancelled while its last rows were written, or deleted with its workspace.
    if (numUpdatedRows === 0n) rmSync(exportFile(services.settings.dataDir, row.id), { force: true });
  } catch (error) {
    const cause = error instanceof Error ? error.message : String(error);
    await update({ status: 'failed', error: cause.slice(0, 500), finished_at: services.clock.now().toISOString() });
  }
}

/** A file stays while its export is here and young; whatever else lies in the folder was left behind. */
export const createExportSweep = (services: Services): Job => ({
  name: 'export-sweep',
  everyMs: 3_600_000,
  async run(now) {
    const folder = exportFolder(services.settings.dataDir);
    const names = existsSync(folder) ? readdirSync(folder) : [];
    if (names.length === 0) return;
    const kept = await services.store.db
      .selectFrom('log_exports')
      .select('id')
      .where((eb) =>
        eb.or([
          eb('status', '=', 'in_progress'),
          eb.and([
            eb('status', '=', 'success'),
            eb('finished_at', '>=', new Date(now.getTime() - keptMs).toISOString()),
          ]),
        ]),
      )
      .execute();
    const ids = new Set(kept.map(({ id }) => id));
    for (const name of names) if (!ids.has(name.split('.')[0] ?? '')) rmSync(join(folder, name), { force: true });
  },
});
