/** Collections: the folders of a workspace's prompts. */
import { conflict, invalid, invalidQuery, notFound } from '../../http/errors.ts';
import type { CollectionTable } from '../../store/tables/prompts.ts';
import { workspaceQuery } from '../configs/schema.ts';
import { endpoint, type Resource } from '../kernel/endpoint.ts';
import { empty } from '../kernel/fields.ts';
import { countOf, holdsInAnyCase, newestFirst } from '../kernel/lists/list-queries.ts';
import { asList } from '../kernel/lists/paging.ts';
import { slugOf } from '../kernel/slug.ts';
import { promptAccess, requireDestination } from '../prompts/access.ts';
import { collectionIn, reachCollection } from './access.ts';
import { detailsOf } from './details.ts';
import {
  collectionFilters,
  collectionList,
  collectionPath,
  collectionRecord,
  collectionUpdate,
  createdCollection,
  newCollection,
} from './schema.ts';

const tag = 'Collections';
const deepest = 10;

const createCollection = endpoint({
  method: 'POST',
  path: '/collections',
  tag,
  summary: 'Make a collection of prompts',
  access: promptAccess('create'),
  audit: { resource: 'collection', action: 'create' },
  body: newCollection,
  reply: createdCollection,
  async handle({ caller, workspace, body, db, now, note }) {
    const workspaceId = requireDestination(workspace);
    const parent = body.parent_collection_id
      ? await collectionIn(db, workspaceId, body.parent_collection_id, 'parent_collection_id')
      : null;
    const depth = parent ? parent.depth + 1 : 0;
    if (depth >= deepest) throw invalid('parent_collection_id', `collections may be nested at most ${deepest} deep`);
    const id = Bun.randomUUIDv7();
    const slug = slugOf('collection', body.name);
    const at = now.toISOString();
    await db
      .insertInto('collections')
      .values({
        id,
        organisation_id: caller.organisationId,
        workspace_id: workspaceId,
        slug,
        name: body.name,
        parent_collection_id: parent?.id ?? null,
        depth,
        is_default: 0,
        status: 'active',
        created_at: at,
        last_updated_at: at,
      })
      .execute();
    note({ resourceId: id, workspaceId, details: { slug } });
    return { object: 'collection' as const, id, slug };
  },
});

const listCollections = endpoint({
  method: 'GET',
  path: '/collections',
  tag,
  summary: 'List the collections of a workspace, newest first',
  access: promptAccess('list'),
  query: collectionFilters,
  paging: { size: 50, max: 1000 },
  reply: collectionList,
  async handle({ workspace, query, page, db }) {
    if (!workspace) throw invalidQuery('workspace_id', 'is required: name a workspace by id or slug');
    let matches = db.selectFrom('collections').where('workspace_id', '=', workspace.id).where('status', '=', 'active');
    const { search } = query;
    if (search) matches = matches.where((eb) => holdsInAnyCase(eb.ref('name'), search));
    const { rows, total } = await newestFirst(matches, page);
    const details = await detailsOf(
      db,
      rows.map(({ id }) => id),
    );
    return asList(
      rows.map((row) => ({ ...asFields(row), collection_details: details(row.id) })),
      total,
    );
  },
});

const readCollection = endpoint({
  method: 'GET',
  path: '/collections/:collection',
  tag,
  summary: 'Read a collection with the collections in it',
  access: promptAccess('read'),
  params: collectionPath,
  query: workspaceQuery,
  reply: collectionRecord,
  async handle(call) {
    const { db } = call;
    const row = await reachCollection(call, call.params.collection, 'read');
    const children = await db
      .selectFrom('collections')
      .selectAll()
      .where('parent_collection_id', '=', row.id)
      .where('status', '=', 'active')
      .orderBy('created_at', 'desc')
      .orderBy('id', 'desc')
      .limit(1000)
      .execute();
    const details = await detailsOf(db, [row.id, ...children.map(({ id }) => id)]);
    return {
      ...asFields(row),
      collection_details: details(row.id),
      child_collections: children.map(({ id, slug, name, last_updated_at }) => ({
        id,
        slug,
        name,
        last_updated_at,
        collection_details: details(id),
      })),
    };
  },
});

const updateCollection = endpoint({
  method: 'PUT',
  path: '/collections/:collection',
  tag,
  summary: 'Rename a collection',
  access: promptAccess('update'),
  audit: { resource: 'collection', action: 'update' },
  params: collectionPath,
  body: collectionUpdate,
  reply: empty,
  async handle(call) {
    const { body, db, now, note } = call;
    const row = await reachCollection(call, call.params.collection, 'update');
    await db
      .updateTable('collections')
      .set({ name: body.name, last_updated_at: now.toISOString() })
      .where('id', '=', row.id)
      .execute();
    note({ resourceId: row.id, workspaceId: row.workspace_id, details: { slug: row.slug } });
    return {};
  },
});

const deleteCollection = endpoint({
  method: 'DELETE',
  path: '/collections/:collection',
  tag,
  summary: 'Delete an empty collection; the default one stays',
  access: promptAccess('delete'),
  audit: { resource: 'collection', action: 'delete' },
  params: collectionPath,
  query: workspaceQuery,
  reply: empty,
  async handle(call) {
    const { db, now, note } = call;
    const row = await reachCollection(call, call.params.collection, 'delete');
    if (row.is_default) throw notFound('collection that can be deleted: the default one stays');
    const inside = await contentsOf(call.db, row);
    if (inside > 0) throw conflict('This collection still holds prompts, partials or collections; move them first');
    await db
      .updateTable('collections')
      .set({ status: 'archived', last_updated_at: now.toISOString() })
      .where('id', '=', row.id)
      .execute();
    note({ resourceId: row.id, workspaceId: row.workspace_id, details: { slug: row.slug } });
    return {};
  },
});

async function contentsOf(db: Parameters<typeof detailsOf>[0], { id }: CollectionTable): Promise<number> {
  const details = (await detailsOf(db, [id]))(id);
  const partials = await countOf(
    db.selectFrom('prompt_partials').where('collection_id', '=', id).where('status', '=', 'active'),
  );
  return details.child_collections_count + details.prompts_count + partials;
}

function asFields({ organisation_id: _, depth: __, ...row }: CollectionTable) {
  return { ...row, object: 'collection' as const };
}

export const collectionsResource: Resource = {
  name: 'collections',
  endpoints: [createCollection, listCollections, readCollection, updateCollection, deleteCollection],
};
