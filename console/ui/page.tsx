/** The frame of every page: its title, what it is for, its main action, and sections below. */
import { Box, Group, Paper, Skeleton, Stack, Text, Title } from '@mantine/core';
import { type ReactNode, useEffect } from 'react';
import { Notice } from './notice.tsx';
import { Lines } from './states.tsx';

export function Page(props: {
  title: string;
  /** What the browser's tab says, where the title itself is not a plain text. */
  heading?: ReactNode;
  description?: ReactNode;
  actions?: ReactNode;
  children: ReactNode;
}) {
  const { title, heading, description, actions, children } = props;
  useEffect(() => {
    document.title = `${title} · gw`;
  }, [title]);
  return (
    <Box className="gw-page">
      <Group justify="space-between" align="flex-start" gap="md" mb="lg" wrap="wrap">
        <Box flex="1 1 300px" miw={0}>
          <Title order={1} tabIndex={-1} id="page-title">
            {heading ?? title}
          </Title>
          {description && (
            <Text size="sm" c="dimmed" mt={4} maw={640}>
              {description}
            </Text>
          )}
        </Box>
        {actions && <Group gap="xs">{actions}</Group>}
      </Group>
      <Notice />
      <Stack gap="lg">{children}</Stack>
    </Box>
  );
}

export function Section(props: { title: string; description?: ReactNode; actions?: ReactNode; children: ReactNode }) {
  const { title, description, actions, children } = props;
  return (
    <Paper component="section" p={{ base: 'md', sm: 'lg' }} aria-label={title}>
      <Group justify="space-between" align="flex-start" gap="sm" mb="md">
        <Box flex="1 1 180px" miw={0}>
          <Title order={2}>{title}</Title>
          {description && (
            <Text size="sm" c="dimmed" mt={2} maw={620}>
              {description}
            </Text>
          )}
        </Box>
        {actions}
      </Group>
      {children}
    </Paper>
  );
}

/** A section on its way. */
export const SectionSkeleton = ({ lines }: { lines: number }) => (
  <Paper p={{ base: 'md', sm: 'lg' }} aria-busy="true">
    <Skeleton h={18} w={150} mt={4} mb="lg" />
    <Lines count={lines} />
  </Paper>
);

/** Facts of one record: labels on the left, values on the right; one above the other on narrow screens. */
export function Facts({ items }: { items: readonly (readonly [label: string, value: ReactNode])[] }) {
  return (
    <dl className="gw-facts">
      {items.map(([label, value]) => (
        <div key={label}>
          <dt>{label}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  );
}
