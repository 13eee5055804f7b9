/** The indexes behind lists of API keys: every order in every place where keys are looked for, and a small one to count by. */
import { type RawBuilder, sql } from 'kysely';
import type { Db } from '../database.ts';

interface Place {
  name: string;
  /** What says where to look; a list gives a value for each. */
  given: readonly string[];
  /** What a list may ask of the keys there; in the index, so that no row is read to answer it. */
  asked: readonly string[];
}

const places: readonly Place[] = [
  {
    name: 'organisation',
    given: ['organisation_id'],
    asked: ['type', 'status', 'workspace_id', 'user_id', 'name_folded'],
  },
  { name: 'workspace', given: ['workspace_id'], asked: ['type', 'status', 'user_id', 'name_folded'] },
  { name: 'owner', given: ['user_id', 'organisation_id'], asked: ['type', 'status', 'workspace_id', 'name_folded'] },
];

const orders: readonly { name: string; by: RawBuilder<unknown>; from?: string }[] = [
  { name: 'created', by: sql.ref('created_at') },
  { name: 'updated', by: sql.ref('last_updated_at') },
  // PostgreSQL answers from an index on an expression only when the column behind it is there as well.
  { name: 'expires', by: sql`coalesce(expires_at, '9999')`, from: 'expires_at' },
];

/** Deleted keys are in no list, so they are in none of these indexes: a query must say `status != 'archived'` in so many words to use them. */
const index = (db: Db, name: string, parts: readonly (string | RawBuilder<unknown>)[]) => {
  const columns = sql.join(parts.map((part) => (typeof part === 'string' ? sql.ref(part) : part)));
  return sql`create index ${sql.ref(`api_keys_${name}`)} on api_keys (${columns}) where status != 'archived'`.execute(
    db,
  );
};

export async function indexKeyLists(db: Db): Promise<void> {
  for (const { name, given, asked } of places) {
    await index(db, `${name}_count`, [...given, 'type', 'status']);
    for (const order of orders) {
      await index(db, `${name}_by_${order.name}`, [
        ...given,
        order.by,
        'id',
        ...asked,
        ...(order.from ? [order.from] : []),
      ]);
    }
    // A search goes through all names, so their index holds little else.
    await index(db, `${name}_by_name`, [...given, 'name_folded', 'id', 'type', 'status']);
  }
}

/** All keys but those of a person are tallied now, so the indexes to count by make room: for few keys of a kind, and for names, which a search goes through by halves. */
export async function indexKinds(db: Db): Promise<void> {
  for (const place of ['organisation', 'workspace']) {
    await sql`drop index ${sql.ref(`api_keys_${place}_count`)}`.execute(db);
    await index(db, `${place}_kinds`, [`${place}_id`, 'type', 'status', 'id']);
    await index(db, `${place}_names`, [`${place}_id`, 'shard', 'name_folded', 'type', 'status']);
  }
}

/** In the order in which keys expire, by the column that says so. */
export async function indexEnds(db: Db): Promise<void> {
  for (const { name, given, asked } of places) {
    await sql`drop index ${sql.ref(`api_keys_${name}_by_expires`)}`.execute(db);
    await index(db, `${name}_by_end`, [...given, 'ends_at', 'id', ...asked]);
  }
}
