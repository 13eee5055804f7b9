/** Forgets sessions that no longer count: those past their end, and those older than their organisation now allows. */
import type { Services } from '../admin/kernel/services.ts';
import type { Store } from '../store/database.ts';
import { decode } from '../store/json.ts';
import type { Job } from './runner.ts';

const batch = 500;

export const createSessionSweep = ({ store }: Pick<Services, 'store'>): Job => ({
  name: 'session-sweep',
  everyMs: 10 * 60_000,
  async run(now) {
    await forget(store, (sessions) => sessions.where('expires_at', '<=', now.toISOString()));
    const organisations = await store.db
      .selectFrom('organisations')
      .select(['id', 'settings'])
      .where('id', 'in', (eb) => eb.selectFrom('sessions').select('organisation_id').distinct())
      .execute();
    for (const { id, settings } of organisations) {
      const { max_session_ttl } = decode(settings).session_settings;
      if (max_session_ttl === null) continue;
      const oldest = new Date(now.getTime() - max_session_ttl * 1000).toISOString();
      await forget(store, (sessions) => sessions.where('organisation_id', '=', id).where('auth_time', '<=', oldest));
    }
  },
});

const sessionIds = (store: Store) => store.db.selectFrom('sessions').select('id');
type Sessions = ReturnType<typeof sessionIds>;

/** Deletes in batches, so that no statement holds the store for long. */
async function forget(store: Store, choose: (sessions: Sessions) => Sessions): Promise<void> {
  for (;;) {
    const chosen = choose(sessionIds(store)).limit(batch);
    const { numDeletedRows } = await store.db.deleteFrom('sessions').where('id', 'in', chosen).executeTakeFirst();
    if (numDeletedRows < batch) return;
  }
}
