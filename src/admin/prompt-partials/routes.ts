/** Partials: texts that prompts of a workspace have in common. */
import { actorId } from '../../identity/caller.ts';
import { workspaceQuery } from '../configs/schema.ts';
import { type Dependant, endpoint, type Resource } from '../kernel/endpoint.ts';
import { empty } from '../kernel/fields.ts';
import { countOf, newestFirst } from '../kernel/lists/list-queries.ts';
import { asList } from '../kernel/lists/paging.ts';
import { promptAccess, promptsChanged, reachItem, reachOwn, requireDestination } from '../prompts/access.ts';
import { forkBody, placeOf, reachSource } from '../prompts/fork.ts';
import { listItems } from '../prompts/list.ts';
import { asListed } from '../prompts/record.ts';
import { itemFilters, publication, readQuery } from '../prompts/schema.ts';
import { sharingEndpoints } from '../prompts/share-routes.ts';
import { shareOf } from '../prompts/sharing.ts';
import { addressOf, archiveItems } from '../prompts/store.ts';
import { requireNoCycle } from './graph.ts';
import { createdPartial, newPartial, partialList, partialPath, partialRecord, partialVersions } from './schema.ts';
import { checkPartial, insertPartial, partialVersion, statusOf, textOf } from './store.ts';
import { archivePartial, updatePartial } from './update.ts';

const tag = 'Prompt partials';

const createPartial = endpoint({
  method: 'POST',
  path: '/prompts/partials',
  tag,
  summary: 'Save a partial; its first version is published at once',
  access: promptAccess('create'),
  audit: { resource: 'prompt_partial', action: 'create' },
  body: newPartial,
  reply: createdPartial,
  async handle({ caller, workspace, body, db, now, services, changed, note }) {
    const workspaceId = requireDestination(workspace);
    checkPartial(body.string);
    const { id, slug, versionId } = await insertPartial(db, services.vault, now, {
      organisationId: caller.organisationId,
      workspaceId,
      collectionId: await placeOf(db, workspaceId, body.collection_id),
      name: body.name,
      slug: body.slug,
      string: body.string,
      description: body.version_description ?? '',
      createdBy: actorId(caller),
    });
    changed(promptsChanged(workspaceId));
    note({ resourceId: id, workspaceId, details: { slug, version_id: versionId } });
    return { id, slug, version_id: versionId, object: 'partial' as const };
  },
});

const listPartials = endpoint({
  method: 'GET',
  path: '/prompts/partials',
  tag,
  summary:
    'List the partials of a workspace, of every workspace that the caller may look into, or those shared with it',
  access: promptAccess('list'),
  query: itemFilters,
  paging: { size: 50, max: 1000 },
  reply: partialList,
  async handle(call) {
    const { rows, total } = await listItems('partial', call);
    return asList(
      rows.map(([row, shown]) => ({ ...asListed(row, shown), object: 'partial' as const })),
      total,
    );
  },
});

const readPartial = endpoint({
  method: 'GET',
  path: '/prompts/partials/:partial',
  tag,
  summary: 'Read a partial at its published version, or at the one that `version` names',
  access: promptAccess('read'),
  params: partialPath,
  query: readQuery,
  reply: partialRecord,
  async handle(call) {
    const { db, query, services } = call;
    const { reference, version: address } = addressOf(call.params.partial, query.version);
    const { row, shared } = await reachItem(call, 'partial', reference, 'read');
    const version = await partialVersion(db, row, address);
    return {
      ...asListed(row, { shared, share: query.show_prompt_share ? await shareOf(db, row.id) : undefined }),
      string: textOf(services.vault, version),
      version: version.version,
      version_description: version.description,
      prompt_partial_version_id: version.id,
      prompt_partial_version_status: statusOf(row, version),
      object: 'partial' as const,
    };
  },
});

const deletePartial = endpoint({
  method: 'DELETE',
  path: '/prompts/partials/:partial',
  tag,
  summary: 'Delete a partial with its shares; prompts that name it cannot be rendered from then on',
  access: promptAccess('delete'),
  audit: { resource: 'prompt_partial', action: 'delete' },
  params: partialPath,
  query: workspaceQuery,
  reply: empty,
  async handle(call) {
    const row = await reachOwn(call, 'partial', call.params.partial, 'delete');
    call.changed(await archivePartial(call.db, call.now, row));
    call.note({ resourceId: row.id, workspaceId: row.workspace_id, details: { slug: row.slug, name: row.name } });
    return {};
  },
});

