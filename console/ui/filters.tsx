/** The row of filters above a list. Every filter stands in the address and goes back to the first page. */
import { Group, SegmentedControl, Select, TextInput } from '@mantine/core';
import { useDebouncedCallback } from '@mantine/hooks';
import { type ReactNode, useState } from 'react';
import { setSearch, useSearchField } from '../router/router.tsx';
import { Icon } from './icons.tsx';

export const Filters = ({ label = 'Filters', children }: { label?: string; children: ReactNode }) => (
  <Group gap="sm" role="search" aria-label={label}>
    {children}
  </Group>
);

export function SearchFilter({ name, label }: { name: string; label: string }) {
  const [value] = useSearchField(name);
  const [text, setText] = useState(value);
  const apply = useDebouncedCallback((next: string) => setSearch({ [name]: next.trim(), page: '' }), 250);
  return (
    <TextInput
      type="search"
      aria-label={label}
      placeholder={label}
      leftSection={<Icon name="search" size={16} />}
      value={text}
      onChange={(event) => {
        setText(event.currentTarget.value);
        apply(event.currentTarget.value);
      }}
      flex="1 1 200px"
      maw={{ sm: 300 }}
    />
  );
}

interface Choice {
  value: string;
  label: string;
}

export function ChoiceFilter(props: { name: string; label: string; all: string; choices: readonly Choice[] }) {
  const { name, label, all, choices } = props;
  const [value] = useSearchField(name);
  return (
    <Select
      aria-label={label}
      data={[{ value: '', label: all }, ...choices]}
      value={value}
      onChange={(next) => setSearch({ [name]: next ?? '', page: '' })}
      searchable={choices.length > 10}
      flex="1 1 150px"
      maw={{ sm: 220 }}
    />
  );
}

/** Few choices, all in sight; the first is the one that holds when the address says nothing. */
export function SegmentFilter({ name, label, choices }: { name: string; label: string; choices: readonly Choice[] }) {
  const [value] = useSearchField(name);
  const first = choices[0]?.value ?? '';
  return (
    <SegmentedControl
      aria-label={label}
      data={[...choices]}
      value={value || first}
      onChange={(next) => setSearch({ [name]: next === first ? '' : next, page: '' })}
    />
  );
}
