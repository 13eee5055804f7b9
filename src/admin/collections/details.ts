/** What lies in collections: how many prompts and collections, and when they last changed. */
import type { Db } from '../../store/database.ts';

export interface CollectionDetails {
  child_collections_count: number;
  prompts_count: number;
  child_collections_last_updated_at: string | null;
  prompts_last_updated_at: string | null;
}

const nothing: CollectionDetails = {
  child_collections_count: 0,
  prompts_count: 0,
  child_collections_last_updated_at: null,
  prompts_last_updated_at: null,
};

export async function detailsOf(db: Db, ids: readonly string[]): Promise<(id: string) => CollectionDetails> {
  if (ids.length === 0) return () => nothing;
  const children = await db
    .selectFrom('collections')
    .select((eb) => [
      'parent_collection_id as id',
      eb.fn.countAll<number>().as('count'),
      eb.fn.max('last_updated_at').as('last'),
    ])
    .where('parent_collection_id', 'in', ids)
    .where('status', '=', 'active')
    .groupBy('parent_collection_id')
    .execute();
  const prompts = await db
    .selectFrom('prompts')
    .select((eb) => [
      'collection_id as id',
      eb.fn.countAll<number>().as('count'),
      eb.fn.max('last_updated_at').as('last'),
    ])
    .where('collection_id', 'in', ids)
    .where('status', '=', 'active')
    .groupBy('collection_id')
    .execute();
  return (id) => {
    const inside = children.find((row) => row.id === id);
    const held = prompts.find((row) => row.id === id);
    return {
      child_collections_count: Number(inside?.count ?? 0),
      prompts_count: Number(held?.count ?? 0),
      child_collections_last_updated_at: inside?.last ?? null,
      prompts_last_updated_at: held?.last ?? null,
    };
  };
}
