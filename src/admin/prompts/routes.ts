/** Prompts: templates that a workspace keeps, with versions, labels and a published one. */
import { conflict } from '../../http/errors.ts';
import { actorId } from '../../identity/caller.ts';
import { reachCollection } from '../collections/access.ts';
import { workspaceQuery } from '../configs/schema.ts';
import { type Dependant, endpoint, type Resource } from '../kernel/endpoint.ts';
import { empty } from '../kernel/fields.ts';
import { countOf } from '../kernel/lists/list-queries.ts';
import { asList } from '../kernel/lists/paging.ts';
import { promptAccess, promptsChanged, reachItem, reachOwn } from './access.ts';
import { checkTemplate, contentOf, providerIn } from './content.ts';
import { forkPrompt } from './fork.ts';
import { listItems } from './list.ts';
import { asListed, asRecord } from './record.ts';
import { createdPrompt, itemFilters, newPrompt, promptList, promptPath, promptRecord, readQuery } from './schema.ts';
import { sharingEndpoints } from './share-routes.ts';
import { removeShares, shareChange, shareOf } from './sharing.ts';
import { addressOf, archiveItems, insertPrompt, labelsOfPrompt, versionRow } from './store.ts';
import { updatePrompt } from './update.ts';
import { labelVersion, listVersions, publishVersion, readVersion } from './versions.ts';

const tag = 'Prompts';

const createPrompt = endpoint({
  method: 'POST',
  path: '/prompts',
  tag,
  summary: 'Save a prompt; its first version is published at once',
  access: promptAccess('create'),
  audit: { resource: 'prompt', action: 'create' },
  body: newPrompt,
  reply: createdPrompt,
  async handle(call) {
    const { caller, body, db, now, services, changed, note } = call;
    const collection = await reachCollection(call, body.collection_id, 'create');
    const content = {
      string: body.string,
      isRaw: body.is_raw_template ?? false,
      parameters: body.parameters,
      model: body.model ?? null,
      provider: await providerIn(db, collection.workspace_id, body.virtual_key),
      functions: body.functions ?? null,
      tools: body.tools ?? null,
      toolChoice: body.tool_choice ?? null,
      metadata: body.template_metadata ?? {},
    };
    checkTemplate(content);
    const { id, slug, versionId } = await insertPrompt(db, services.vault, now, {
      organisationId: caller.organisationId,
      workspaceId: collection.workspace_id,
      collectionId: collection.id,
      name: body.name,
      slug: body.slug,
      description: body.version_description ?? '',
      content,
      createdBy: actorId(caller),
    });
    changed(promptsChanged(collection.workspace_id));
    note({ resourceId: id, workspaceId: collection.workspace_id, details: { slug, version_id: versionId } });
    return { id, slug, version_id: versionId, object: 'prompt' as const };
  },
});

const listPrompts = endpoint({
  method: 'GET',
  path: '/prompts',
  tag,
  summary: 'List the prompts of a workspace, of every workspace that the caller may look into, or those shared with it',
  access: promptAccess('list'),
  query: itemFilters,
  paging: { size: 50, max: 1000 },
  reply: promptList,
  async handle(call) {
    const { rows, total } = await listItems('prompt', call);
    const ids = rows.map(([row]) => row.default_version_id);
    const versions =
      ids.length === 0
        ? []
        : await call.db.selectFrom('prompt_versions').select(['id', 'model']).where('id', 'in', ids).execute();
    const models = new Map(versions.map(({ id, model }) => [id, model]));
    return asList(
      rows.map(([row, shown]) => ({
        ...asListed(row, shown),
        model: models.get(row.default_version_id) ?? null,
        object: 'prompt' as const,
      })),
      total,
    );
  },
});

const readPrompt = endpoint({
  method: 'GET',
  path: '/prompts/:prompt',
  tag,
  summary: 'Read a prompt at its published version, or at the one that `version` or `slug@version` names',
  access: promptAccess('read'),
  params: promptPath,
  query: readQuery,
  reply: promptRecord,
  async handle(call) {
    const { db, query, services } = call;
    const { reference, version: address } = addressOf(call.params.prompt, query.version);
    const { row, shared } = await reachItem(call, 'prompt', reference, 'read');
    const version = await versionRow(db, row, address);
    return asRecord(row, version, contentOf(services.vault, version), await labelsOfPrompt(db, row.id), {
      shared,
      share: query.show_prompt_share ? await shareOf(db, row.id) : undefined,
    });
  },
});

const deletePrompt = endpoint({
  method: 'DELETE',
  path: '/prompts/:prompt',
  tag,
  summary: 'Delete a prompt with its shares; calls that name it are refused from then on',
  access: promptAccess('delete'),
  audit: { resource: 'prompt', action: 'delete' },
  params: promptPath,
  query: workspaceQuery,
  reply: empty,
  async handle(call) {
    const { db, now, changed, note } = call;
    const row = await reachOwn(call, 'prompt', call.params.prompt, 'delete');
    const shared = await shareOf(db, row.id);
    await removeShares(db, [row.id]);
    await archiveItems(db, 'prompt', now, { id: row.id });
    changed(shared ? shareChange(row) : promptsChanged(row.workspace_id));
    note({ resourceId: row.id, workspaceId: row.workspace_id, details: { slug: row.slug, name: row.name } });
    return {};
  },
});

/** Others go on using what is shared, so that it stands in the way of its workspace's end even where that is forced. */
const sharesOfWorkspace: Dependant = {
  kind: 'shared prompts or partials',
  count: (db, workspaceId) => countOf(db.selectFrom('prompt_shares').where('workspace_id', '=', workspaceId)),
  async remove() {
    throw conflict('This workspace still shares prompts or partials with others; take them back first');
  },
};

const promptsOfWorkspace: Dependant = {
  kind: 'prompts',
  count: (db, workspaceId) =>
    countOf(db.selectFrom('prompts').where('workspace_id', '=', workspaceId).where('status', '=', 'active')),
  async remove(db, workspaceId, now) {
    await archiveItems(db, 'prompt', now, { workspaceId });
    return [promptsChanged(workspaceId)];
  },
};

export const promptsResource: Resource = {
  name: 'prompts',
  endpoints: [
    createPrompt,
    listPrompts,
    readPrompt,
    updatePrompt,
    deletePrompt,
    listVersions,
    readVersion,
    labelVersion,
    publishVersion,
    forkPrompt,
    ...sharingEndpoints({ kind: 'prompt', base: '/prompts', parameter: 'prompt', tag }),
  ],
  dependants: [sharesOfWorkspace, promptsOfWorkspace],
};
