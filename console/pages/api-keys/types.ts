/** The kinds of keys in words. */
import type { ApiKeyType } from '../../api/types.ts';

export const typeNames: Record<ApiKeyType, string> = {
  'organisation-service': 'Admin key',
  'workspace-service': 'Workspace key',
  'workspace-user': 'User key',
};

/** The first part of the scopes that rule keys of each kind. */
export const scopeFamily = {
  'organisation-service': 'organisation_service_api_keys',
  'workspace-service': 'workspace_service_api_keys',
  'workspace-user': 'workspace_user_api_keys',
} as const;
