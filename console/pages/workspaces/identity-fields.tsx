/** The fields that say what a workspace is, the same when making and when changing one. */
import { Group, Textarea, TextInput } from '@mantine/core';
import type { FieldErrors, Fields } from '../../ui/form.ts';

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

export function IdentityFields({ form }: { form: Fields<Identity> }) {
  return (
    <>
      <Group gap="sm" align="flex-start" wrap="nowrap">
        <TextInput
          label="Icon"
          description="One emoji"
          placeholder="–"
          w={84}
          styles={{ input: { textAlign: 'center' } }}
          {...form.text('icon')}
        />
        <TextInput
          label="Name"
          description="What people will see"
          withAsterisk
          flex={1}
          data-autofocus
          {...form.text('name')}
        />
      </Group>
      <Textarea label="Description" autosize minRows={2} maxRows={5} {...form.text('description')} />
    </>
  );
}
