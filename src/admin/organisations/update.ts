/** How an organisation is changed: saved, audited with what differs, and announced to whoever keeps a copy. */
import type { Db } from '../../store/database.ts';
import type { OrganisationTable } from '../../store/schema.ts';
import type { Call } from '../kernel/endpoint.ts';
import { differences } from './differences.ts';

export type OrganisationChange = Partial<Omit<OrganisationTable, 'id' | 'slug' | 'created_at' | 'last_updated_at'>>;

export async function saveOrganisation(db: Db, now: Date, id: string, change: OrganisationChange): Promise<void> {
  await db
    .updateTable('organisations')
    .set({ ...change, last_updated_at: now.toISOString() })
    .where('id', '=', id)
    .execute();
}

type Writing = Pick<Call<unknown, unknown, unknown>, 'caller' | 'changed' | 'note'>;

/** Everything that follows an organisation's settings (user keys, sessions, the data plane) hears of the change. */
export function announceUpdate(call: Writing, before: object, after: object): void {
  const { organisationId } = call.caller;
  call.changed({ topic: 'organisation', id: organisationId });
  call.note({ resourceId: organisationId, details: { changed: differences(before, after) } });
}
