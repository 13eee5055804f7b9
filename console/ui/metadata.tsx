/** Metadata: names and values that travel with requests, as rows of a form. */
import { ActionIcon, Button, Group, Stack, Text, TextInput } from '@mantine/core';
import type { FieldErrors } from './form.ts';
import { Icon } from './icons.tsx';

interface MetadataRow {
  key: string;
  name: string;
  value: string;
}

export const metadataRows = (fields: Record<string, string>): MetadataRow[] =>
  Object.entries(fields).map(([name, value]) => ({ key: name, name, value }));

export const metadataOf = (rows: readonly MetadataRow[]): Record<string, string> =>
  Object.fromEntries(rows.map(({ name, value }) => [name.trim(), value]));

export function checkMetadata(rows: readonly MetadataRow[]): FieldErrors {
  const errors: FieldErrors = {};
  rows.forEach(({ name }, at) => {
    const path = `metadata.${at}`;
    if (name.trim() === '') errors[path] = 'Enter a name, or remove the row.';
    else if (rows.findIndex((row) => row.name.trim() === name.trim()) !== at) errors[path] = 'This name is used twice.';
  });
  return errors;
}

export function MetadataFields(props: {
  rows: readonly MetadataRow[];
  error(path: string): string | undefined;
  onChange(rows: MetadataRow[]): void;
}) {
  const { rows, error, onChange } = props;
  const change = (at: number, part: Partial<MetadataRow>) =>
    onChange(rows.map((row, index) => (index === at ? { ...row, ...part } : row)));
  return (
    <Stack gap="xs">
      {rows.map((row, at) => (
        <Group key={row.key} gap="xs" align="flex-start" wrap="nowrap">
          <TextInput
            aria-label={`Name of metadata field ${at + 1}`}
            placeholder="Name"
            value={row.name}
            error={error(`metadata.${at}`)}
            onChange={(event) => change(at, { name: event.currentTarget.value })}
            flex={1}
          />
          <TextInput
            aria-label={`Value of metadata field ${at + 1}`}
            placeholder="Value"
            value={row.value}
            onChange={(event) => change(at, { value: event.currentTarget.value })}
            flex={1}
          />
          <ActionIcon
            size={36}
            aria-label={`Remove metadata field ${at + 1}`}
            onClick={() => onChange(rows.filter((_, index) => index !== at))}
          >
            <Icon name="trash" size={16} />
          </ActionIcon>
        </Group>
      ))}
      {rows.length === 0 && (
        <Text size="sm" c="dimmed">
          No metadata.
        </Text>
      )}
      <Button
        variant="default"
        size="xs"
        leftSection={<Icon name="plus" size={14} />}
        onClick={() => onChange([...rows, { key: crypto.randomUUID(), name: '', value: '' }])}
        style={{ alignSelf: 'flex-start' }}
      >
        Add a field
      </Button>
    </Stack>
  );
}