const listVersions = endpoint({
  method: 'GET',
  path: '/prompts/partials/:partial/versions',
  tag,
  summary: 'List the versions of a partial, newest first',
  access: promptAccess('read'),
  params: partialPath,
  query: workspaceQuery,
  paging: { size: 50, max: 1000 },
  reply: partialVersions,
  async handle(call) {
    const { db, page, services } = call;
    const { row } = await reachItem(call, 'partial', call.params.partial, 'read');
    const versions = db.selectFrom('prompt_partial_versions').where('partial_id', '=', row.id);
    const { rows, total } = await newestFirst(versions, page);
    return asList(
      rows.map((version) => ({
        prompt_partial_id: row.id,
        prompt_partial_version_id: version.id,
        slug: row.slug,
        version: version.version,
        string: textOf(services.vault, version),
        description: version.description,
        created_at: version.created_at,
        prompt_version_status: statusOf(row, version),
        object: 'partial' as const,
      })),
      total,
    );
  },
});

const publishPartial = endpoint({
  method: 'PUT',
  path: '/prompts/partials/:partial/makeDefault',
  tag,
  summary: 'Publish a version: every prompt that names the partial without a version has it at once',
  access: promptAccess('publish'),
  audit: { resource: 'prompt_partial', action: 'publish' },
  params: partialPath,
  body: publication,
  reply: empty,
  async handle(call) {
    const { db, body, now, services, changed, note } = call;
    const row = await reachOwn(call, 'partial', call.params.partial, 'publish');
    const version = await partialVersion(db, row, { by: 'number', number: body.version });
    await requireNoCycle(db, services.vault, row, checkPartial(textOf(services.vault, version)), 'version');
    await db
      .updateTable('prompt_partials')
      .set({ default_version_id: version.id, last_updated_at: now.toISOString() })
      .where('id', '=', row.id)
      .execute();
    changed(promptsChanged(row.workspace_id));
    note({ resourceId: row.id, workspaceId: row.workspace_id, details: { slug: row.slug, version: body.version } });
    return {};
  },
});

const forkPartial = endpoint({
  method: 'POST',
  path: '/prompts/partials/:partial/fork',
  tag,
  summary: 'Make a partial of one’s own from a partial that is shared or one’s own',
  access: promptAccess('create'),
  audit: { resource: 'prompt_partial', action: 'duplicate' },
  params: partialPath,
  body: forkBody,
  bodyRequired: false,
  reply: createdPartial,
  async handle(call) {
    const { caller, body, db, now, services, changed, note } = call;
    const workspaceId = requireDestination(call.workspace);
    const row = await reachSource(call, 'partial', call.params.partial, workspaceId);
    const version = await partialVersion(db, row, { by: 'published' });
    const made = await insertPartial(db, services.vault, now, {
      organisationId: caller.organisationId,
      workspaceId,
      collectionId: await placeOf(db, workspaceId, body.collection_id),
      name: body.name ?? row.name,
      string: textOf(services.vault, version),
      description: `Forked from ${row.slug}, version ${version.version}`,
      createdBy: actorId(caller),
    });
    changed(promptsChanged(workspaceId));
    note({ resourceId: made.id, workspaceId, details: { slug: made.slug, forked_from: row.slug } });
    return { id: made.id, slug: made.slug, version_id: made.versionId, object: 'partial' as const };
  },
});

const partialsOfWorkspace: Dependant = {
  kind: 'prompt partials',
  count: (db, workspaceId) =>
    countOf(db.selectFrom('prompt_partials').where('workspace_id', '=', workspaceId).where('status', '=', 'active')),
  async remove(db, workspaceId, now) {
    await archiveItems(db, 'partial', now, { workspaceId });
    return [promptsChanged(workspaceId)];
  },
};

export const promptPartialsResource: Resource = {
  name: 'prompt-partials',
  endpoints: [
    createPartial,
    listPartials,
    readPartial,
    updatePartial,
    deletePartial,
    listVersions,
    publishPartial,
    forkPartial,
    ...sharingEndpoints({ kind: 'partial', base: '/prompts/partials', parameter: 'partial', tag }),
  ],
  dependants: [partialsOfWorkspace],
};
