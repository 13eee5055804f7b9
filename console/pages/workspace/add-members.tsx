/** Adding people of the organisation to a workspace. */
import { MultiSelect, Select } from '@mantine/core';
import { useUserChoices } from '../../api/people.ts';
import type { Workspace, WorkspaceRole } from '../../api/types.ts';
import { useAddMembers } from '../../api/workspaces.ts';
import { fullName } from '../../shell/account-menu.tsx';
import { FormDialog } from '../../ui/dialogs.tsx';
import { useForm } from '../../ui/form.ts';
import { workspaceRoleChoices } from './role-choices.ts';

export function AddMembers(props: { workspace: Workspace; onClose(): void; onAdded(): void }) {
  const people = useUserChoices();
  const add = useAddMembers(props.workspace.id);
  const form = useForm<{ users: string[]; role: WorkspaceRole }>({
    initial: { users: [], role: 'member' },
    check: ({ users }) => (users.length === 0 ? { users: 'Choose at least one person.' } : {}),
    async send({ users, role }) {
      await add.mutateAsync({ users: users.map((id) => ({ id, role })) });
      props.onAdded();
    },
  });
  const choices = (people.data?.data ?? []).map((user) => ({
    value: user.id,
    label: `${fullName(user)} (${user.email})`,
  }));
  return (
    <FormDialog title={`Add members to ${props.workspace.name}`} form={form} action="Add" onClose={props.onClose}>
      <MultiSelect
        label="People"
        description="Whoever is not in the organisation yet needs an invite first."
        placeholder={form.values.users.length === 0 ? 'Choose people' : ''}
        searchable
        data={choices}
        maxValues={100}
        nothingFoundMessage={people.isPending ? 'Loading …' : 'Nobody matches'}
        value={form.values.users}
        error={form.error('users')}
        onChange={(users) => form.set('users', users)}
        data-autofocus
      />
      <Select
        label="Role in this workspace"
        data={workspaceRoleChoices}
        value={form.values.role}
        error={form.error('role')}
        onChange={(role) => role && form.set('role', role)}
      />
    </FormDialog>
  );
}
