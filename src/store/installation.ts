/** The name of the installation, made by its first start and shared by all its nodes. */
import type { Store } from './database.ts';

export async function installationName({ db }: Store, newName: () => string): Promise<string> {
  const named = db.selectFrom('installation').select('name');
  const known = await named.executeTakeFirst();
  if (known) return known.name;
  await db
    .insertInto('installation')
    .values({ id: 1, name: newName() })
    // Of two nodes that start together, the first wins.
    .onConflict((conflict) => conflict.column('id').doNothing())
    .execute();
  return (await named.executeTakeFirstOrThrow()).name;
}
