/** The workspaces of the organisation. */
import { Anchor, Badge, Button, Group } from '@mantine/core';
import { useState } from 'react';
import { useCan, useSelf } from '../../api/session.ts';
import type { Workspace } from '../../api/types.ts';
import { useWorkspaces, type WorkspaceStatus } from '../../api/workspaces.ts';
import { Link, navigate, usePageIndex, useSearchField } from '../../router/router.tsx';
import { Filters, SearchFilter, SegmentFilter } from '../../ui/filters.tsx';
import { Icon } from '../../ui/icons.tsx';
import { amount } from '../../ui/limits/usage-limit.ts';
import { type Column, Listing, Named } from '../../ui/listing.tsx';
import { Moment } from '../../ui/moment.tsx';
import { useTell } from '../../ui/notice.tsx';
import { Page } from '../../ui/page.tsx';
import { Empty } from '../../ui/states.tsx';
import { Status } from '../../ui/status.tsx';
import { CreateWorkspace } from './create.tsx';

const address = (workspace: Workspace): string => `/workspaces/${encodeURIComponent(workspace.slug)}`;

/** The name as people know it: its icon first. */
export const displayName = ({ icon, name }: Pick<Workspace, 'icon' | 'name'>): string =>
  icon ? `${icon} ${name}` : name;

const columns: readonly Column<Workspace>[] = [
  {
    header: 'Workspace',
    cell: (workspace) => (
      <Named
        strong
        name={
          <Group gap="xs" wrap="nowrap">
            <Anchor component={Link} href={address(workspace)} inherit className="gw-clip">
              {displayName(workspace)}
            </Anchor>
            {workspace.is_default === 1 && (
              <Badge color="gray" style={{ flexShrink: 0 }}>
                Default
              </Badge>
            )}
          </Group>
        }
        detail={workspace.description || workspace.slug}
      />
    ),
  },
  { header: 'Budget', from: 'sm', width: '22%', cell: (workspace) => budgetOf(workspace) },
  { header: 'Status', width: 110, cell: ({ status }) => <Status value={status} /> },
  { header: 'Created', from: 'md', width: 140, cell: ({ created_at }) => <Moment at={created_at} /> },
];

function budgetOf({ usage_limits: [first] }: Workspace) {
  if (!first) return <Moment at={null} never="No limit" />;
  return (
    <Named name={amount(first.type, first.credit_limit)} detail={`${amount(first.type, first.current_usage)} used`} />
  );
}

export function WorkspacesPage() {
  const can = useCan();
  const tell = useTell();
  const { organisation } = useSelf();
  const [creating, setCreating] = useState(false);
  const [status] = useSearchField('status');
  const [name] = useSearchField('name');
  const [page] = usePageIndex();
  const shown: WorkspaceStatus = status === 'archived' ? 'archived' : 'active';
  const query = useWorkspaces({ status: shown, name, page });
  const create = can('workspaces.create') && (
    <Button leftSection={<Icon name="plus" size={16} />} onClick={() => setCreating(true)}>
      New workspace
    </Button>
  );
  return (
    <Page
      title="Workspaces"
      description="A workspace holds the keys, members and limits of one team or project."
      actions={create}
    >
      <Filters>
        <SearchFilter name="name" label="Find by name" />
        {organisation.role !== 'member' && (
          <SegmentFilter
            name="status"
            label="Status"
            choices={[
              { value: 'active', label: 'Active' },
              { value: 'archived', label: 'Archived' },
            ]}
          />
        )}
      </Filters>
      <Listing
        label="Workspaces"
        columns={columns}
        rowKey={({ id }) => id}
        query={query}
        found={query.data && { rows: query.data.data, total: query.data.total }}
        onOpen={(workspace) => navigate(address(workspace))}
        empty={
          <Empty icon="workspace" title={name ? 'No workspace has this name' : `No ${shown} workspaces`}>
            {shown === 'archived'
              ? 'Workspaces that were archived stay readable here.'
              : 'Names are matched with upper and lower case as written.'}
          </Empty>
        }
      />
      {creating && (
        <CreateWorkspace
          onClose={() => setCreating(false)}
          onCreated={(workspace) => {
            setCreating(false);
            navigate(address(workspace));
            tell(`The workspace ${displayName(workspace)} is ready.`);
          }}
        />
      )}
    </Page>
  );
}
