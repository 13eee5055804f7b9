/** The signed-in person: their account and the way out. */
import { Avatar, Menu, Text, UnstyledButton } from '@mantine/core';
import { signOut, useSelf } from '../api/session.ts';
import type { Person } from '../api/types.ts';
import { Link, navigate } from '../router/router.tsx';
import { Icon } from '../ui/icons.tsx';

export const fullName = (person: Pick<Person, 'first_name' | 'last_name' | 'email'>): string =>
  `${person.first_name} ${person.last_name}`.trim() || person.email;

const initialsOf = (name: string): string => {
  const [first = '', ...rest] = name.split(/\s+/);
  const last = rest.at(-1);
  return (last ? first.charAt(0) + last.charAt(0) : first.slice(0, 2)).toUpperCase();
};

export async function leave(): Promise<void> {
  const elsewhere = await signOut();
  if (elsewhere !== null) window.location.assign(elsewhere);
  else navigate('/login', 'replace');
}

export function AccountMenu() {
  const { user, organisation } = useSelf();
  return (
    <Menu width={240}>
      <Menu.Target>
        {/* What is read out begins with what is seen, so that speaking it finds the button. */}
        <UnstyledButton
          aria-label={`${initialsOf(fullName(user))} – account of ${fullName(user)}`}
          style={{ borderRadius: 999 }}
        >
          <Avatar color="lagoon" size={32}>
            {initialsOf(fullName(user))}
          </Avatar>
        </UnstyledButton>
      </Menu.Target>
      <Menu.Dropdown>
        <Menu.Label>
          <Text size="sm" fw={600} c="var(--mantine-color-text)" className="gw-clip">
            {fullName(user)}
          </Text>
          <Text size="xs" className="gw-clip">
            {user.email} · {organisation.role}
          </Text>
        </Menu.Label>
        <Menu.Divider />
        <Menu.Item component={Link} href="/account" leftSection={<Icon name="account" size={16} />}>
          Account
        </Menu.Item>
        <Menu.Item leftSection={<Icon name="signOut" size={16} />} onClick={() => void leave()}>
          Sign out
        </Menu.Item>
      </Menu.Dropdown>
    </Menu>
  );
}
