/** Changing a partial: another text makes a new version, which is published by itself only when somebody says so. */
import { actorId } from '../../identity/caller.ts';
import type { Change } from '../../store/changes.ts';
import type { Db } from '../../store/database.ts';
import { endpoint } from '../kernel/endpoint.ts';
import { sentFields } from '../kernel/validate.ts';
import { type ItemRow, promptAccess, promptsChanged, reachOwn } from '../prompts/access.ts';
import { removeShares, shareChange, shareOf } from '../prompts/sharing.ts';
import { archiveItems } from '../prompts/store.ts';
import { requireNoCycle } from './graph.ts';
import { partialPath, partialUpdate, updatedPartial } from './schema.ts';
import { checkPartial, insertPartialVersion, partialVersion, textOf } from './store.ts';

export const updatePartial = endpoint({
  method: 'PUT',
  path: '/prompts/partials/:partial',
  tag: 'Prompt partials',
  summary: 'Change a partial; another text becomes a version that is not published yet',
  access: promptAccess('update'),
  audit: { resource: 'prompt_partial', action: 'update' },
  params: partialPath,
  body: partialUpdate,
  reply: updatedPartial,
  async handle(call) {
    const { body, db, now, services, note } = call;
    sentFields(body, ['name', 'string', 'description', 'version_description', 'status']);
    const row = await reachOwn(call, 'partial', call.params.partial, 'update');
    const latest = await partialVersion(db, row, { by: 'latest' });
    const description = body.description ?? body.version_description;
    const isNew = body.string !== undefined && body.string !== textOf(services.vault, latest);
    const versionId = isNew ? Bun.randomUUIDv7() : latest.id;
    if (isNew && body.string !== undefined) {
      await requireNoCycle(db, services.vault, row, checkPartial(body.string), 'string');
      await insertPartialVersion(db, services.vault, now, {
        id: versionId,
        partialId: row.id,
        version: row.latest_version + 1,
        string: body.string,
        description: description ?? '',
        createdBy: actorId(call.caller),
      });
    } else if (description !== undefined) {
      await db.updateTable('prompt_partial_versions').set({ description }).where('id', '=', latest.id).execute();
    }
    await db
      .updateTable('prompt_partials')
      .set({
        name: body.name ?? row.name,
        latest_version_id: versionId,
        latest_version: isNew ? row.latest_version + 1 : row.latest_version,
        last_updated_at: now.toISOString(),
      })
      .where('id', '=', row.id)
      .execute();
    call.changed(body.status === 'archived' ? await archivePartial(db, now, row) : promptsChanged(row.workspace_id));
    note({
      resourceId: row.id,
      workspaceId: row.workspace_id,
      details: { slug: row.slug, version_id: versionId, ...(body.status && { status: body.status }) },
    });
    return { id: row.id, slug: row.slug, prompt_partial_version_id: versionId, object: 'partial' as const };
  },
});

export async function archivePartial(db: Db, now: Date, row: ItemRow): Promise<Change> {
  const shared = await shareOf(db, row.id);
  await removeShares(db, [row.id]);
  await archiveItems(db, 'partial', now, { id: row.id });
  return shared ? shareChange(row) : promptsChanged(row.workspace_id);
}
