/** The names behind the ids of audit rows. */
import { useKeyNames } from '../../api/api-keys.ts';
import { useUserChoices } from '../../api/people.ts';
import { useCan } from '../../api/session.ts';
import type { AuditRow } from '../../api/types.ts';
import { fullName } from '../../shell/account-menu.tsx';

export interface Actor {
  name: string;
  detail: string;
}

const kinds: Record<AuditRow['user_type'], string> = {
  user: 'Person',
  api_key: 'API key',
  scim: 'SCIM',
  system: 'The service itself',
};

export function useActors(rows: readonly AuditRow[]): (row: AuditRow) => Actor {
  const can = useCan();
  const people = useUserChoices(can('organisation_users.list'));
  const keys = useKeyNames(rows.filter((row) => row.user_type === 'api_key').map((row) => row.user_id));
  const persons = new Map(people.data?.data.map((user) => [user.id, user]));
  const keyNames = new Map(keys.data?.data.map((key) => [key.id, key.name]));
  return ({ user_id: id, user_type: type }) => {
    const person = persons.get(id);
    if (person) return { name: fullName(person), detail: person.email };
    const keyName = keyNames.get(id);
    if (keyName) return { name: keyName, detail: kinds.api_key };
    return { name: kinds[type], detail: type === 'system' ? '' : id };
  };
}
