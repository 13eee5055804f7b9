/** The notices of the organisation: what was mailed, or waits because no mail server is set. */
import { Drawer, Text } from '@mantine/core';
import { useState } from 'react';
import { useNotices } from '../../api/organisation.ts';
import type { NoticeRecord } from '../../api/types.ts';
import { usePageIndex, useSearchField } from '../../router/router.tsx';
import { Filters, SegmentFilter } from '../../ui/filters.tsx';
import { type Column, Listing, Named, Opener } from '../../ui/listing.tsx';
import { exact, Moment } from '../../ui/moment.tsx';
import { Facts, Page } from '../../ui/page.tsx';
import { Empty } from '../../ui/states.tsx';
import { words } from '../../ui/words.ts';

const statuses: { value: NoticeRecord['status']; label: string }[] = [
  { value: 'queued', label: 'Waiting' },
  { value: 'sent', label: 'Sent' },
  { value: 'failed', label: 'Failed' },
];

/** In a line: what the notice is about, without the names of its fields. */
const gist = ({ fields }: NoticeRecord): string =>
  Object.values(fields ?? {})
    .filter((value) => value !== '')
    .join(' · ');

export function NoticesPage() {
  const [wanted] = useSearchField('status');
  const [page] = usePageIndex();
  const status = statuses.find(({ value }) => value === wanted)?.value ?? 'queued';
  const query = useNotices({ status, page });
  const [opened, setOpened] = useState<NoticeRecord | null>(null);
  const columns: readonly Column<NoticeRecord>[] = [
    {
      header: 'Notice',
      cell: (notice) => (
        <Named
          strong
          name={<Opener onClick={() => setOpened(notice)}>{words(notice.template)}</Opener>}
          detail={gist(notice)}
        />
      ),
    },
    {
      header: 'To',
      width: '32%',
      cell: ({ recipients }) => (
        <Text size="sm" className="gw-clip">
          {recipients.join(', ') || '–'}
        </Text>
      ),
    },
    { header: 'Made', from: 'sm', width: 140, cell: ({ created_at }) => <Moment at={created_at} /> },
    { header: 'Sent', from: 'md', width: 140, cell: ({ sent_at }) => <Moment at={sent_at} never="Not yet" /> },
  ];
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
        onOpen={(notice) => setOpened(notice)}
        empty={
          <Empty icon="notice" title="Nothing here">
            Invites, budgets, expiries and rotations leave notices.
          </Empty>
        }
      />
      {opened && <NoticeDetail notice={opened} onClose={() => setOpened(null)} />}
    </Page>
  );
}

function NoticeDetail({ notice, onClose }: { notice: NoticeRecord; onClose(): void }) {
  return (
    <Drawer opened onClose={onClose} position="right" size="lg" title={words(notice.template)}>
      <Facts
        items={[
          ['To', notice.recipients.join(', ') || '–'],
          ['Made', exact(notice.created_at)],
          ['Sent', notice.sent_at ? exact(notice.sent_at) : 'Not yet'],
          ...(notice.fields === null
            ? [['Content', 'Cannot be read: it was sealed under another master key.'] as const]
            : Object.entries(notice.fields).map(([name, value]) => [words(name), value || '–'] as const)),
        ]}
      />
    </Drawer>
  );
}
