/** Workspaces, their members and their settings. */
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import type { z } from 'zod';
import type { newWorkspace, workspaceUpdate } from '../../src/admin/workspaces/schema.ts';
import type { SourcedSettings } from '../../src/admin/workspaces/settings.ts';
import type { workspaceSettingsUpdate } from '../../src/identity/settings.ts';
import { call, segment } from './client.ts';
import { pageSize, useAction } from './query.ts';
import type { List, Member, UsageLimit, Workspace, WorkspaceRole } from './types.ts';

export type WorkspaceStatus = Workspace['status'];

export const useWorkspaces = (filter: { status: WorkspaceStatus; name?: string; page: number }) =>
  useQuery({
    queryKey: ['workspaces', filter],
    queryFn: ({ signal }) =>
      call<List<Workspace>>('GET', '/workspaces', {
        query: {
          status: filter.status,
          name: filter.name,
          current_page: filter.page,
          page_size: pageSize,
          name_format: 'plain',
        },
        signal,
      }),
    placeholderData: keepPreviousData,
  });

/** Every active workspace that the caller sees, for pickers and for showing names. */
export const useWorkspaceChoices = (enabled = true) =>
  useQuery({
    queryKey: ['workspaces', 'choices'],
    queryFn: ({ signal }) =>
      call<List<Workspace>>('GET', '/workspaces', { query: { page_size: 1000, name_format: 'plain' }, signal }),
    enabled,
  });

export const useWorkspace = (id: string) =>
  useQuery({
    queryKey: ['workspaces', id],
    queryFn: ({ signal }) =>
      call<Workspace>('GET', `/workspaces/${segment(id)}`, { query: { name_format: 'plain' }, signal }),
  });

export type UsageLimitDraft = Pick<
  UsageLimit,
  'type' | 'credit_limit' | 'alert_threshold' | 'periodic_reset' | 'periodic_reset_days'
>;

export const useCreateWorkspace = () =>
  useAction(
    (input: z.input<ReturnType<typeof newWorkspace>>) => call<Workspace>('POST', '/workspaces', { body: input }),
    ['workspaces', 'self'],
  );

export const useUpdateWorkspace = (id: string) =>
  useAction(
    (input: z.input<ReturnType<typeof workspaceUpdate>>) =>
      call<Workspace>('PUT', `/workspaces/${segment(id)}`, { body: input }),
    ['workspaces', 'self'],
  );

export const useArchiveWorkspace = (id: string) =>
  useAction(
    (input: { name: string; force_delete: boolean }) => call('DELETE', `/workspaces/${segment(id)}`, { body: input }),
    ['workspaces', 'api-keys', 'self'],
  );

export const useMembers = (workspaceId: string, filter: { search: string; page: number }) =>
  useQuery({
    queryKey: ['members', workspaceId, filter],
    queryFn: ({ signal }) =>
      call<List<Member>>('GET', `/workspaces/${segment(workspaceId)}/users`, {
        query: { search: filter.search, current_page: filter.page, page_size: pageSize },
        signal,
      }),
    placeholderData: keepPreviousData,
  });

/** The members of a workspace, for pickers. */
export const useMemberChoices = (workspaceId: string) =>
  useQuery({
    queryKey: ['members', workspaceId, 'choices'],
    queryFn: ({ signal }) =>
      call<List<Member>>('GET', `/workspaces/${segment(workspaceId)}/users`, { query: { page_size: 500 }, signal }),
    enabled: workspaceId !== '',
  });

export const useAddMembers = (workspaceId: string) =>
  useAction(
    (input: { users: { id: string; role: WorkspaceRole }[] }) =>
      call('POST', `/workspaces/${segment(workspaceId)}/users`, { body: input }),
    ['members'],
  );

export const useChangeMember = (workspaceId: string) =>
  useAction(
    (input: { id: string; role: WorkspaceRole }) =>
      call('PUT', `/workspaces/${segment(workspaceId)}/users/${segment(input.id)}`, { body: { role: input.role } }),
    ['members'],
  );

export const useRemoveMember = (workspaceId: string) =>
  useAction(
    (input: { id: string }) => call('DELETE', `/workspaces/${segment(workspaceId)}/users/${segment(input.id)}`),
    ['members', 'api-keys'],
  );

export const useWorkspaceSettings = (workspaceId: string) =>
  useQuery({
    queryKey: ['workspace-settings', workspaceId],
    queryFn: ({ signal }) => call<SourcedSettings>('GET', `/workspaces/${segment(workspaceId)}/settings`, { signal }),
  });

export const useSaveWorkspaceSettings = (workspaceId: string) =>
  useAction(
    (input: z.input<ReturnType<typeof workspaceSettingsUpdate>>) =>
      call('PUT', `/workspaces/${segment(workspaceId)}/settings`, { body: input }),
    ['workspace-settings', 'self'],
  );
