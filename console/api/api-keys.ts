/** API keys: reading them, and everything that makes, changes or ends one. */
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import type { z } from 'zod';
import type { keyUpdateBody, newUserKeyBody } from '../../src/admin/api-keys/schema.ts';
import { call, segment } from './client.ts';
import { pageSize, useAction } from './query.ts';
import type { ApiKey, ApiKeyType, CreatedKey, List, RotatedKey } from './types.ts';

interface KeyFilter {
  type: ApiKeyType | '';
  search: string;
  workspaceId: string;
  page: number;
}

export const useApiKeys = (filter: KeyFilter) =>
  useQuery({
    queryKey: ['api-keys', filter],
    queryFn: ({ signal }) =>
      call<List<ApiKey>>('GET', '/api-keys', {
        query: {
          type: filter.type,
          search: filter.search,
          workspace_id: filter.workspaceId,
          current_page: filter.page,
          page_size: pageSize,
        },
        signal,
      }),
    placeholderData: keepPreviousData,
  });

/** Names by id, of deleted keys too. */
export function useKeyNames(ids: readonly string[]) {
  const wanted = [...new Set(ids)].sort();
  return useQuery({
    queryKey: ['api-keys', 'names', wanted],
    queryFn: ({ signal }) =>
      call<List<Pick<ApiKey, 'id' | 'name'>>>('GET', '/api-keys', { query: { ids: wanted.join(',') }, signal }),
    enabled: wanted.length > 0,
    placeholderData: keepPreviousData,
  });
}

export const useApiKey = (id: string, enabled: boolean) =>
  useQuery({
    queryKey: ['api-keys', id],
    queryFn: ({ signal }) => call<ApiKey>('GET', `/api-keys/${segment(id)}`, { signal }),
    enabled,
  });

export type KeyInput = z.input<ReturnType<typeof keyUpdateBody>>;

/** Keys of every type; the others have no use for a part of what a user key takes. */
type NewKey = z.input<ReturnType<typeof newUserKeyBody>> & { type: ApiKeyType };

const createPaths: Record<ApiKeyType, string> = {
  'organisation-service': '/api-keys/organisation/service',
  'workspace-service': '/api-keys/workspace/service',
  'workspace-user': '/api-keys/workspace/user',
};

export const useCreateKey = () =>
  useAction(({ type, ...body }: NewKey) => call<CreatedKey>('POST', createPaths[type], { body }), ['api-keys']);

export const useUpdateKey = (id: string) =>
  useAction((input: KeyInput) => call<ApiKey>('PUT', `/api-keys/${segment(id)}`, { body: input }), ['api-keys']);

export const useRotateKey = (id: string) =>
  useAction(
    (input: { key_transition_period_ms: number }) =>
      call<RotatedKey>('POST', `/api-keys/${segment(id)}/rotate`, { body: input }),
    ['api-keys'],
  );

export const useRevealKey = (id: string) =>
  useAction((_: null) => call<CreatedKey>('POST', `/api-keys/${segment(id)}/reveal`, { body: {} }), ['api-keys']);

export const useDeleteKey = (id: string) =>
  useAction((_: null) => call('DELETE', `/api-keys/${segment(id)}`), ['api-keys']);
