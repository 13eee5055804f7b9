/** The API keys that the signed-in person may see. */
import { Badge, Button, Group } from '@mantine/core';
import { useState } from 'react';
import { useApiKey, useApiKeys } from '../../api/api-keys.ts';
import { useUserChoices } from '../../api/people.ts';
import { useRights } from '../../api/session.ts';
import type { ApiKey, ApiKeyType, Scope } from '../../api/types.ts';
import { useWorkspaceChoices } from '../../api/workspaces.ts';
import { setSearch, usePageIndex, useSearchField } from '../../router/router.tsx';
import { fullName } from '../../shell/account-menu.tsx';
import { ChoiceFilter, Filters, SearchFilter } from '../../ui/filters.tsx';
import { Icon } from '../../ui/icons.tsx';
import { type Column, Listing, Named, Opener } from '../../ui/listing.tsx';
import { Moment } from '../../ui/moment.tsx';
import { Page } from '../../ui/page.tsx';
import { type RowAction, RowMenu } from '../../ui/row-menu.tsx';
import { Empty, Fault } from '../../ui/states.tsx';
import { Status } from '../../ui/status.tsx';
import { displayName } from '../workspaces/page.tsx';
import { CreateKey } from './create.tsx';
import { KeyDetail } from './detail.tsx';
import { SecretDialog, type ShownSecret } from './secret.tsx';
import { type KeyTask, KeyTasks } from './tasks.tsx';
import { scopeFamily, typeNames } from './types.ts';

const types = (Object.keys(typeNames) as ApiKeyType[]).map((value) => ({ value, label: `${typeNames[value]}s` }));

export function ApiKeysPage() {
  const rights = useRights();
  const can = rights.somewhere;
  const [wantedType] = useSearchField('type');
  const [search] = useSearchField('search');
  const [workspaceId] = useSearchField('workspace');
  const [openId] = useSearchField('key');
  const [isNew] = useSearchField('new');
  const [page] = usePageIndex();
  const type = types.find(({ value }) => value === wantedType)?.value ?? '';
  const query = useApiKeys({ type, search, workspaceId, page });
  const workspaces = useWorkspaceChoices();
  const people = useUserChoices(can('organisation_users.list'));
  const [secret, setSecret] = useState<ShownSecret | null>(null);
  const [task, setTask] = useState<KeyTask | null>(null);
  const names = new Map(workspaces.data?.data.map((workspace) => [workspace.id, displayName(workspace)]));
  const owners = new Map(people.data?.data.map((user) => [user.id, fullName(user)]));
  const mayCreate = Object.values(scopeFamily).some((family) => can(`${family}.create`));
  const listed = query.data?.data.find(({ id }) => id === openId);
  // A link may lead to a key that stands on another page of the list.
  const linked = useApiKey(openId, openId !== '' && query.isSuccess && !listed);
  const opened = listed ?? (openId === '' ? undefined : linked.data);

  const placeOf = (key: ApiKey): string =>
    key.workspace_id === null ? 'Whole organisation' : (names.get(key.workspace_id) ?? key.workspace_slug ?? '–');

  const actionsOf = (apiKey: ApiKey): RowAction[] => {
    const family = scopeFamily[apiKey.type];
    const { workspace_id: place } = apiKey;
    const may = (scope: Scope) => (place === null ? can(scope) : rights.in(place, scope));
    const start = (kind: KeyTask['kind']) => () => setTask({ kind, apiKey });
    // Only a secret that nobody has seen yet can be revealed, and only jobs make such.
    const unseen = apiKey.creation_mode === 'auto' || apiKey.rotation_policy !== null;
    return [
      ...(may(`${family}.update`) ? [{ label: 'Edit', icon: 'edit' as const, onClick: start('edit') }] : []),
      ...(may(`${family}.rotate`) ? [{ label: 'Rotate', icon: 'rotate' as const, onClick: start('rotate') }] : []),
      ...(unseen ? [{ label: 'Reveal', icon: 'eye' as const, onClick: start('reveal') }] : []),
      ...(may(`${family}.delete`)
        ? [{ label: 'Delete', icon: 'trash' as const, danger: true, onClick: start('delete') }]
        : []),
    ];
  };

  const open = ({ id }: ApiKey) => setSearch({ key: id });

  const columns: readonly Column<ApiKey>[] = [
    {
      header: 'Key',
      cell: (key) => (
        <Named
          strong
          name={<Opener onClick={() => open(key)}>{key.name}</Opener>}
          detail={`${typeNames[key.type]} · ${key.key}`}
        />
      ),
    },
    {
      header: 'Where',
      from: 'sm',
      width: '24%',
      cell: (key) => <Named name={placeOf(key)} detail={key.user_id ? (owners.get(key.user_id) ?? '') : ''} />,
    },
    {
      header: 'Status',
      width: 142,
      cell: (key) => (
        <Group gap={4}>
          <Status value={key.status} />
          {key.key_transition_expires_at && <Badge color="blue">In transition</Badge>}
        </Group>
      ),
    },
    { header: 'Ends', from: 'md', width: 124, cell: ({ expires_at }) => <Moment at={expires_at} never="Never" /> },
    { header: 'Created', from: 'md', width: 124, cell: ({ created_at }) => <Moment at={created_at} /> },
    {
      header: 'Actions',
      quiet: true,
      align: 'right',
      width: 60,
      cell: (key) => <RowMenu label={`Actions for ${key.name}`} items={actionsOf(key)} />,
    },
  ];

  return (
    <Page
      title="API keys"
      description="Keys let programs call the gateway and the administration API. Secrets are shown once and stored only as digests."
      actions={
        mayCreate && (
          <Button leftSection={<Icon name="plus" size={16} />} onClick={() => setSearch({ new: '1' })}>
            New key
          </Button>
        )
      }
    >
      <Filters>
        <SearchFilter name="search" label="Find by name" />
        <ChoiceFilter name="type" label="Kind" all="All kinds" choices={types} />
        <ChoiceFilter
          name="workspace"
          label="Workspace"
          all="All workspaces"
          choices={[...names].map(([value, label]) => ({ value, label }))}
        />
      </Filters>
      {openId !== '' && linked.error && <Fault error={linked.error} title="This key cannot be opened" />}
      <Listing
        label="API keys"
        columns={columns}
        rowKey={({ id }) => id}
        query={query}
        found={query.data && { rows: query.data.data, total: query.data.total }}
        onOpen={open}
        empty={
          <Empty icon="key" title={search || type || workspaceId ? 'No key matches' : 'No keys yet'}>
            {search || type || workspaceId
              ? 'Change the filters to see more keys.'
              : 'A workspace key is what a program needs to call models.'}
          </Empty>
        }
      />
      {opened && (
        <KeyDetail
          apiKey={opened}
          owner={opened.user_id ? (owners.get(opened.user_id) ?? null) : null}
          actions={actionsOf(opened)}
          onClose={() => setSearch({ key: '' })}
        />
      )}
      {isNew !== '' && mayCreate && (
        <CreateKey
          onClose={() => setSearch({ new: '' })}
          onCreated={(shown) => {
            setSearch({ new: '' });
            setSecret(shown);
          }}
        />
      )}
      {task && <KeyTasks task={task} onEnd={() => setTask(null)} onSecret={setSecret} />}
      {secret && <SecretDialog shown={secret} onClose={() => setSecret(null)} />}
    </Page>
  );
}
