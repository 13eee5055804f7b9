/** A new secret: shown once, and gone from the console when the dialog closes. */
import { Alert, Button, Group, Modal, Stack, Text } from '@mantine/core';
import { CopyField } from '../../ui/copy.tsx';
import { useReturnedFocus } from '../../ui/dialogs.tsx';
import { Icon } from '../../ui/icons.tsx';
import { exact } from '../../ui/moment.tsx';

export interface ShownSecret {
  title: string;
  keyName: string;
  secret: string;
  /** Until when the secret before this one still counts. */
  transitionEnd: string | null;
}

export function SecretDialog({ shown, onClose }: { shown: ShownSecret; onClose(): void }) {
  useReturnedFocus();
  return (
    <Modal
      opened
      onClose={onClose}
      title={shown.title}
      size="lg"
      closeOnClickOutside={false}
      closeOnEscape={false}
      withCloseButton={false}
    >
      <Stack gap="md">
        <Alert color="yellow" icon={<Icon name="alert" />}>
          Copy the secret now and keep it somewhere safe. It is stored only as a digest and cannot be shown again.
        </Alert>
        <CopyField label={`Secret of “${shown.keyName}”`} value={shown.secret} />
        {shown.transitionEnd && (
          <Text size="sm">
            The old secret stays valid until <strong>{exact(shown.transitionEnd)}</strong>, so that clients can change
            over without a gap.
          </Text>
        )}
        <Group justify="flex-end">
          <Button onClick={onClose}>I have kept it</Button>
        </Group>
      </Stack>
    </Modal>
  );
}
