/** Rotating a key: a new secret at once, and a time in which the old one still counts. */
import { Alert, Select, Text } from '@mantine/core';
import { useRotateKey } from '../../api/api-keys.ts';
import type { ApiKey } from '../../api/types.ts';
import { FormDialog } from '../../ui/dialogs.tsx';
import { useForm } from '../../ui/form.ts';
import { Icon } from '../../ui/icons.tsx';
import { exact } from '../../ui/moment.tsx';
import type { ShownSecret } from './secret.tsx';

const minute = 60_000;
const transitions = [
  { value: String(30 * minute), label: '30 minutes' },
  { value: String(60 * minute), label: '1 hour' },
  { value: String(24 * 60 * minute), label: '1 day' },
  { value: String(3 * 24 * 60 * minute), label: '3 days' },
  { value: String(6 * 24 * 60 * minute), label: '6 days' },
];

export function RotateKey(props: { apiKey: ApiKey; onClose(): void; onRotated(shown: ShownSecret): void }) {
  const { apiKey } = props;
  const rotate = useRotateKey(apiKey.id);
  const form = useForm({
    initial: { key_transition_period_ms: transitions[0]?.value ?? '' },
    async send({ key_transition_period_ms }) {
      const { key, key_transition_expires_at } = await rotate.mutateAsync({
        key_transition_period_ms: Number(key_transition_period_ms),
      });
      props.onRotated({
        title: 'The key was rotated',
        keyName: apiKey.name,
        secret: key,
        transitionEnd: key_transition_expires_at ?? null,
      });
    },
  });
  return (
    <FormDialog title={`Rotate “${apiKey.name}”`} form={form} action="Rotate" onClose={props.onClose}>
      <Text size="sm">The key gets a new secret. Its id, scopes, limits and usage stay.</Text>
      {apiKey.key_transition_expires_at && (
        <Alert color="yellow" icon={<Icon name="alert" />}>
          The secret before this one is still valid until {exact(apiKey.key_transition_expires_at)}. A key has at most
          two secrets, so it can be rotated again after that.
        </Alert>
      )}
      <Select
        label="The old secret stays valid for"
        data={transitions}
        value={form.values.key_transition_period_ms}
        error={form.error('key_transition_period_ms')}
        onChange={(value) => value && form.set('key_transition_period_ms', value)}
      />
    </FormDialog>
  );
}
