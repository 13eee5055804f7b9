/** The versions of a prompt: read them, label them, publish one. */
import { notFound } from '../../http/errors.ts';
import { workspaceQuery } from '../configs/schema.ts';
import { endpoint } from '../kernel/endpoint.ts';
import { empty } from '../kernel/fields.ts';
import { newestFirst } from '../kernel/lists/list-queries.ts';
import { asList } from '../kernel/lists/paging.ts';
import { reachLabel } from '../labels/store.ts';
import { type ItemRow, promptAccess, promptsChanged, reachItem, reachOwn, type Seeker } from './access.ts';
import { contentOf } from './content.ts';
import { asRecord, asVersion } from './record.ts';
import { promptPath, promptRecord, promptVersionPath, promptVersions, publication, versionLabel } from './schema.ts';
import { labelsOfPrompt, versionRow } from './store.ts';

const tag = 'Prompts';

export const listVersions = endpoint({
  method: 'GET',
  path: '/prompts/:prompt/versions',
  tag,
  summary: 'List the versions of a prompt, newest first',
  access: promptAccess('read'),
  params: promptPath,
  query: workspaceQuery,
  paging: { size: 50, max: 1000 },
  reply: promptVersions,
  async handle(call) {
    const { db, page, services } = call;
    const { row } = await reachItem(call, 'prompt', call.params.prompt, 'read');
    const { rows, total } = await newestFirst(db.selectFrom('prompt_versions').where('prompt_id', '=', row.id), page);
    const labels = await labelsOfPrompt(db, row.id);
    return asList(
      rows.map((version) => asVersion(row, version, contentOf(services.vault, version), labels)),
      total,
    );
  },
});

export const readVersion = endpoint({
  method: 'GET',
  path: '/prompts/:prompt/versions/:versionId',
  tag,
  summary: 'Read a prompt at one of its versions',
  access: promptAccess('read'),
  params: promptVersionPath,
  query: workspaceQuery,
  reply: promptRecord,
  async handle(call) {
    const { db, services } = call;
    const { row, shared } = await reachItem(call, 'prompt', call.params.prompt, 'read');
    const version = await namedVersion(call, row, call.params.versionId);
    const labels = await labelsOfPrompt(db, row.id);
    return asRecord(row, version, contentOf(services.vault, version), labels, { shared, share: undefined });
  },
});

export const labelVersion = endpoint({
  method: 'PUT',
  path: '/prompts/:prompt/versions/:versionId',
  tag,
  summary: 'Put a label on a version; it leaves the version of this prompt that had it',
  access: promptAccess('update'),
  audit: { resource: 'prompt', action: 'update' },
  params: promptVersionPath,
  body: versionLabel,
  reply: empty,
  async handle(call) {
    const { db, body, now, changed, note } = call;
    const row = await reachOwn(call, 'prompt', call.params.prompt, 'update');
    const version = await namedVersion(call, row, call.params.versionId);
    if (body.label_id === null) {
      await db.deleteFrom('prompt_version_labels').where('version_id', '=', version.id).execute();
    } else {
      const label = await reachLabel(call, body.label_id, 'read');
      if (label.workspace_id !== null && label.workspace_id !== row.workspace_id) throw notFound('label');
      await db
        .deleteFrom('prompt_version_labels')
        .where('prompt_id', '=', row.id)
        .where('label_id', '=', label.id)
        .execute();
      await db
        .insertInto('prompt_version_labels')
        .values({ prompt_id: row.id, label_id: label.id, version_id: version.id, created_at: now.toISOString() })
        .execute();
    }
    changed(promptsChanged(row.workspace_id));
    note({
      resourceId: row.id,
      workspaceId: row.workspace_id,
      details: { slug: row.slug, version: version.version, label_id: body.label_id },
    });
    return {};
  },
});

export const publishVersion = endpoint({
  method: 'PUT',
  path: '/prompts/:prompt/makeDefault',
  tag,
  summary: 'Publish a version: it is what callers get who name none',
  access: promptAccess('publish'),
  audit: { resource: 'prompt', action: 'publish' },
  params: promptPath,
  body: publication,
  reply: empty,
  async handle(call) {
    const { db, body, now, changed, note } = call;
    const row = await reachOwn(call, 'prompt', call.params.prompt, 'publish');
    const version = await versionRow(db, row, { by: 'number', number: body.version });
    await db
      .updateTable('prompts')
      .set({ default_version_id: version.id, last_updated_at: now.toISOString() })
      .where('id', '=', row.id)
      .execute();
    changed(promptsChanged(row.workspace_id));
    note({ resourceId: row.id, workspaceId: row.workspace_id, details: { slug: row.slug, version: body.version } });
    return {};
  },
});

/** By id or by number. */
async function namedVersion({ db }: Seeker, row: ItemRow, named: string) {
  if (/^\d{1,9}$/.test(named)) return versionRow(db, row, { by: 'number', number: Number(named) });
  const found = await db
    .selectFrom('prompt_versions')
    .selectAll()
    .where('prompt_id', '=', row.id)
    .where('id', '=', named)
    .executeTakeFirst();
  if (!found) throw notFound('version of this prompt');
  return found;
}
