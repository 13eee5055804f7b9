/** The fields that say what a workspace is, the same when making and when changing one. */
import { Group, Textarea, TextInput } from '@mantine/core';
import type { FieldErrors, Form } from '../../ui/form.ts';

interface Identity {
  name: string;
  icon: string;
  description: string;
}

export const checkIdentity = ({ name, description }: Identity): FieldErrors => ({
  ...(name.trim() === '' && { name: 'A workspace needs a name.' }),
  ...(name.trim().length > 255 && { name: 'At most 255 characters.' }),
  ...(description.trim().length > 500 && { description: 'At most 500 characters.' }),
});

export function IdentityFields<V extends Identity>({ form }: { form: Form<V> }) {
  const { values } = form;
  const set = form.set as (name: keyof Identity, value: string) => void;
  return (
    <>
      <Group gap="sm" align="flex-start" wrap="nowrap">
        <TextInput
          label="Icon"
          description="One emoji"
          placeholder="–"
          w={84}
          styles={{ input: { textAlign: 'center' } }}
          value={values.icon}
          error={form.error('icon')}
          onChange={(event) => set('icon', event.currentTarget.value)}
        />
        <TextInput
          label="Name"
          description="What people will see"
          withAsterisk
          flex={1}
          data-autofocus
          value={values.name}
          error={form.error('name')}
          onChange={(event) => set('name', event.currentTarget.value)}
        />
      </Group>
      <Textarea
        label="Description"
        autosize
        minRows={2}
        maxRows={5}
        value={values.description}
        error={form.error('description')}
        onChange={(event) => set('description', event.currentTarget.value)}
      />
    </>
  );
}
