/** Users of the organisation and the invites that bring them in. */
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import type { z } from 'zod';
import type { inviteBody, linkReplies } from '../../src/admin/invites/schema.ts';
import { call, segment } from './client.ts';
import { pageSize, useAction } from './query.ts';
import type { Invite, InviteStatus, List, User } from './types.ts';

export const useUsers = (filter: { role: string; search: string; page: number }) =>
  useQuery({
    queryKey: ['users', filter],
    queryFn: ({ signal }) =>
      call<List<User>>('GET', '/users', {
        query: { role: filter.role, search: filter.search, currentPage: filter.page, pageSize },
        signal,
      }),
    placeholderData: keepPreviousData,
  });

/** The people of the organisation, for pickers and for showing names. */
export const useUserChoices = (enabled = true) =>
  useQuery({
    queryKey: ['users', 'choices'],
    queryFn: ({ signal }) => call<List<User>>('GET', '/users', { query: { pageSize: 1000 }, signal }),
    enabled,
  });

export const useChangeUser = () =>
  useAction(
    (input: { id: string; role: 'admin' | 'member' }) =>
      call('PUT', `/users/${segment(input.id)}`, { body: { role: input.role } }),
    ['users', 'members'],
  );

export const useResetLink = () =>
  useAction(
    (input: { id: string }) => call<{ reset_link: string }>('POST', `/users/${segment(input.id)}/password-reset`),
    [],
  );

export const useRemoveUser = () =>
  useAction(
    (input: { id: string }) => call('DELETE', `/users/${segment(input.id)}`),
    ['users', 'members', 'invites', 'api-keys'],
  );

export const useInvites = (filter: { status: InviteStatus | ''; page: number }) =>
  useQuery({
    queryKey: ['invites', filter],
    queryFn: ({ signal }) =>
      call<List<Invite>>('GET', '/users/invites', {
        query: { status: filter.status, currentPage: filter.page, pageSize },
        signal,
      }),
    placeholderData: keepPreviousData,
  });

type InviteLink = z.output<ReturnType<typeof linkReplies.resend>>;

export const useCreateInvite = () =>
  useAction(
    (input: z.input<ReturnType<typeof inviteBody>>) =>
      call<Pick<InviteLink, 'invite_link'>>('POST', '/users/invites', { body: input }),
    ['invites'],
  );

export const useResendInvite = () =>
  useAction(
    (input: { id: string }) => call<InviteLink>('POST', `/users/invites/${segment(input.id)}/resend`, { body: {} }),
    ['invites'],
  );

export const useCancelInvite = () =>
  useAction((input: { id: string }) => call('DELETE', `/users/invites/${segment(input.id)}`), ['invites']);
