/** The way to the pages; only those that the signed-in person's scopes open. */
import { NavLink, Stack, Text } from '@mantine/core';
import { useCan } from '../api/session.ts';
import type { Scope } from '../api/types.ts';
import { Link, usePath } from '../router/router.tsx';
import { Icon, type IconName } from '../ui/icons.tsx';

interface Entry {
  href: string;
  label: string;
  icon: IconName;
  /** Any of these opens the page; none: it is open to everyone. */
  scopes?: readonly Scope[];
}

interface Group {
  title: string | null;
  entries: readonly Entry[];
}

const groups: readonly Group[] = [
  {
    title: null,
    entries: [
      { href: '/', label: 'Overview', icon: 'overview' },
      { href: '/workspaces', label: 'Workspaces', icon: 'workspace', scopes: ['workspaces.list'] },
      {
        href: '/api-keys',
        label: 'API keys',
        icon: 'key',
        scopes: [
          'organisation_service_api_keys.list',
          'workspace_service_api_keys.list',
          'workspace_user_api_keys.list',
        ],
      },
    ],
  },
  {
    title: 'Organisation',
    entries: [
      { href: '/users', label: 'Users', icon: 'users', scopes: ['organisation_users.list'] },
      { href: '/invites', label: 'Invites', icon: 'invite', scopes: ['organisation_users.list'] },
      { href: '/audit-logs', label: 'Audit log', icon: 'audit', scopes: ['audit_logs.list'] },
      { href: '/notices', label: 'Notices', icon: 'notice', scopes: ['audit_logs.list'] },
      { href: '/settings', label: 'Settings', icon: 'settings', scopes: ['organisation_settings.read'] },
    ],
  },
];

const isCurrent = (href: string, path: string): boolean =>
  href === '/' ? path === '/' : path === href || path.startsWith(`${href}/`);

export function Navigation() {
  const can = useCan();
  const path = usePath();
  const visible = groups
    .map((group) => ({ ...group, entries: group.entries.filter(({ scopes }) => !scopes || scopes.some(can)) }))
    .filter((group) => group.entries.length > 0);
  return (
    <Stack gap="lg">
      {visible.map(({ title, entries }) => (
        <Stack gap={2} key={title ?? 'main'}>
          {title && (
            <Text size="xs" c="dimmed" fw={600} px="sm" mb={4}>
              {title}
            </Text>
          )}
          {entries.map(({ href, label, icon }) => (
            <NavLink
              key={href}
              component={Link}
              href={href}
              label={label}
              leftSection={<Icon name={icon} />}
              active={isCurrent(href, path)}
              aria-current={isCurrent(href, path) ? 'page' : undefined}
              className="gw-nav-link"
              variant="light"
            />
          ))}
        </Stack>
      ))}
    </Stack>
  );
}
