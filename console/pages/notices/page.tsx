/** The notices of the organisation: what was mailed, or waits because no mail server is set. */
import { Text } from '@mantine/core';
import { useNotices } from '../../api/organisation.ts';
import type { NoticeRecord } from '../../api/types.ts';
import { usePageIndex, useSearchField } from '../../router/router.tsx';
import { Filters, SegmentFilter } from '../../ui/filters.tsx';
import { type Column, Listing, Named } from '../../ui/listing.tsx';
import { Moment } from '../../ui/moment.tsx';
import { Page } from '../../ui/page.tsx';
import { Empty } from '../../ui/states.tsx';

const statuses: { value: NoticeRecord['status']; label: string }[] = [
  { value: 'queued', label: 'Waiting' },
  { value: 'sent', label: 'Sent' },
  { value: 'failed', label: 'Failed' },
];

function titleOf(template: string): string {
  const words = template.replaceAll('-', ' ').replace('apikey', 'API key');
  return words.charAt(0).toUpperCase() + words.slice(1);
}

const fieldsOf = ({ fields }: NoticeRecord): string =>
  Object.entries(fields ?? {})
    .map(([name, value]) => `${name}: ${value}`)
    .join(' · ');

const columns: readonly Column<NoticeRecord>[] = [
  { header: 'Notice', cell: (notice) => <Named strong name={titleOf(notice.template)} detail={fieldsOf(notice)} /> },
  {
    header: 'To',
    width: '32%',
    cell: ({ recipients }) => (
      <Text size="sm" className="gw-clip" title={recipients.join(', ')}>
        {recipients.join(', ') || '–'}
      </Text>
    ),
  },
  { header: 'Made', from: 'sm', width: 140, cell: ({ created_at }) => <Moment at={created_at} /> },
  { header: 'Sent', from: 'md', width: 140, cell: ({ sent_at }) => <Moment at={sent_at} never="Not yet" /> },
];

export function NoticesPage() {
  const [wanted] = useSearchField('status');
  const [page] = usePageIndex();
  const status = statuses.find(({ value }) => value === wanted)?.value ?? 'queued';
  const query = useNotices({ status, page });
  return (
    <Page
      title="Notices"
      description="What the service has to tell people. Without a mail server, notices wait here; links and secrets in them are shown in part."
    >
      <Filters>
        <SegmentFilter name="status" label="Status" choices={statuses} />
      </Filters>
      <Listing
        label="Notices"
        columns={columns}
        rowKey={({ id }) => id}
        query={query}
        found={query.data && { rows: query.data.data, total: query.data.total }}
        empty={
          <Empty icon="notice" title="Nothing here">
            Invites, budgets, expiries and rotations leave notices.
          </Empty>
        }
      />
    </Page>
  );
}
