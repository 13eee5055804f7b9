/** The people of a workspace and their roles in it. */
import { Box, Button, Group, Select } from '@mantine/core';
import { useState } from 'react';
import { useSelf } from '../../api/session.ts';
import type { Member, Scope, Workspace, WorkspaceRole } from '../../api/types.ts';
import { useChangeMember, useMembers, useRemoveMember } from '../../api/workspaces.ts';
import { usePageIndex, useSearchField } from '../../router/router.tsx';
import { fullName } from '../../shell/account-menu.tsx';
import { Confirm } from '../../ui/dialogs.tsx';
import { Filters, SearchFilter } from '../../ui/filters.tsx';
import { Icon } from '../../ui/icons.tsx';
import { type Column, Listing, Named } from '../../ui/listing.tsx';
import { Moment } from '../../ui/moment.tsx';
import { useTell } from '../../ui/notice.tsx';
import { RowMenu } from '../../ui/row-menu.tsx';
import { Empty, Fault } from '../../ui/states.tsx';
import { Status } from '../../ui/status.tsx';
import { AddMembers } from './add-members.tsx';
import { workspaceRoleChoices } from './role-choices.ts';

export function Members({ workspace, can }: { workspace: Workspace; can(scope: Scope): boolean }) {
  const tell = useTell();
  const self = useSelf();
  const [search] = useSearchField('search');
  const [page] = usePageIndex();
  const query = useMembers(workspace.id, { search, page });
  const change = useChangeMember(workspace.id);
  const remove = useRemoveMember(workspace.id);
  const [adding, setAdding] = useState(false);
  const [leaving, setLeaving] = useState<Member | null>(null);
  const active = workspace.status === 'active';
  const mayChange = active && can('workspace_users.update');
  const mayRemove = active && can('workspace_users.delete');
  const mayAdd = active && can('workspace_users.create') && can('organisation_users.list');

  const setRole = (member: Member, role: WorkspaceRole) =>
    change.mutate(
      { id: member.id, role },
      { onSuccess: () => tell(`${fullName(member)} is ${role} of this workspace now.`) },
    );

  const columns: readonly Column<Member>[] = [
    { header: 'Person', cell: (member) => <Named strong name={fullName(member)} detail={member.email} /> },
    { header: 'Organisation', from: 'md', width: 140, cell: ({ org_role }) => <Status value={org_role} /> },
    {
      header: 'Role here',
      width: 150,
      cell: (member) =>
        mayChange ? (
          <Select
            size="xs"
            aria-label={`Role of ${fullName(member)}`}
            data={workspaceRoleChoices}
            value={member.role}
            disabled={change.isPending}
            onChange={(role) => role && role !== member.role && setRole(member, role)}
          />
        ) : (
          <Status value={member.role} />
        ),
    },
    { header: 'Since', from: 'sm', width: 130, cell: ({ created_at }) => <Moment at={created_at} /> },
    {
      header: 'Actions',
      quiet: true,
      align: 'right',
      width: 60,
      cell: (member) =>
        (mayRemove || member.id === self.user.id) && active ? (
          <RowMenu
            label={`Actions for ${fullName(member)}`}
            items={[
              {
                label: member.id === self.user.id ? 'Leave' : 'Remove',
                icon: 'trash',
                danger: true,
                onClick: () => setLeaving(member),
              },
            ]}
          />
        ) : null,
    },
  ];

  return (
    <>
      <Group justify="space-between" gap="sm">
        <Box flex="1 1 260px">
          <Filters>
            <SearchFilter name="search" label="Find by name or e-mail" />
          </Filters>
        </Box>
        {mayAdd && (
          <Button leftSection={<Icon name="member" size={16} />} onClick={() => setAdding(true)}>
            Add members
          </Button>
        )}
      </Group>
      {change.error && <Fault error={change.error} title="The role was not changed" />}
      <Listing
        label={`Members of ${workspace.name}`}
        columns={columns}
        rowKey={({ id }) => id}
        query={query}
        found={query.data && { rows: query.data.data, total: query.data.total }}
        empty={
          <Empty icon="users" title={search ? 'Nobody matches' : 'No members yet'}>
            {search
              ? 'Try another name or address.'
              : 'Owners and admins of the organisation have access without being listed.'}
          </Empty>
        }
      />
      {adding && (
        <AddMembers
          workspace={workspace}
          onClose={() => setAdding(false)}
          onAdded={() => {
            setAdding(false);
            tell('The members were added.');
          }}
        />
      )}
      {leaving && (
        <Confirm
          title={leaving.id === self.user.id ? 'Leave this workspace?' : `Remove ${fullName(leaving)}?`}
          action={leaving.id === self.user.id ? 'Leave' : 'Remove'}
          onClose={() => setLeaving(null)}
          run={async () => {
            await remove.mutateAsync({ id: leaving.id });
            setLeaving(null);
            tell(`${fullName(leaving)} is no longer a member of this workspace.`);
          }}
        >
          Their user keys in {workspace.name} stop working at once.
        </Confirm>
      )}
    </>
  );
}
