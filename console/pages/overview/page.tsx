/** Where a visit starts: the organisation at a glance, and what to do next. */
import { Anchor, Box, Button, Group, Paper, SimpleGrid, Skeleton, Stack, Text } from '@mantine/core';
import type { ReactNode } from 'react';
import { useApiKeys } from '../../api/api-keys.ts';
import { useOrganisation, useSettings } from '../../api/organisation.ts';
import { useUsers } from '../../api/people.ts';
import { useCan, useSelf } from '../../api/session.ts';
import { useWorkspaces } from '../../api/workspaces.ts';
import { Link } from '../../router/router.tsx';
import { Icon, type IconName } from '../../ui/icons.tsx';
import { Page, Section, SectionSkeleton } from '../../ui/page.tsx';
import { Empty } from '../../ui/states.tsx';
import { Status } from '../../ui/status.tsx';
import { NextSteps } from './next-steps.tsx';

export function OverviewPage() {
  const self = useSelf();
  const can = useCan();
  const organisation = useOrganisation();
  const runs = self.organisation.role !== 'member';
  return (
    <Page
      title="Overview"
      heading={self.organisation.name}
      description={`Signed in as ${self.user.email}, ${self.organisation.role} of this organisation.`}
    >
      <SimpleGrid cols={3} spacing={{ base: 'xs', sm: 'md' }}>
        <WorkspaceCount />
        {can('workspace_user_api_keys.list') && <KeyCount />}
        {can('organisation_users.list') && <UserCount />}
      </SimpleGrid>
      {runs ? <HintsUnlessHidden gatewayUrl={organisation.data?.gateway_url} /> : <NextSteps gatewayUrl={null} />}
      <Section
        title={runs ? 'Workspaces' : 'Your workspaces'}
        actions={
          <Button component={Link} href="/workspaces" variant="subtle" size="xs">
            See all
          </Button>
        }
      >
        {self.workspaces.length === 0 ? (
          <Empty icon="workspace" title="No workspace yet">
            Ask an admin of the organisation to add you to one.
          </Empty>
        ) : (
          <Stack gap={0}>
            {self.workspaces.slice(0, 6).map(({ id, slug, name, icon, role }) => (
              <Group key={id} justify="space-between" wrap="nowrap" py={8} className="gw-line">
                <Anchor component={Link} href={`/workspaces/${encodeURIComponent(slug)}`} size="sm" className="gw-clip">
                  {icon ? `${icon} ${name}` : name}
                </Anchor>
                <Status value={role} />
              </Group>
            ))}
          </Stack>
        )}
      </Section>
    </Page>
  );
}

function HintsUnlessHidden({ gatewayUrl }: { gatewayUrl: string | null | undefined }) {
  const settings = useSettings();
  if (settings.isPending) return <SectionSkeleton lines={6} />;
  return settings.data?.disable_getting_started ? null : <NextSteps gatewayUrl={gatewayUrl ?? null} />;
}

function WorkspaceCount() {
  const query = useWorkspaces({ status: 'active', page: 0 });
  return <Count icon="workspace" label="Workspaces" href="/workspaces" query={query} />;
}

function KeyCount() {
  const query = useApiKeys({ type: '', search: '', workspaceId: '', page: 0 });
  return <Count icon="key" label="API keys" href="/api-keys" query={query} />;
}

function UserCount() {
  const query = useUsers({ role: '', search: '', page: 0 });
  return <Count icon="users" label="Users" href="/users" query={query} />;
}

function Count(props: {
  icon: IconName;
  label: string;
  href: string;
  query: { data: { total: number } | undefined; isPending: boolean };
}): ReactNode {
  const { icon, label, href, query } = props;
  return (
    <Paper component={Link} href={href} p="md" className="gw-count">
      <Group gap="sm" wrap="nowrap">
        <Box c="lagoon" lh={0} visibleFrom="xs">
          <Icon name={icon} size={22} />
        </Box>
        <Box>
          <Text size="xl" fw={620} lh="28px" h={28} className="gw-numbers">
            {query.isPending ? <Skeleton h={20} w={32} mt={4} /> : (query.data?.total.toLocaleString('en') ?? '–')}
          </Text>
          <Text size="sm" c="dimmed">
            {label}
          </Text>
        </Box>
      </Group>
    </Paper>
  );
}
