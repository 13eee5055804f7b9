/** Labels: names that stand on versions of prompts, so that callers need not know numbers. */
import { invalid } from '../../http/errors.ts';
import { runsAll, workspacesWith } from '../../identity/caller.ts';
import { universalLabels } from '../../prompts/universal-labels.ts';
import { endpoint, type Resource } from '../kernel/endpoint.ts';
import { empty } from '../kernel/fields.ts';
import { folded, holdsInAnyCase, newestFirst } from '../kernel/lists/list-queries.ts';
import { asList } from '../kernel/lists/paging.ts';
import { sentFields } from '../kernel/validate.ts';
import { promptAccess } from '../prompts/access.ts';
import {
  createdLabel,
  labelFilters,
  labelList,
  labelPath,
  labelPlace,
  labelRecord,
  labelUpdate,
  newLabel,
} from './schema.ts';
import { asRecord, asUniversal, labelChange, labelsSeen, reachLabel, requireNameFree } from './store.ts';

const tag = 'Labels';

const createLabel = endpoint({
  method: 'POST',
  path: '/labels',
  tag,
  summary: 'Make a label; without a workspace it is one of the whole organisation',
  access: promptAccess('create'),
  audit: { resource: 'label', action: 'create' },
  body: newLabel,
  reply: createdLabel,
  async handle({ caller, workspace, body, db, now, note }) {
    if (workspace?.status === 'archived') {
      throw invalid('workspace_id', 'names an archived workspace, which takes nothing new');
    }
    if (!workspace && !runsAll(caller)) throw invalid('workspace_id', 'is required: name a workspace by id or slug');
    const workspaceId = workspace?.id ?? null;
    await requireNameFree(db, caller.organisationId, workspaceId, body.name);
    const id = Bun.randomUUIDv7();
    const at = now.toISOString();
    await db
      .insertInto('prompt_labels')
      .values({
        id,
        organisation_id: caller.organisationId,
        workspace_id: workspaceId,
        name: body.name,
        description: body.description ?? '',
        color_code: body.color_code ?? '',
        created_at: at,
        last_updated_at: at,
      })
      .execute();
    note({ resourceId: id, details: { name: body.name } });
    return { object: 'label' as const, id };
  },
});

const listLabels = endpoint({
  method: 'GET',
  path: '/labels',
  tag,
  summary: 'List labels, newest first; the universal ones come last',
  access: promptAccess('list'),
  query: labelFilters,
  paging: { size: 50, max: 1000 },
  reply: labelList,
  async handle({ caller, workspace, query, page, db }) {
    const { search } = query;
    let matches = labelsSeen(
      db,
      caller.organisationId,
      workspace ? [workspace.id] : workspacesWith(caller, 'prompts.list'),
    );
    if (search) matches = matches.where((eb) => holdsInAnyCase(eb.ref('name'), search));
    const { rows, total } = await newestFirst(matches, page);
    const universal = universalLabels.filter(({ name }) => name.includes(folded(search ?? '')));
    const after = universal.slice(Math.max(0, page.offset - total), Math.max(0, page.offset + page.size - total));
    return asList(
      [...rows.map(asRecord), ...after.map((label) => asUniversal(label, caller.organisationId))],
      total + universal.length,
    );
  },
});

const readLabel = endpoint({
  method: 'GET',
  path: '/labels/:label',
  tag,
  summary: 'Read a label',
  access: promptAccess('read'),
  params: labelPath,
  query: labelPlace,
  reply: labelRecord,
  handle: (call) => reachLabel(call, call.params.label, 'read'),
});

const updateLabel = endpoint({
  method: 'PUT',
  path: '/labels/:label',
  tag,
  summary: 'Change a label; versions keep it',
  access: promptAccess('update'),
  audit: { resource: 'label', action: 'update' },
  params: labelPath,
  body: labelUpdate,
  reply: empty,
  async handle(call) {
    const { caller, body, db, now, changed, note } = call;
    sentFields(body, ['name', 'description', 'color_code']);
    const label = await reachLabel(call, call.params.label, 'update');
    const name = body.name ?? label.name;
    if (name !== label.name) {
      await requireNameFree(db, caller.organisationId, label.workspace_id, name, label.id);
    }
    await db
      .updateTable('prompt_labels')
      .set({
        name,
        description: body.description ?? label.description,
        color_code: body.color_code ?? label.color_code,
        last_updated_at: now.toISOString(),
      })
      .where('id', '=', label.id)
      .execute();
    changed(labelChange(label));
    note({ resourceId: label.id, details: { name } });
    return {};
  },
});

const deleteLabel = endpoint({
  method: 'DELETE',
  path: '/labels/:label',
  tag,
  summary: 'Delete a label and take it off every version; calls that use it find no version any more',
  access: promptAccess('delete'),
  audit: { resource: 'label', action: 'delete' },
  params: labelPath,
  query: labelPlace,
  reply: empty,
  async handle(call) {
    const { db, changed, note } = call;
    const label = await reachLabel(call, call.params.label, 'delete');
    await db.deleteFrom('prompt_version_labels').where('label_id', '=', label.id).execute();
    await db.deleteFrom('prompt_labels').where('id', '=', label.id).execute();
    changed(labelChange(label));
    note({ resourceId: label.id, details: { name: label.name } });
    return {};
  },
});

export const labelsResource: Resource = {
  name: 'labels',
  endpoints: [createLabel, listLabels, readLabel, updateLabel, deleteLabel],
};
