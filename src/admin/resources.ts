/** The list of resources: one line each. */
import { agentIntegrationsResource } from './agent-integrations/routes.ts';
import { agentServersResource } from './agent-servers/routes.ts';
import { analyticsResource } from './analytics/routes.ts';
import { apiKeysResource } from './api-keys/routes.ts';
import { auditLogResource } from './audit-logs/routes.ts';
import { authResource } from './auth/routes.ts';
import { batchesResource } from './batches/routes.ts';
import { cacheResource } from './cache/routes.ts';
import { collectionsResource } from './collections/routes.ts';
import { configsResource } from './configs/routes.ts';
import { emailDomainsResource } from './email-domains/routes.ts';
import { feedbackResource } from './feedback/routes.ts';
import { guardrailsResource } from './guardrails/routes.ts';
import { healthResource } from './health/routes.ts';
import { integrationsResource } from './integrations/routes.ts';
import { internalResource } from './internal/routes.ts';
import { invitesResource } from './invites/routes.ts';
import type { Resource } from './kernel/endpoint.ts';
import { labelsResource } from './labels/routes.ts';
import { limitUsageResource } from './limit-usage/routes.ts';
import { logExportsResource } from './log-exports/routes.ts';
import { logsResource } from './logs/routes.ts';
import { mcpIntegrationsResource } from './mcp-integrations/routes.ts';
import { mcpServersResource } from './mcp-servers/routes.ts';
import { membersResource } from './members/routes.ts';
import { modelConfigsResource } from './model-configs/routes.ts';
import { noticesResource } from './notices/routes.ts';
import { organisationsResource } from './organisations/routes.ts';
import { pluginsResource } from './plugins/routes.ts';
import { policiesResource } from './policies/routes.ts';
import { promptPartialsResource } from './prompt-partials/routes.ts';
import { promptsResource } from './prompts/routes.ts';
import { providersResource } from './providers/routes.ts';
import { referenceResource } from './reference/routes.ts';
import { scimResource } from './scim/routes.ts';
import { secretReferencesResource } from './secret-references/routes.ts';
import { usersResource } from './users/routes.ts';
import { virtualKeysResource } from './virtual-keys/routes.ts';
import { webhooksResource } from './webhooks/routes.ts';
import { workspacesResource } from './workspaces/routes.ts';

export const resources: readonly Resource[] = [
  healthResource,
  organisationsResource,
  workspacesResource,
  membersResource,
  usersResource,
  invitesResource,
  apiKeysResource,
  configsResource,
  authResource,
  scimResource,
  emailDomainsResource,
  auditLogResource,
  noticesResource,
  integrationsResource,
  providersResource,
  virtualKeysResource,
  secretReferencesResource,
  guardrailsResource,
  pluginsResource,
  policiesResource,
  limitUsageResource,
  webhooksResource,
  modelConfigsResource,
  mcpIntegrationsResource,
  mcpServersResource,
  agentIntegrationsResource,
  agentServersResource,
  cacheResource,
  collectionsResource,
  labelsResource,
  promptsResource,
  promptPartialsResource,
  logsResource,
  logExportsResource,
  feedbackResource,
  analyticsResource,
  batchesResource,
  referenceResource,
  internalResource,
];
