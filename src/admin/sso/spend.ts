/** Messages of identity providers that count once: their ids are kept until they would no longer be valid. */
import { digestOf } from '../../identity/secrets.ts';
import { SsoRefused } from '../../identity/sso/flows.ts';
import type { Db } from '../../store/database.ts';

interface Message {
  /** What it is called when it comes again. */
  what: string;
  id: string;
  expiresAt: Date;
}

/** Throws `SsoRefused` for one that was used before. */
export async function spend(db: Db, organisationId: string, { what, id, expiresAt }: Message): Promise<void> {
  const { numInsertedOrUpdatedRows } = await db
    .insertInto('sso_used_assertions')
    .values({
      organisation_id: organisationId,
      assertion_digest: digestOf(id),
      expires_at: expiresAt.toISOString(),
    })
    .onConflict((conflict) => conflict.doNothing())
    .executeTakeFirst();
  if ((numInsertedOrUpdatedRows ?? 0n) === 0n) throw new SsoRefused(`the ${what} was used before`);
}
