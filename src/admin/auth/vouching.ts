/** Who may say whose word counts for an organisation: an identity provider, a key set or a SCIM token can act as any of its people. */
import { forbidden } from '../../http/errors.ts';
import type { Caller } from '../../identity/caller.ts';
import { organisationRoleBeyond } from '../../identity/grants.ts';
import type { Db } from '../../store/database.ts';
import { keyPlace } from '../api-keys/place.ts';

export async function requireMayVouch(db: Db, caller: Caller): Promise<void> {
  const { organisationSettings } = await keyPlace(db, caller.organisationId, null);
  const beyond = organisationRoleBeyond(caller, 'admin', organisationSettings);
  if (beyond) throw forbidden(`Whoever is trusted here can act as an admin of the organisation. ${beyond}`);
}
