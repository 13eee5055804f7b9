/** The fields of a key, the same when making and when changing one: its name, what it may do, and its options. */
import { Button, Collapse, Stack, Textarea, TextInput } from '@mantine/core';
import { type ReactNode, useState } from 'react';
import type { ApiKey, ApiKeyType, Scope } from '../../api/types.ts';
import type { FieldErrors, Fields } from '../../ui/form.ts';
import { Icon } from '../../ui/icons.tsx';
import { checkOptions, type KeyOptions, keyOptions, OptionFields, optionsInput } from './option-fields.tsx';
import { ScopePicker } from './scope-picker.tsx';

export interface KeyValues extends KeyOptions {
  name: string;
  description: string;
  scopes: Scope[];
}

export const keyValues = (key: ApiKey | null): KeyValues => ({
  ...keyOptions(key),
  name: key?.name ?? '',
  description: key?.description ?? '',
  scopes: key?.scopes ?? [],
});

export const keyInput = (values: KeyValues) => ({
  name: values.name.trim(),
  description: values.description.trim() || null,
  scopes: values.scopes,
  ...optionsInput(values),
});

export const checkKey = (values: KeyValues): FieldErrors => ({
  ...(values.name.trim() === '' && { name: 'A key needs a name.' }),
  ...(values.name.trim().length > 100 && { name: 'At most 100 characters.' }),
  ...(values.description.trim().length > 200 && { description: 'At most 200 characters.' }),
  ...(values.scopes.length === 0 && { scopes: 'Choose at least one scope.' }),
  ...checkOptions(values),
});

export function KeyFields(props: {
  form: Fields<KeyValues>;
  type: ApiKeyType;
  /** Whether the person may hand this scope on. */
  mayGrant(scope: Scope): boolean;
  /** True where most leave the options alone: they wait behind a button. */
  folded?: boolean;
}) {
  const { form, type, mayGrant, folded = false } = props;
  const description = <Textarea label="Description" autosize minRows={2} {...form.text('description')} />;
  const options = <OptionFields form={form} />;
  return (
    <>
      <TextInput label="Name" withAsterisk data-autofocus {...form.text('name')} />
      {!folded && description}
      <ScopePicker
        type={type}
        value={form.values.scopes}
        mayGrant={mayGrant}
        error={form.error('scopes')}
        onChange={(scopes) => form.set('scopes', scopes)}
      />
      {folded ? (
        <Folded label="Description, lifetime and limits">
          {description}
          {options}
        </Folded>
      ) : (
        options
      )}
    </>
  );
}

function Folded({ label, children }: { label: string; children: ReactNode }) {
  const [open, setOpen] = useState(false);
  return (
    <>
      <Button
        variant="subtle"
        size="xs"
        onClick={() => setOpen(!open)}
        aria-expanded={open}
        rightSection={<Icon name="chevron" size={14} />}
        style={{ alignSelf: 'flex-start' }}
      >
        {open ? 'Fewer options' : label}
      </Button>
      <Collapse expanded={open}>
        <Stack gap="md">{children}</Stack>
      </Collapse>
    </>
  );
}
