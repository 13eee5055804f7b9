/** Writes the files of exports that were started, and deletes those that are old. */
import { rmSync } from 'node:fs';
import type { Services } from '../admin/kernel/services.ts';
import type { ExportField } from '../logs/exports/fields.ts';
import { exportFile, writeExport } from '../logs/exports/write.ts';
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

async function runExport(services: Services, row: LogExportTable): Promise<void> {
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
    await update({
      status: 'success',
      written_records: written,
      total_records: written,
      finished_at: finished,
      error: null,
    });
  } catch (error) {
    const cause = error instanceof Error ? error.message : String(error);
    await update({ status: 'failed', error: cause.slice(0, 500), finished_at: services.clock.now().toISOString() });
  }
}

export const createExportSweep = (services: Services): Job => ({
  name: 'export-sweep',
  everyMs: 3_600_000,
  async run(now) {
    const old = await services.store.db
      .selectFrom('log_exports')
      .select('id')
      .where('finished_at', '<', new Date(now.getTime() - keptMs).toISOString())
      .where('status', '=', 'success')
      .execute();
    for (const { id } of old) rmSync(exportFile(services.settings.dataDir, id), { force: true });
  },
});
