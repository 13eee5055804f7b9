/** E-mail addresses of people, for claims that upstreams are told. */
import type { ChangeFeed } from '../store/changes.ts';
import type { Store } from '../store/database.ts';

const mostKept = 10_000;

export function createEmails(store: Store, feed: ChangeFeed): (userId: string) => Promise<string | null> {
  const kept = new Map<string, string | null>();
  feed.subscribe((changes) => {
    if (changes === 'all') kept.clear();
    else for (const { topic, id } of changes) if (topic === 'user') kept.delete(id);
  });
  return async (userId) => {
    const known = kept.get(userId);
    if (known !== undefined) return known;
    const row = await store.db.selectFrom('users').select('email').where('id', '=', userId).executeTakeFirst();
    if (kept.size >= mostKept) kept.clear();
    kept.set(userId, row?.email ?? null);
    return row?.email ?? null;
  };
}
