/** The link of an invite: shown once, to be handed over. */
import { Button, Group, Modal, Stack, Text } from '@mantine/core';
import { CopyField } from '../../ui/copy.tsx';

export function InviteLinkDialog({ email, link, onClose }: { email: string; link: string; onClose(): void }) {
  return (
    <Modal opened onClose={onClose} title="The invite is ready" size="lg" closeOnClickOutside={false}>
      <Stack gap="md">
        <Text size="sm">
          Give this link to {email}. Whoever has it can join under that address, so send it on a way you trust. It is
          shown only now.
        </Text>
        <CopyField label="Invite link" value={link} />
        <Group justify="flex-end">
          <Button variant="default" onClick={onClose}>
            Done
          </Button>
        </Group>
      </Stack>
    </Modal>
  );
}
