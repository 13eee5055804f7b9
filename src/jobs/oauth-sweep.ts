/** Forgets what the authorization server no longer needs: codes and flows past their end, tokens past theirs, grants without any, and clients that nobody uses. */
import type { Services } from '../admin/kernel/services.ts';
import type { Db, Store } from '../store/database.ts';
import type { Job } from './runner.ts';

const batch = 500;
const dayMs = 86_400_000;
/** Registration is open to everybody, so that most clients are never used again. */
const unusedClientDays = 90;
/** A used refresh token stays for so long after its end, so that its second use is noticed while anybody could try it. */
const usedTokenDays = 30;

export const createOauthSweep = ({ store }: Pick<Services, 'store'>): Job => ({
  name: 'oauth-sweep',
  everyMs: 10 * 60_000,
  async run(now) {
    const at = now.toISOString();
    const before = (days: number) => new Date(now.getTime() - days * dayMs).toISOString();
    await inBatches(store, (db) =>
      db
        .deleteFrom('oauth_flows')
        .where(
          'digest',
          'in',
          db.selectFrom('oauth_flows').select('digest').where('expires_at', '<=', at).limit(batch),
        ),
    );
    await inBatches(store, (db) =>
      db.deleteFrom('oauth_tokens').where(
        'digest',
        'in',
        db
          .selectFrom('oauth_tokens')
          .select('digest')
          .where((eb) =>
            eb.or([
              eb.and([eb('used_at', 'is', null), eb('expires_at', '<=', at)]),
              eb('expires_at', '<=', before(usedTokenDays)),
            ]),
          )
          .limit(batch),
      ),
    );
    await inBatches(store, (db) =>
      db
        .deleteFrom('oauth_tokens')
        .where(
          'digest',
          'in',
          db
            .selectFrom('oauth_tokens as token')
            .innerJoin('oauth_grants as grant', 'grant.id', 'token.grant_id')
            .select('token.digest')
            .where('grant.revoked_at', '<=', before(usedTokenDays))
            .limit(batch),
        ),
    );
    await inBatches(store, (db) =>
      db.deleteFrom('oauth_grants').where(
        'id',
        'in',
        db
          .selectFrom('oauth_grants as grant')
          .select('grant.id')
          .where('grant.created_at', '<=', before(1))
          .where((eb) =>
            eb.not(
              eb.exists(
                eb
                  .selectFrom('oauth_tokens as token')
                  .select('token.digest')
                  .whereRef('token.grant_id', '=', 'grant.id'),
              ),
            ),
          )
          .limit(batch),
      ),
    );
    await inBatches(store, (db) =>
      db.deleteFrom('oauth_clients').where(
        'id',
        'in',
        db
          .selectFrom('oauth_clients as client')
          .select('client.id')
          .where('client.last_used_at', '<=', before(unusedClientDays))
          .where((eb) =>
            eb.not(
              eb.exists(
                eb.selectFrom('oauth_grants as grant').select('grant.id').whereRef('grant.client_id', '=', 'client.id'),
              ),
            ),
          )
          .limit(batch),
      ),
    );
  },
});

/** No statement holds the store for long. */
async function inBatches(
  { db }: Store,
  deletion: (db: Db) => { executeTakeFirst(): Promise<{ numDeletedRows: bigint }> },
): Promise<void> {
  for (;;) {
    const { numDeletedRows } = await deletion(db).executeTakeFirst();
    if (numDeletedRows < batch) return;
  }
}
