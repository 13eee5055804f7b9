/** Making an organisation: its name, then the one sight of its first admin key. */
import { TextInput } from '@mantine/core';
import { useState } from 'react';
import { useCreateOrganisation } from '../api/organisation.ts';
import { SecretDialog } from '../pages/api-keys/secret.tsx';
import { FormDialog } from '../ui/dialogs.tsx';
import { useForm } from '../ui/form.ts';

export function NewOrganisation({ onClose, onReady }: { onClose(): void; onReady(id: string): void }) {
  const create = useCreateOrganisation();
  const [made, setMade] = useState<{ id: string; secret: string } | null>(null);
  const form = useForm({
    initial: { name: '' },
    check: ({ name }) => (name.trim() === '' ? { name: 'An organisation needs a name.' } : {}),
    async send({ name }) {
      const { id, api_key } = await create.mutateAsync({ name: name.trim() });
      setMade({ id, secret: api_key.key });
    },
  });
  if (made) {
    const shown = {
      title: 'The organisation is ready',
      keyName: 'First admin key',
      secret: made.secret,
      transitionEnd: null,
    };
    const leave = () => {
      onClose();
      onReady(made.id);
    };
    return <SecretDialog shown={shown} onClose={leave} />;
  }
  return (
    <FormDialog title="New organisation" form={form} action="Create organisation" onClose={onClose}>
      <TextInput
        label="Name"
        description="It starts with one workspace, one admin key, and you as its owner."
        withAsterisk
        data-autofocus
        {...form.text('name')}
      />
    </FormDialog>
  );
}
