/** One workspace: its details, its members and its settings. */
import { Anchor, Button, Group, Skeleton, Stack, Tabs } from '@mantine/core';
import { useState } from 'react';
import { useCanIn, useSelf } from '../../api/session.ts';
import type { Workspace } from '../../api/types.ts';
import { useWorkspace } from '../../api/workspaces.ts';
import { Link, navigate } from '../../router/router.tsx';
import { Icon } from '../../ui/icons.tsx';
import { useTell } from '../../ui/notice.tsx';
import { Page, SectionSkeleton } from '../../ui/page.tsx';
import { Fault } from '../../ui/states.tsx';
import { Status } from '../../ui/status.tsx';
import { displayName } from '../workspaces/page.tsx';
import { ArchiveWorkspace } from './archive.tsx';
import { Details } from './details.tsx';
import { EditWorkspace } from './edit.tsx';
import { Members } from './members.tsx';
import { WorkspaceSettings } from './settings.tsx';

const back = (
  <Anchor component={Link} href="/workspaces" size="sm">
    <Group gap={4} component="span">
      <Icon name="back" size={15} /> Workspaces
    </Group>
  </Anchor>
);

export function WorkspacePage({ id, tab }: { id: string; tab: string }) {
  const query = useWorkspace(id);
  if (query.error) {
    return (
      <Page title="Workspace" description={back}>
        <Fault error={query.error} retry={() => void query.refetch()} />
      </Page>
    );
  }
  if (!query.data) {
    return (
      <Page title="Workspace" heading={<Skeleton h={24} w={220} my={3} />} description={back}>
        <SectionSkeleton lines={5} />
      </Page>
    );
  }
  return <Loaded key={query.data.id} workspace={query.data} slug={id} tab={tab} />;
}

function Loaded({ workspace, slug, tab }: { workspace: Workspace; slug: string; tab: string }) {
  const can = useCanIn(workspace.id);
  const tell = useTell();
  const self = useSelf();
  const [dialog, setDialog] = useState<'edit' | 'archive' | null>(null);
  const active = workspace.status === 'active';
  const role = self.workspaces.find(({ id }) => id === workspace.id)?.role;
  const seesSettings = active && (self.organisation.role !== 'member' || role === 'admin' || role === 'manager');
  const mayEdit = active && can('workspaces.update');
  const mayArchive = active && workspace.is_default !== 1 && can('workspaces.delete');
  const base = `/workspaces/${encodeURIComponent(slug)}`;
  const tabs = ['details', 'members', ...(seesSettings ? ['settings'] : [])];
  const shown = tabs.includes(tab) ? tab : 'details';
  const name = displayName(workspace);
  return (
    <Page
      title={name}
      heading={
        <Group gap="sm" component="span">
          {name}
          {!active && <Status value="archived" />}
        </Group>
      }
      description={back}
      actions={
        <>
          {mayArchive && (
            <Button
              variant="default"
              leftSection={<Icon name="archive" size={16} />}
              onClick={() => setDialog('archive')}
            >
              Archive
            </Button>
          )}
          {mayEdit && (
            <Button variant="default" leftSection={<Icon name="edit" size={16} />} onClick={() => setDialog('edit')}>
              Edit
            </Button>
          )}
        </>
      }
    >
      <Tabs value={shown} onChange={(next) => next && navigate(next === 'details' ? base : `${base}/${next}`)}>
        <Tabs.List mb="lg">
          <Tabs.Tab value="details">Details</Tabs.Tab>
          <Tabs.Tab value="members">Members</Tabs.Tab>
          {seesSettings && <Tabs.Tab value="settings">Settings</Tabs.Tab>}
        </Tabs.List>
        <Stack gap="lg">
          {shown === 'details' && <Details workspace={workspace} />}
          {shown === 'members' && <Members workspace={workspace} can={can} />}
          {shown === 'settings' && <WorkspaceSettings workspace={workspace} />}
        </Stack>
      </Tabs>
      {dialog === 'edit' && (
        <EditWorkspace
          workspace={workspace}
          onClose={() => setDialog(null)}
          onSaved={() => {
            setDialog(null);
            tell('The workspace was saved.');
          }}
        />
      )}
      {dialog === 'archive' && (
        <ArchiveWorkspace
          workspace={workspace}
          onClose={() => setDialog(null)}
          onArchived={() => {
            setDialog(null);
            navigate('/workspaces');
            tell(`The workspace ${name} was archived.`);
          }}
        />
      )}
    </Page>
  );
}
