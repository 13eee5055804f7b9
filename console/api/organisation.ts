/** The organisation, its settings, its audit trail and its notices. */
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import type { z } from 'zod';
import type { organisationSettingsUpdate } from '../../src/identity/settings.ts';
import { call } from './client.ts';
import { pageSize, useAction } from './query.ts';
import type { AuditRow, List, NoticeRecord, Organisation, OrganisationSettings, WorkspaceOverrides } from './types.ts';

export const useOrganisation = () =>
  useQuery({
    queryKey: ['organisation'],
    queryFn: ({ signal }) => call<Organisation>('GET', '/admin/organisation', { signal }),
  });

export const useSaveOrganisation = () =>
  useAction(
    (input: Partial<Pick<Organisation, 'name' | 'gateway_url' | 'mcp_gateway_url'>>) =>
      call<Organisation>('PUT', '/admin/organisation', { body: input }),
    ['organisation', 'organisations', 'self'],
  );

/** Secrets the service makes only once stand in the reply and nowhere else. */
export const useCreateOrganisation = () =>
  useAction(
    (input: { name: string }) =>
      call<{ id: string; api_key: { id: string; key: string } }>('POST', '/admin/organisations', { body: input }),
    ['organisations'],
  );

export const useSettings = () =>
  useQuery({
    queryKey: ['settings'],
    queryFn: ({ signal }) => call<OrganisationSettings>('GET', '/admin/organisation/settings', { signal }),
  });

export type SettingsInput = z.input<ReturnType<typeof organisationSettingsUpdate>>;

export const useSaveSettings = () =>
  useAction(
    (input: SettingsInput) => call<OrganisationSettings>('PUT', '/admin/organisation/settings', { body: input }),
    ['settings', 'workspace-settings', 'self'],
  );

export const useOverrides = () =>
  useQuery({
    queryKey: ['overrides'],
    queryFn: ({ signal }) => call<WorkspaceOverrides>('GET', '/admin/organisation/workspace-overrides', { signal }),
  });

export const useSaveOverrides = () =>
  useAction(
    (input: WorkspaceOverrides) =>
      call<WorkspaceOverrides>('PUT', '/admin/organisation/workspace-overrides', { body: input }),
    ['overrides', 'workspace-settings', 'settings'],
  );

interface AuditFilter {
  start_time: string;
  end_time: string;
  resource_type: string;
  action: string;
  method: string;
  uri: string;
  user_type: string;
  user_id: string;
  workspace_id: string;
  response_status_code: string;
  client_ip: string;
  request_id: string;
  page: number;
}

export const useAuditRows = ({ page, ...filter }: AuditFilter) =>
  useQuery({
    queryKey: ['audit', filter, page],
    queryFn: ({ signal }) =>
      call<{ records: AuditRow[]; total: number }>('GET', '/audit-logs', {
        query: { ...filter, current_page: page, page_size: pageSize },
        signal,
      }),
    placeholderData: keepPreviousData,
    staleTime: 0,
  });

export const useNotices = (filter: { status: NoticeRecord['status']; page: number }) =>
  useQuery({
    queryKey: ['notices', filter],
    queryFn: ({ signal }) =>
      call<List<NoticeRecord>>('GET', '/admin/notices', {
        query: { status: filter.status, current_page: filter.page, page_size: pageSize },
        signal,
      }),
    placeholderData: keepPreviousData,
  });
