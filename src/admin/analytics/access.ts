/** Who may see analytics. */
export const viewing = {
  callers: ['admin-key', 'workspace-key', 'user-key', 'session'],
  scope: 'analytics.view',
  level: 'workspace',
} as const;
