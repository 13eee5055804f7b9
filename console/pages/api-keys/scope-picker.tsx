/** Choosing what a key may do: one line for each resource, one box for each action, and shortcuts for the usual sets. */
import { Box, Button, Checkbox, Group, Input, ScrollArea, Stack, Text, TextInput } from '@mantine/core';
import { useId, useState } from 'react';
import { actionOf, type ScopeGroup, scopeGroups } from '../../api/scopes.ts';
import type { ApiKeyType, Scope } from '../../api/types.ts';
import { Icon } from '../../ui/icons.tsx';
import { words } from '../../ui/words.ts';

const reads = new Set(['read', 'list', 'view']);
/** What a program needs that calls models and nothing else. */
const calls: ReadonlySet<Scope> = new Set<Scope>([
  'completions.write',
  'models.list',
  'prompts.render',
  'guardrails.invoke',
  'mcp.invoke',
  'agents.invoke',
  'logs.write',
]);

export function ScopePicker(props: {
  type: ApiKeyType;
  value: readonly Scope[];
  /** Whether the person may hand this scope on. */
  mayGrant(scope: Scope): boolean;
  error: string | undefined;
  onChange(scopes: Scope[]): void;
}) {
  const { type, value, mayGrant, error, onChange } = props;
  const [find, setFind] = useState('');
  const id = useId();
  const chosen = new Set(value);
  const offered = scopeGroups(type)
    .map(({ resource, scopes }) => ({
      resource,
      scopes: scopes.filter((scope) => mayGrant(scope) || chosen.has(scope)),
    }))
    .filter(({ scopes }) => scopes.length > 0);
  const all = offered.flatMap(({ scopes }) => scopes);
  const shown = offered.filter(({ resource }) => words(resource).toLowerCase().includes(find.trim().toLowerCase()));
  const toggle = (scopes: readonly Scope[], on: boolean) => {
    const kept = value.filter((scope) => !scopes.includes(scope));
    onChange(on ? [...kept, ...scopes] : kept);
  };
  return (
    <Input.Wrapper
      label="Scopes"
      labelElement="div"
      labelProps={{ id }}
      description={`${chosen.size} of ${all.length} chosen. A key can do only what its scopes say.`}
      error={error}
    >
      <Box
        role="group"
        aria-labelledby={id}
        mt={6}
        style={{ border: '1px solid var(--mantine-color-default-border)', borderRadius: 'var(--mantine-radius-md)' }}
      >
        <Group gap="xs" p="xs" wrap="wrap">
          <TextInput
            size="xs"
            flex="1 1 140px"
            aria-label="Find a resource"
            placeholder="Find a resource"
            leftSection={<Icon name="search" size={14} />}
            value={find}
            onChange={(event) => setFind(event.currentTarget.value)}
          />
          <Button.Group>
            {type !== 'organisation-service' && (
              <Button size="xs" variant="default" onClick={() => onChange(all.filter((scope) => calls.has(scope)))}>
                Call models
              </Button>
            )}
            <Button size="xs" variant="default" onClick={() => onChange(all.filter((s) => reads.has(actionOf(s))))}>
              Read only
            </Button>
            <Button size="xs" variant="default" onClick={() => onChange(all)}>
              Administer
            </Button>
            <Button size="xs" variant="default" onClick={() => onChange([])}>
              None
            </Button>
          </Button.Group>
        </Group>
        <ScrollArea.Autosize mah={280} type="auto" viewportProps={{ tabIndex: 0, 'aria-label': 'Scopes by resource' }}>
          {shown.map((group) => (
            <Row key={group.resource} group={group} chosen={chosen} onToggle={toggle} />
          ))}
          {shown.length === 0 && (
            <Text size="sm" c="dimmed" p="md" ta="center">
              No resource matches.
            </Text>
          )}
        </ScrollArea.Autosize>
      </Box>
    </Input.Wrapper>
  );
}

function Row(props: {
  group: ScopeGroup;
  chosen: ReadonlySet<Scope>;
  onToggle(scopes: readonly Scope[], on: boolean): void;
}) {
  const { group, chosen, onToggle } = props;
  const held = group.scopes.filter((scope) => chosen.has(scope)).length;
  return (
    <Stack gap={8} px="sm" py="xs" style={{ borderTop: '1px solid var(--mantine-color-default-border)' }}>
      <Checkbox
        size="xs"
        label={words(group.resource)}
        styles={{ label: { fontWeight: 550, fontSize: 'var(--mantine-font-size-sm)' } }}
        checked={held === group.scopes.length}
        indeterminate={held > 0 && held < group.scopes.length}
        onChange={(event) => onToggle(group.scopes, event.currentTarget.checked)}
      />
      <Group gap="md" pl={26} wrap="wrap" style={{ rowGap: 6 }}>
        {group.scopes.map((scope) => (
          <Checkbox
            key={scope}
            size="xs"
            label={actionOf(scope)}
            aria-label={scope}
            checked={chosen.has(scope)}
            onChange={(event) => onToggle([scope], event.currentTarget.checked)}
          />
        ))}
      </Group>
    </Stack>
  );
}
