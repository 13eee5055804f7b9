/** Making an invite: to whom, as what, and into which workspaces. */
import { ActionIcon, Button, Input, Select, Stack, Text, TextInput } from '@mantine/core';
import { useCreateInvite } from '../../api/people.ts';
import type { WorkspaceRole } from '../../api/types.ts';
import { useWorkspaceChoices } from '../../api/workspaces.ts';
import { FormDialog } from '../../ui/dialogs.tsx';
import { isEmail, useForm } from '../../ui/form.ts';
import { Icon } from '../../ui/icons.tsx';
import { workspaceRoleChoices } from '../workspace/role-choices.ts';
import { displayName } from '../workspaces/page.tsx';

interface Place {
  key: string;
  id: string | null;
  role: WorkspaceRole;
}

interface Values {
  email: string;
  role: 'admin' | 'member';
  workspaces: Place[];
}

const roles: { value: 'admin' | 'member'; label: string }[] = [
  { value: 'member', label: 'Member – reaches the workspaces below' },
  { value: 'admin', label: 'Admin – reaches everything' },
];

export function CreateInvite(props: { onClose(): void; onCreated(email: string, link: string): void }) {
  const create = useCreateInvite();
  const form = useForm<Values>({
    initial: { email: '', role: 'member', workspaces: [{ key: 'first', id: null, role: 'member' }] },
    check: ({ email }) => (isEmail(email) ? {} : { email: 'Enter a whole e-mail address.' }),
    async send({ email, role, workspaces }) {
      const address = email.trim();
      const places = workspaces.flatMap(({ id, role: place }) => (id === null ? [] : [{ id, role: place }]));
      const { invite_link } = await create.mutateAsync({ email: address, role, workspaces: places });
      props.onCreated(address, invite_link);
    },
  });
  return (
    <FormDialog title="New invite" form={form} action="Create invite" onClose={props.onClose} size="lg">
      <TextInput label="E-mail address" type="email" withAsterisk data-autofocus {...form.text('email')} />
      <Select
        label="Role in the organisation"
        data={roles}
        value={form.values.role}
        error={form.error('role')}
        onChange={(role) => role && form.set('role', role)}
      />
      <Places
        places={form.values.workspaces}
        error={form.error('workspaces')}
        onChange={(workspaces) => form.set('workspaces', workspaces)}
      />
    </FormDialog>
  );
}

function Places(props: { places: Place[]; error: string | undefined; onChange(places: Place[]): void }) {
  const { places, error, onChange } = props;
  const workspaces = useWorkspaceChoices();
  const taken = new Set(places.map(({ id }) => id));
  const change = (at: number, part: Partial<Place>) =>
    onChange(places.map((place, index) => (index === at ? { ...place, ...part } : place)));
  return (
    <Stack gap="xs">
      <Input.Label labelElement="div">Workspaces</Input.Label>
      {places.map((place, at) => (
        <div key={place.key} className="gw-place">
          <Select
            aria-label={`Workspace ${at + 1}`}
            placeholder="Choose a workspace"
            searchable
            clearable
            data={(workspaces.data?.data ?? [])
              .filter(({ id }) => id === place.id || !taken.has(id))
              .map((workspace) => ({ value: workspace.id, label: displayName(workspace) }))}
            value={place.id}
            onChange={(id) => change(at, { id })}
          />
          <Select
            aria-label={`Role in workspace ${at + 1}`}
            data={workspaceRoleChoices}
            value={place.role}
            onChange={(role) => role && change(at, { role })}
          />
          <ActionIcon
            size={36}
            aria-label={`Remove workspace ${at + 1}`}
            onClick={() => onChange(places.filter((_, index) => index !== at))}
          >
            <Icon name="trash" size={16} />
          </ActionIcon>
        </div>
      ))}
      {error && (
        <Text size="xs" c="red" role="alert">
          {error}
        </Text>
      )}
      <Button
        variant="default"
        size="xs"
        leftSection={<Icon name="plus" size={14} />}
        onClick={() => onChange([...places, { key: crypto.randomUUID(), id: null, role: 'member' }])}
        style={{ alignSelf: 'flex-start' }}
      >
        Add a workspace
      </Button>
    </Stack>
  );
}
