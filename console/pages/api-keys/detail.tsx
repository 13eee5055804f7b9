/** Everything about one key, and what can be done with it. */
import { Alert, Badge, Button, Code, Drawer, Group, Stack, Text } from '@mantine/core';
import type { ReactNode } from 'react';
import { actionOf } from '../../api/scopes.ts';
import type { ApiKey, RotationPolicy } from '../../api/types.ts';
import { Identifier } from '../../ui/copy.tsx';
import { Icon } from '../../ui/icons.tsx';
import { Limits } from '../../ui/limits/summary.tsx';
import { exact, Moment } from '../../ui/moment.tsx';
import { Facts } from '../../ui/page.tsx';
import type { RowAction } from '../../ui/row-menu.tsx';
import { Status } from '../../ui/status.tsx';
import { typeNames } from './types.ts';

export function KeyDetail(props: {
  apiKey: ApiKey;
  owner: string | null;
  actions: readonly RowAction[];
  onClose(): void;
}) {
  const { apiKey, owner, actions, onClose } = props;
  return (
    <Drawer opened onClose={onClose} position="right" size="lg" title={apiKey.name}>
      <Stack gap="lg">
        <Group gap="xs">
          {actions.map(({ label, icon, danger, onClick }) => (
            <Button
              key={label}
              size="xs"
              variant="default"
              leftSection={<Icon name={icon} size={14} />}
              onClick={onClick}
              {...(danger && { c: 'red' })}
            >
              {label}
            </Button>
          ))}
        </Group>
        {apiKey.key_transition_expires_at && (
          <Alert color="blue" icon={<Icon name="rotate" />}>
            In transition: the old and the new secret are both valid until {exact(apiKey.key_transition_expires_at)}.
          </Alert>
        )}
        <Facts
          items={[
            ['Status', <Status key="status" value={apiKey.status} />],
            ['Kind', typeNames[apiKey.type]],
            ...optional('Description', apiKey.description),
            ...optional('Workspace', apiKey.workspace_slug),
            ...optional('Owner', owner),
            ['Secret', <Code key="secret">{apiKey.key}</Code>],
            ['Id', <Identifier key="id" value={apiKey.id} />],
            ['Created', <Moment key="created" at={apiKey.created_at} />],
            ['Ends', <Moment key="ends" at={apiKey.expires_at} never="Never" />],
            ['Last rotated', <Moment key="rotated" at={apiKey.last_rotated_at} never="Never" />],
            ['Rotation', rotationInWords(apiKey.rotation_policy)],
          ]}
        />
        <Stack gap="xs">
          <Text fw={600}>Limits</Text>
          <Limits budgets={apiKey.usage_limits ? [apiKey.usage_limits] : []} rates={apiKey.rate_limits} />
        </Stack>
        <Scopes apiKey={apiKey} />
      </Stack>
    </Drawer>
  );
}

const optional = (label: string, value: string | null): [string, ReactNode][] => (value ? [[label, value]] : []);

function rotationInWords(policy: RotationPolicy | null): string {
  if (!policy) return 'Only by hand';
  const rhythm =
    policy.rotation_period ?? (policy.rotation_period_days ? `every ${policy.rotation_period_days} days` : 'once');
  return policy.next_rotation_at ? `${rhythm}, next on ${exact(policy.next_rotation_at)}` : rhythm;
}

function Scopes({ apiKey }: { apiKey: ApiKey }) {
  const groups = new Map<string, string[]>();
  for (const scope of apiKey.scopes) {
    const resource = scope.slice(0, scope.indexOf('.'));
    groups.set(resource, [...(groups.get(resource) ?? []), actionOf(scope)]);
  }
  return (
    <Stack gap="xs">
      <Group gap="xs">
        <Text fw={600}>Scopes</Text>
        <Badge color="gray">{apiKey.scopes.length}</Badge>
      </Group>
      <Facts items={[...groups].map(([resource, actions]) => [resource, actions.join(', ')])} />
    </Stack>
  );
}
