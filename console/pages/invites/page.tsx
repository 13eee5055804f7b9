/** Invites to the organisation: who was asked, and whether they came. */
import { Button } from '@mantine/core';
import { useState } from 'react';
import { useCancelInvite, useInvites, useResendInvite } from '../../api/people.ts';
import { useCan } from '../../api/session.ts';
import type { Invite, InviteStatus } from '../../api/types.ts';
import { setSearch, usePageIndex, useSearchField } from '../../router/router.tsx';
import { Confirm } from '../../ui/dialogs.tsx';
import { ChoiceFilter, Filters } from '../../ui/filters.tsx';
import { Icon } from '../../ui/icons.tsx';
import { type Column, Listing, Named } from '../../ui/listing.tsx';
import { Moment } from '../../ui/moment.tsx';
import { useTell } from '../../ui/notice.tsx';
import { Page } from '../../ui/page.tsx';
import { type RowAction, RowMenu } from '../../ui/row-menu.tsx';
import { Empty, Fault } from '../../ui/states.tsx';
import { Status } from '../../ui/status.tsx';
import { CreateInvite } from './create.tsx';
import { InviteLinkDialog } from './link.tsx';

const statuses: { value: InviteStatus; label: string }[] = [
  { value: 'pending', label: 'Pending' },
  { value: 'accepted', label: 'Accepted' },
  { value: 'expired', label: 'Expired' },
  { value: 'cancelled', label: 'Cancelled' },
];

export function InvitesPage() {
  const can = useCan();
  const tell = useTell();
  const [wanted] = useSearchField('status');
  const [isNew] = useSearchField('new');
  const [page] = usePageIndex();
  const status = statuses.find(({ value }) => value === wanted)?.value ?? '';
  const query = useInvites({ status, page });
  const resend = useResendInvite();
  const cancel = useCancelInvite();
  const [link, setLink] = useState<{ email: string; link: string } | null>(null);
  const [cancelling, setCancelling] = useState<Invite | null>(null);
  const mayInvite = can('organisation_users.create');

  const send = (invite: Invite) =>
    resend.mutate(
      { id: invite.id },
      { onSuccess: ({ invite_link }) => setLink({ email: invite.email, link: invite_link }) },
    );

  const actionsOf = (invite: Invite): RowAction[] => [
    ...(mayInvite && (invite.status === 'pending' || invite.status === 'expired')
      ? [{ label: 'Send again', icon: 'rotate' as const, onClick: () => send(invite) }]
      : []),
    ...(can('organisation_users.delete') && invite.status === 'pending'
      ? [{ label: 'Cancel', icon: 'trash' as const, danger: true, onClick: () => setCancelling(invite) }]
      : []),
  ];

  const columns: readonly Column<Invite>[] = [
    {
      header: 'Address',
      cell: ({ email, workspaces }) => (
        <Named
          strong
          name={email}
          detail={
            workspaces.length === 0
              ? 'No workspaces'
              : `${workspaces.length} ${workspaces.length === 1 ? 'workspace' : 'workspaces'}`
          }
        />
      ),
    },
    { header: 'Role', from: 'sm', width: 110, cell: ({ role }) => <Status value={role} /> },
    { header: 'Status', width: 128, cell: (invite) => <Status value={invite.status} /> },
    { header: 'Sent', from: 'md', width: 140, cell: ({ created_at }) => <Moment at={created_at} /> },
    {
      header: 'Ends',
      from: 'sm',
      width: 140,
      cell: ({ status: state, expires_at }) => (
        <Moment at={state === 'pending' || state === 'expired' ? expires_at : null} />
      ),
    },
    {
      header: 'Actions',
      quiet: true,
      align: 'right',
      width: 60,
      cell: (invite) => <RowMenu label={`Actions for ${invite.email}`} items={actionsOf(invite)} />,
    },
  ];

  return (
    <Page
      title="Invites"
      description="An invite is good for two days. Its link can be copied when it is made or sent again, and never later."
      actions={
        mayInvite && (
          <Button leftSection={<Icon name="plus" size={16} />} onClick={() => setSearch({ new: '1' })}>
            New invite
          </Button>
        )
      }
    >
      <Filters>
        <ChoiceFilter name="status" label="Status" all="All invites" choices={statuses} />
      </Filters>
      {resend.error && <Fault error={resend.error} title="The invite was not sent again" />}
      <Listing
        label="Invites"
        columns={columns}
        rowKey={({ id }) => id}
        query={query}
        found={query.data && { rows: query.data.data, total: query.data.total }}
        empty={
          <Empty icon="invite" title={status ? `No ${status} invites` : 'No invites yet'}>
            Invite people by their e-mail address; they choose their own password.
          </Empty>
        }
      />
      {isNew !== '' && mayInvite && (
        <CreateInvite
          onClose={() => setSearch({ new: '' })}
          onCreated={(email, created) => {
            setSearch({ new: '' });
            setLink({ email, link: created });
          }}
        />
      )}
      {link && <InviteLinkDialog {...link} onClose={() => setLink(null)} />}
      {cancelling && (
        <Confirm
          title="Cancel this invite?"
          action="Cancel the invite"
          onClose={() => setCancelling(null)}
          run={async () => {
            await cancel.mutateAsync({ id: cancelling.id });
            setCancelling(null);
            tell(`The invite of ${cancelling.email} was cancelled.`);
          }}
        >
          The link that was sent to {cancelling.email} stops working.
        </Confirm>
      )}
    </Page>
  );
}
