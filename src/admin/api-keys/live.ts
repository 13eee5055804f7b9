/** The keys that were not deleted. */
import { sql } from 'kysely';
import type { Db } from '../../store/database.ts';

/** Said with the word itself instead of a parameter: the indexes hold these keys only, and the engine must see that they will do. */
export const liveKeys = (db: Db) => db.selectFrom('api_keys').where(sql<boolean>`status != 'archived'`);
