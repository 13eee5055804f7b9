/** The people of the organisation and their roles in it. */
import { Button, Select } from '@mantine/core';
import { useState } from 'react';
import { useChangeUser, useRemoveUser, useResetLink, useUsers } from '../../api/people.ts';
import { useCan, useSelf } from '../../api/session.ts';
import type { User } from '../../api/types.ts';
import { Link, usePageIndex, useSearchField } from '../../router/router.tsx';
import { fullName } from '../../shell/account-menu.tsx';
import { Confirm, LinkDialog } from '../../ui/dialogs.tsx';
import { ChoiceFilter, Filters, SearchFilter } from '../../ui/filters.tsx';
import { Icon } from '../../ui/icons.tsx';
import { type Column, Listing, Named } from '../../ui/listing.tsx';
import { Moment } from '../../ui/moment.tsx';
import { useTell } from '../../ui/notice.tsx';
import { Page } from '../../ui/page.tsx';
import { RowMenu } from '../../ui/row-menu.tsx';
import { Empty, Fault } from '../../ui/states.tsx';
import { Status } from '../../ui/status.tsx';

type AssignableRole = 'admin' | 'member';

const assignable: { value: AssignableRole; label: string }[] = [
  { value: 'admin', label: 'Admin' },
  { value: 'member', label: 'Member' },
];

export function UsersPage() {
  const can = useCan();
  const self = useSelf();
  const tell = useTell();
  const [role] = useSearchField('role');
  const [search] = useSearchField('search');
  const [page] = usePageIndex();
  const query = useUsers({ role, search, page });
  const change = useChangeUser();
  const remove = useRemoveUser();
  const [leaving, setLeaving] = useState<User | null>(null);
  const reset = useResetLink();
  const [offered, setOffered] = useState<{ email: string; link: string } | null>(null);
  const offerLink = (user: User) =>
    reset.mutate(
      { id: user.id },
      { onSuccess: ({ reset_link }) => setOffered({ email: user.email, link: reset_link }) },
    );
  const mayTouch = (user: User) => self.organisation.role === 'owner' || user.role !== 'owner';

  const columns: readonly Column<User>[] = [
    {
      header: 'Person',
      cell: (user) => (
        <Named strong name={`${fullName(user)}${user.id === self.user.id ? ' (you)' : ''}`} detail={user.email} />
      ),
    },
    {
      header: 'Role',
      width: 140,
      cell: (user) =>
        can('organisation_users.update') && user.role !== 'owner' && user.id !== self.user.id ? (
          <Select
            size="xs"
            aria-label={`Role of ${fullName(user)}`}
            data={assignable}
            value={user.role}
            disabled={change.isPending}
            onChange={(next) =>
              next &&
              next !== user.role &&
              change.mutate(
                { id: user.id, role: next },
                { onSuccess: () => tell(`${fullName(user)} is ${next} of the organisation now.`) },
              )
            }
          />
        ) : (
          <Status value={user.role} />
        ),
    },
    {
      header: 'Last sign-in',
      from: 'sm',
      width: 150,
      cell: ({ last_login_at }) => <Moment at={last_login_at} never="Never" />,
    },
    { header: 'Joined', from: 'md', width: 150, cell: ({ created_at }) => <Moment at={created_at} /> },
    {
      header: 'Actions',
      quiet: true,
      align: 'right',
      width: 60,
      cell: (user) =>
        user.id !== self.user.id && mayTouch(user) ? (
          <RowMenu
            label={`Actions for ${fullName(user)}`}
            items={[
              ...(can('organisation_users.update')
                ? [{ label: 'Link to a new password', icon: 'key' as const, onClick: () => offerLink(user) }]
                : []),
              ...(can('organisation_users.delete')
                ? [{ label: 'Remove', icon: 'trash' as const, danger: true, onClick: () => setLeaving(user) }]
                : []),
            ]}
          />
        ) : null,
    },
  ];

  return (
    <Page
      title="Users"
      description="Everybody in the organisation. Owners and admins reach all workspaces; members reach those they belong to."
      actions={
        can('organisation_users.create') && (
          <Button component={Link} href="/invites?new=1" leftSection={<Icon name="invite" size={16} />}>
            Invite people
          </Button>
        )
      }
    >
      <Filters>
        <SearchFilter name="search" label="Find by name or address" />
        <ChoiceFilter
          name="role"
          label="Role"
          all="All roles"
          choices={[{ value: 'owner', label: 'Owner' }, ...assignable]}
        />
      </Filters>
      {change.error && <Fault error={change.error} title="The role was not changed" />}
      {reset.error && <Fault error={reset.error} title="The link was not made" />}
      <Listing
        label="Users"
        columns={columns}
        rowKey={({ id }) => id}
        query={query}
        found={query.data && { rows: query.data.data, total: query.data.total }}
        empty={
          <Empty icon="users" title="Nobody matches">
            Change the filters to see more people.
          </Empty>
        }
      />
      {offered && (
        <LinkDialog
          title="A link to a new password"
          text={`Give this link to ${offered.email}. Whoever has it can sign in under that address, so send it on a way you trust. It is good for a day and shown only now.`}
          label="Link to a new password"
          link={offered.link}
          onClose={() => setOffered(null)}
        />
      )}
      {leaving && (
        <Confirm
          title={`Remove ${fullName(leaving)}?`}
          action="Remove"
          typed={leaving.email}
          onClose={() => setLeaving(null)}
          run={async () => {
            await remove.mutateAsync({ id: leaving.id });
            setLeaving(null);
            tell(`${fullName(leaving)} was removed from the organisation.`);
          }}
        >
          They lose every workspace of {self.organisation.name}, their user keys stop working at once, and they are
          signed out.
        </Confirm>
      )}
    </Page>
  );
}
