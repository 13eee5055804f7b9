/** The audit log: who did what, when, and how it ended. */
import { Group, Select, Stack, Text } from '@mantine/core';
import { useMemo, useState } from 'react';
import { auditActions, auditResources } from '../../../src/admin/kernel/audit/audit-vocabulary.ts';
import { useAuditRows } from '../../api/organisation.ts';
import type { AuditRow } from '../../api/types.ts';
import { setSearch, usePageIndex, useSearchField } from '../../router/router.tsx';
import { ChoiceFilter, Filters, SearchFilter } from '../../ui/filters.tsx';
import { type Column, Listing, Named, Opener } from '../../ui/listing.tsx';
import { Moment } from '../../ui/moment.tsx';
import { Page } from '../../ui/page.tsx';
import { Empty } from '../../ui/states.tsx';
import { AnswerStatus } from '../../ui/status.tsx';
import { words } from '../../ui/words.ts';
import { useActors } from './actors.ts';
import { AuditDetail } from './detail.tsx';

const hour = 3_600_000;
const spans = [
  { value: '24h', label: 'Last 24 hours', length: 24 * hour },
  { value: '7d', label: 'Last 7 days', length: 7 * 24 * hour },
  { value: '30d', label: 'Last 30 days', length: 30 * 24 * hour },
  { value: '365d', label: 'Last 365 days', length: 365 * 24 * hour },
];

const asChoice = (value: string) => ({ value, label: words(value) });
const resources = auditResources.map(asChoice);
const actions = auditActions.map(asChoice);
const methods = ['POST', 'PUT', 'DELETE'].map((value) => ({ value, label: value }));
const statuses = ['200', '400', '401', '403', '404', '409', '410', '429', '500', '503'].map((value) => ({
  value,
  label: value,
}));
const actorKinds = [
  { value: 'user', label: 'People' },
  { value: 'api_key', label: 'Keys' },
  { value: 'system', label: 'The service' },
];

export function AuditPage() {
  const [spanName] = useSearchField('span');
  const [resource] = useSearchField('resource');
  const [action] = useSearchField('action');
  const [uri] = useSearchField('uri');
  const [method] = useSearchField('method');
  const [user_type] = useSearchField('by');
  const [user_id] = useSearchField('who');
  const [workspace_id] = useSearchField('workspace');
  const [response_status_code] = useSearchField('status');
  const [client_ip] = useSearchField('ip');
  const [request_id] = useSearchField('request');
  const [page] = usePageIndex();
  const [opened, setOpened] = useState<AuditRow | null>(null);
  const span = spans.find(({ value }) => value === spanName) ?? spans[1];
  // The window is fixed when a filter is set: pages turned later belong to the same one.
  const range = useMemo(() => {
    const end = new Date(Math.ceil(Date.now() / 60_000) * 60_000);
    return { start_time: new Date(end.getTime() - (span?.length ?? hour)).toISOString(), end_time: end.toISOString() };
  }, [span]);
  const query = useAuditRows({
    ...range,
    resource_type: resource,
    action,
    method,
    uri,
    user_type,
    user_id,
    workspace_id,
    response_status_code,
    client_ip,
    request_id,
    page,
  });
  const actorName = useActors(query.data?.records ?? []);

  const columns: readonly Column<AuditRow>[] = [
    {
      header: 'What',
      cell: (row) => (
        <Named
          strong
          name={
            <Opener onClick={() => setOpened(row)}>
              {words(row.resource_type)} · {row.action}
            </Opener>
          }
          detail={`${row.method} ${row.uri}`.trim()}
        />
      ),
    },
    { header: 'Who', from: 'sm', width: '26%', cell: (row) => <Named {...actorName(row)} /> },
    {
      header: 'Answer',
      width: 84,
      cell: ({ response_status_code: code }) => <AnswerStatus code={code} />,
    },
    {
      header: 'From',
      from: 'md',
      width: 140,
      cell: ({ client_ip }) => (
        <Text size="sm" className="gw-clip">
          {client_ip || '–'}
        </Text>
      ),
    },
    { header: 'When', width: 132, cell: ({ timestamp }) => <Moment at={timestamp} /> },
  ];

  return (
    <Page title="Audit log" description="Every administrative action, refused ones too. Rows are only ever added.">
      <Stack gap="sm">
        <Filters>
          <SearchFilter name="uri" label="Part of the path" />
          <ChoiceFilter name="resource" label="Resource" all="All resources" choices={resources} />
          <ChoiceFilter name="action" label="Action" all="All actions" choices={actions} />
          <Group flex="1 1 150px" maw={{ sm: 220 }}>
            <Select
              aria-label="Time span"
              data={spans.map(({ value, label }) => ({ value, label }))}
              value={span?.value ?? ''}
              onChange={(next) => setSearch({ span: next === '7d' ? '' : (next ?? ''), page: '' })}
              flex={1}
            />
          </Group>
        </Filters>
        <Filters label="More filters">
          <ChoiceFilter name="method" label="Method" all="All methods" choices={methods} />
          <ChoiceFilter name="status" label="Answer" all="All answers" choices={statuses} />
          <ChoiceFilter name="by" label="Kind of actor" all="Anybody" choices={actorKinds} />
          <SearchFilter name="who" label="Id of the user or key" />
          <SearchFilter name="workspace" label="Id of the workspace" />
          <SearchFilter name="ip" label="Client address" />
          <SearchFilter name="request" label="Request id" />
        </Filters>
      </Stack>
      <Listing
        label="Audit log"
        columns={columns}
        rowKey={({ id }) => id}
        query={query}
        found={query.data && { rows: query.data.records, total: query.data.total }}
        onOpen={(row) => setOpened(row)}
        empty={
          <Empty icon="audit" title="Nothing happened">
            No action matches these filters in this span of time.
          </Empty>
        }
      />
      <AuditDetail row={opened} actor={opened && actorName(opened)} onClose={() => setOpened(null)} />
    </Page>
  );
}
