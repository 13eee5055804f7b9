/** Changing a key: its name, what it may do, how long it lives and what it may use. Only what changed is sent. */
import { Checkbox, Textarea, TextInput } from '@mantine/core';
import { type KeyInput, useUpdateKey } from '../../api/api-keys.ts';
import { useCan, useCanIn } from '../../api/session.ts';
import type { ApiKey, Scope } from '../../api/types.ts';
import { FormDialog } from '../../ui/dialogs.tsx';
import { useForm } from '../../ui/form.ts';
import { checkOptions, type KeyOptions, keyOptions, OptionFields, optionsInput } from './option-fields.tsx';
import { ScopePicker } from './scope-picker.tsx';

interface Values extends KeyOptions {
  name: string;
  description: string;
  scopes: Scope[];
  reset_usage: boolean;
}

const valuesOf = (key: ApiKey): Values => ({
  ...keyOptions(key),
  name: key.name,
  description: key.description ?? '',
  scopes: key.scopes,
  reset_usage: false,
});

const inputOf = (values: Values) => ({
  name: values.name.trim(),
  description: values.description.trim() || null,
  scopes: values.scopes,
  ...optionsInput(values),
});

export function EditKey(props: { apiKey: ApiKey; onClose(): void; onSaved(): void }) {
  const { apiKey } = props;
  const update = useUpdateKey(apiKey.id);
  const can = useCan();
  const canThere = useCanIn(apiKey.workspace_id ?? '');
  const form = useForm<Values>({
    initial: valuesOf(apiKey),
    check: (values) => ({
      ...(values.name.trim() === '' && { name: 'A key needs a name.' }),
      ...(values.description.trim().length > 200 && { description: 'At most 200 characters.' }),
      ...(values.scopes.length === 0 && { scopes: 'Choose at least one scope.' }),
      ...checkOptions(values),
    }),
    async send(values) {
      const changes = changed(inputOf(valuesOf(apiKey)), inputOf(values));
      if (values.reset_usage) changes.reset_usage = true;
      if (Object.keys(changes).length > 0) await update.mutateAsync(changes);
      props.onSaved();
    },
  });
  const { values } = form;
  return (
    <FormDialog title={`Edit “${apiKey.name}”`} form={form} action="Save" onClose={props.onClose} size="lg">
      <TextInput
        label="Name"
        withAsterisk
        data-autofocus
        value={values.name}
        error={form.error('name')}
        onChange={(event) => form.set('name', event.currentTarget.value)}
      />
      <Textarea
        label="Description"
        autosize
        minRows={2}
        value={values.description}
        error={form.error('description')}
        onChange={(event) => form.set('description', event.currentTarget.value)}
      />
      <ScopePicker
        type={apiKey.type}
        value={values.scopes}
        mayGrant={apiKey.workspace_id ? canThere : can}
        error={form.error('scopes')}
        onChange={(scopes) => form.set('scopes', scopes)}
      />
      <OptionFields form={form} />
      {apiKey.usage_limits && (
        <Checkbox
          label="Set what was used back to zero now"
          checked={values.reset_usage}
          onChange={(event) => form.set('reset_usage', event.currentTarget.checked)}
        />
      )}
    </FormDialog>
  );
}

/** The fields of `after` that differ. */
function changed(before: KeyInput, after: KeyInput): KeyInput {
  const names = Object.keys(after) as (keyof KeyInput)[];
  const differing = names.filter((name) => JSON.stringify(before[name]) !== JSON.stringify(after[name]));
  return Object.fromEntries(differing.map((name) => [name, after[name]]));
}
