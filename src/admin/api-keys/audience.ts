/** Who is told what happens to a key by itself. */
import type { Db } from '../../store/database.ts';
import { decode } from '../../store/json.ts';
import type { ApiKeyTable } from '../../store/schema.ts';

type KeyRow = Pick<ApiKeyTable, 'id' | 'organisation_id' | 'user_id' | 'created_by' | 'alert_emails'>;

interface Person {
  name: string;
  email: string;
}

export interface Audience {
  organisationName: string;
  /** The current secret, masked. */
  masked: string;
  /** The owner of a user key. */
  owner: Person | null;
  /** The person who made the key, when a person did. */
  creator: Person | null;
  /** Owners and admins of the organisation, the owner of a user key, and the key's alert addresses. */
  recipients: string[];
}

/** Finds the audience of each of these keys, of which there is at least one. People who left the organisation hear nothing. */
export async function audiences(db: Db, keys: readonly KeyRow[]): Promise<(key: KeyRow) => Audience> {
  const organisationIds = [...new Set(keys.map((key) => key.organisation_id))];
  const organisations = await db
    .selectFrom('organisations')
    .select(['id', 'name'])
    .where('id', 'in', organisationIds)
    .execute();
  const named = [...new Set(keys.flatMap((key) => [key.user_id, key.created_by].filter((id) => id !== null)))];
  const people = await db
    .selectFrom('organisation_members as member')
    .innerJoin('users as user', 'user.id', 'member.user_id')
    .select(['member.organisation_id', 'member.role', 'user.id', 'user.email', 'user.first_name', 'user.last_name'])
    .where('member.organisation_id', 'in', organisationIds)
    .where('member.status', '=', 'active')
    .where((eb) =>
      eb.or([eb('member.role', '!=', 'member'), ...(named.length > 0 ? [eb('member.user_id', 'in', named)] : [])]),
    )
    .execute();
  const secrets = await db
    .selectFrom('api_key_secrets')
    .select(['api_key_id', 'masked'])
    .where(
      'api_key_id',
      'in',
      keys.map((key) => key.id),
    )
    .where('transition_expires_at', 'is', null)
    .execute();
  const names = new Map(organisations.map((organisation) => [organisation.id, organisation.name]));
  const masked = new Map(secrets.map((secret) => [secret.api_key_id, secret.masked]));

  return (key) => {
    const members = people.filter((person) => person.organisation_id === key.organisation_id);
    const find = (id: string | null): Person | null => {
      const person = members.find((member) => member.id === id);
      return person ? { name: `${person.first_name} ${person.last_name}`.trim(), email: person.email } : null;
    };
    const owner = find(key.user_id);
    return {
      organisationName: names.get(key.organisation_id) ?? '',
      masked: masked.get(key.id) ?? '',
      owner,
      creator: find(key.created_by),
      recipients: [
        ...members.filter((member) => member.role !== 'member').map((member) => member.email),
        ...(owner ? [owner.email] : []),
        ...decode(key.alert_emails),
      ],
    };
  };
}
