/** The keys that were not deleted. */
import type { Db } from '../../store/database.ts';
import { listedTables } from '../../store/listed-tables.ts';

export const liveKeys = (db: Db) => db.selectFrom('api_keys').where(listedTables.api_keys.listed);
