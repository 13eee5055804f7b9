/** Archiving a workspace: there is no way back, so its name must be typed. */
import { Checkbox, Stack, Text } from '@mantine/core';
import { useState } from 'react';
import type { Workspace } from '../../api/types.ts';
import { useArchiveWorkspace } from '../../api/workspaces.ts';
import { Confirm } from '../../ui/dialogs.tsx';

export function ArchiveWorkspace(props: { workspace: Workspace; onClose(): void; onArchived(): void }) {
  const { workspace } = props;
  const [force, setForce] = useState(false);
  const archive = useArchiveWorkspace(workspace.id);
  return (
    <Confirm
      title="Archive this workspace?"
      action="Archive"
      typed={workspace.name}
      onClose={props.onClose}
      run={async () => {
        await archive.mutateAsync({ name: workspace.name, force_delete: force });
        props.onArchived();
      }}
    >
      <Stack gap="md">
        <Text size="sm">
          Its keys stop working at once and its members lose access. An archived workspace stays readable, but cannot be
          brought back.
        </Text>
        <Checkbox
          label="Also delete what is still in it, such as API keys"
          checked={force}
          onChange={(event) => setForce(event.currentTarget.checked)}
        />
      </Stack>
    </Confirm>
  );
}
