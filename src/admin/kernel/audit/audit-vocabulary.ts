/** The words of the audit trail: what was done, and to what kind of thing. */

export const auditActions = [
  'create',
  'update',
  'delete',
  'publish',
  'export',
  'rotate',
  'manage',
  'duplicate',
  'login',
  'expire',
  'alert',
  'invoke',
] as const;
export type AuditAction = (typeof auditActions)[number];

export const auditResources = [
  'log_export',
  'organisation',
  'workspace',
  'workspace_user',
  'user',
  'invite',
  'api_key',
  'jwt',
  'integration',
  'provider',
  'virtual_key',
  'config',
  'batch',
  'guardrail',
  'plugin',
  'policy',
  'webhook',
  'mcp_integration',
  'mcp_server',
  'agent_integration',
  'agent_server',
  'prompt',
  'prompt_partial',
  'collection',
  'label',
  'scim_group',
  'scim_workspace',
  'secret_reference',
] as const;
export type AuditResource = (typeof auditResources)[number];
