/** What stands where content cannot: it is on its way, there is nothing yet, or something went wrong. */
import { Alert, Button, Code, Group, Skeleton, Stack, Text } from '@mantine/core';
import type { ReactNode } from 'react';
import { ApiFault } from '../api/client.ts';
import { Icon, type IconName } from './icons.tsx';

const titles: Record<number, string> = {
  0: 'No answer',
  400: 'This was not accepted',
  401: 'Please sign in again',
  403: 'Not allowed',
  404: 'Not found',
  409: 'This conflicts with something that exists',
  410: 'No longer valid',
  429: 'Too many attempts',
};

const titleOf = (error: unknown): string =>
  error instanceof ApiFault ? (titles[error.status] ?? 'Something went wrong') : 'Something went wrong';

/** A refusal stays one however often it is asked for; a missing answer, a fault of the service or too many calls may pass. */
const mayPass = (error: unknown): boolean =>
  !(error instanceof ApiFault) || error.status === 0 || error.status === 429 || error.status >= 500;

/** A fault in full, with the id to quote to whoever runs the service. */
export function Fault({ error, retry, title }: { error: unknown; retry?: () => void; title?: string }) {
  const requestId = error instanceof ApiFault ? error.requestId : null;
  const again = mayPass(error) ? retry : undefined;
  return (
    <Alert color="red" icon={<Icon name="alert" />} title={title ?? titleOf(error)} role="alert">
      <Stack gap="xs">
        <Text size="sm" style={{ overflowWrap: 'anywhere' }}>
          {error instanceof Error ? error.message : 'The console met something it does not understand.'}
        </Text>
        {(requestId || again) && (
          <Group gap="md" justify="space-between">
            {requestId && (
              <Text size="xs" c="dimmed">
                Request <Code>{requestId}</Code>
              </Text>
            )}
            {again && (
              <Button size="xs" variant="default" onClick={again}>
                Try again
              </Button>
            )}
          </Group>
        )}
      </Stack>
    </Alert>
  );
}

const lineWidths = ['62%', '84%', '47%', '73%', '55%', '68%'];

/** Content on its way: as many lines as it will have, more or less, and six at most. */
export const Lines = ({ count }: { count: number }) => (
  <Stack gap="lg" py={4} aria-hidden="true">
    {lineWidths.slice(0, count).map((width) => (
      <Skeleton key={width} h={12} w={width} />
    ))}
  </Stack>
);

interface EmptyProps {
  icon: IconName;
  title: string;
  children?: ReactNode;
  action?: ReactNode;
}

export function Empty({ icon, title, children, action }: EmptyProps) {
  return (
    <Stack align="center" gap="xs" py={48} px="md" ta="center">
      <Text c="dimmed" component="span" lh={0}>
        <Icon name={icon} size={28} />
      </Text>
      <Text fw={600}>{title}</Text>
      {children && (
        <Text size="sm" c="dimmed" maw={420}>
          {children}
        </Text>
      )}
      {action && <Group mt="xs">{action}</Group>}
    </Stack>
  );
}
