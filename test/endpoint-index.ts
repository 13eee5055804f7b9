/**
 * Every method and path of the administration that the specification lists, by its own ids. `where` says how a test finds it:
 * in the OpenAPI document, or by asking, where another part than the administration's kernel serves it. `notYet` is not built.
 */

interface IndexedEndpoint {
  id: string;
  method: string;
  path: string;
  where: 'document' | 'asking';
  notYet: boolean;
}

/** One endpoint a line: id, methods, path; `*` stands before what may also be served by another part, `-` before what is not built yet. */
const identity = `
  ORG-1 POST /v1/admin/organisations
  ORG-2 GET /v1/admin/organisations
  ORG-3 GET /v1/admin/organisation
  ORG-4 PUT /v1/admin/organisation
  ORG-5 POST /v1/admin/organisation/transfer-ownership
  SET-1,2 GET,PUT /v1/admin/organisation/settings
  SET-3,4 GET,PUT /v1/admin/organisation/workspace-overrides
  SET-5,6 GET,PUT /v1/admin/organisation/properties
  SET-7,8 GET,PUT /v1/admin/organisation/defaults
  SET-9,10 GET,PUT /v1/workspace-exclusions/input-guardrails
  SET-9,10 GET,PUT /v1/workspace-exclusions/output-guardrails
  SET-11,12 GET,PUT /v1/admin/workspaces/{id}/settings
  SET-13 GET /v1/logs/exports/field-restrictions
  WS-1,2 POST,GET /v1/admin/workspaces
  WS-1,2 POST,GET /v1/workspaces
  WS-3,5,7 GET,PUT,DELETE /v1/admin/workspaces/{id}
  WS-4,6 GET,PUT /v2/workspaces/{id}
  MEM-1,2 POST,GET /v1/admin/workspaces/{id}/users
  MEM-3,4,5 GET,PUT,DELETE /v1/admin/workspaces/{id}/users/{userId}
  USR-1 GET /v1/admin/users
  USR-1 GET /v1/users
  USR-2,3,4 GET,PUT,DELETE /v1/admin/users/{userId}
  INV-1,2 POST,GET /v1/admin/users/invites
  INV-3,4 GET,DELETE /v1/admin/users/invites/{inviteId}
  INV-5 POST /v1/admin/users/invites/{inviteId}/resend
  INV-6 GET /v1/invites/{token}
  INV-7 POST /v1/invites/{token}/accept
  KEY-1 POST /v1/api-keys/organisation/service
  KEY-1 POST /v1/api-keys/workspace/service
  KEY-1 POST /v1/api-keys/workspace/user
  KEY-2 GET /v1/api-keys
  KEY-3 GET /v2/api-keys
  KEY-4,5,6 GET,PUT,DELETE /v1/api-keys/{id}
  KEY-4 GET /v2/api-keys/{id}
  KEY-7 POST /v1/api-keys/{id}/rotate
  KEY-7 POST /v2/api-keys/{id}/rotate
  KEY-8 POST /v1/api-keys/{id}/reveal
  AUTH-1,2 GET,PUT /v1/admin/organisation/auth-settings
  AUTH-3 POST /v1/auth/login
  * AUTH-4 GET /v2/auth/callback
  * AUTH-5 GET /v2/auth/saml
  * AUTH-6 POST /v2/auth/saml/callback/{id}
  AUTH-7 GET /v1/auth/self
  AUTH-8 POST /v1/auth/logout
  AUTH-9 POST /v1/auth/refresh
  AUTH-10 POST /v1/auth/switch-organisation
  SCIM-1,2 POST,DELETE /v1/admin/organisation/auth-settings/scim/token
  * SCIM-3 GET /v1/scim/ServiceProviderConfig
  * SCIM-3 GET /v2/scim/{organisationId}/ServiceProviderConfig
  * SCIM-4 GET /v1/scim/ResourceTypes
  * SCIM-4 GET /v2/scim/{organisationId}/ResourceTypes
  * SCIM-4 GET /v1/scim/Schemas
  * SCIM-4 GET /v2/scim/{organisationId}/Schemas
  * SCIM-5,6 GET,POST /v1/scim/Users
  * SCIM-5,6 GET,POST /v2/scim/{organisationId}/Users
  * SCIM-7,8,9,10 GET,PUT,PATCH,DELETE /v1/scim/Users/{id}
  * SCIM-7,8,9,10 GET,PUT,PATCH,DELETE /v2/scim/{organisationId}/Users/{id}
  * SCIM-11,12 GET,POST /v1/scim/Groups
  * SCIM-11,12 GET,POST /v2/scim/{organisationId}/Groups
  * SCIM-13,14,15,16 GET,PUT,PATCH,DELETE /v1/scim/Groups/{id}
  * SCIM-13,14,15,16 GET,PUT,PATCH,DELETE /v2/scim/{organisationId}/Groups/{id}
  SCIM-17,18,19 GET,POST,DELETE /v1/scim/workspaces
  SCIM-19 DELETE /v1/scim/workspaces/{id}
  SCIM-20 GET /v1/scim/groups
  DOM-1,2 GET,POST /v1/admin/organisation/email-domains
  DOM-3,5 PUT,DELETE /v1/admin/organisation/email-domains/{id}
  DOM-4 POST /v1/admin/organisation/email-domains/{id}/verify
  AUD-1 GET /v1/audit-logs
  internal POST /v1/internal/api-keys/details
`;

const resources = `
  1,2 GET,POST /v1/configs
  3,4,5 GET,PUT,DELETE /v1/configs/{slug}
  6 GET /v1/configs/{slug}/versions
  7,8 GET,POST /v1/integrations
  9,10,11 GET,PUT,DELETE /v1/integrations/{slug}
  12,13,14 GET,PUT,DELETE /v1/integrations/{slug}/models
  13b PUT /v1/integrations/{slug}/integration-models
  15,16 GET,PUT /v1/integrations/{slug}/workspaces
  17,18 GET,POST /v1/providers
  19,20,21 GET,PUT,DELETE /v1/providers/{slug}
  22,23 GET,POST /v1/virtual-keys
  24,25,26 GET,PUT,DELETE /v1/virtual-keys/{slug}
  27,28 GET,POST /v1/guardrails
  29,30,31 GET,PUT,DELETE /v1/guardrails/{id}
  32 POST /v1/guardrails/{id}/invoke
  33,34 PUT,GET /v1/workspace-exclusions/input-guardrails
  33,34 PUT,GET /v1/workspace-exclusions/output-guardrails
  35,36 POST,GET /v1/collections
  37-39 GET,PUT,DELETE /v1/collections/{id}
  40,41 POST,GET /v1/labels
  42-44 GET,PUT,DELETE /v1/labels/{id}
  45,46 POST,GET /v1/prompts
  47-49 GET,PUT,DELETE /v1/prompts/{id}
  50 GET /v1/prompts/{id}/versions
  51,52 GET,PUT /v1/prompts/{id}/versions/{versionId}
  53 PUT /v1/prompts/{id}/makeDefault
  54,55 POST,GET /v1/prompts/partials
  56-58 GET,PUT,DELETE /v1/prompts/partials/{id}
  59 GET /v1/prompts/partials/{id}/versions
  60 PUT /v1/prompts/partials/{id}/makeDefault
  61-63 POST,PUT,DELETE /v2/prompts/{id}/share
  64 POST /v2/prompts/{id}/fork
  65 DELETE,POST /v2/prompts/{id}/unshare
  66-70 POST,PUT,DELETE /v2/prompts/partials/{id}/share
  66-70 POST /v2/prompts/partials/{id}/fork
  66-70 DELETE,POST /v2/prompts/partials/{id}/unshare
  * 71 POST /v1/prompts/{id}/render
  * 72 POST /v1/prompts/{id}/completions
  73,74 POST,GET /v1/policies/usage-limits
  75-77 GET,PUT,DELETE /v1/policies/usage-limits/{id}
  78 PUT /v2/policies/usage-limits/{id}
  79 GET /v1/policies/usage-limits/{id}/entities
  80 PUT /v1/policies/usage-limits/{id}/entities/{entityId}/reset
  81,82 POST,GET /v1/policies/rate-limits
  83-85 GET,PUT,DELETE /v1/policies/rate-limits/{id}
  86 PUT /v2/policies/rate-limits/{id}
  87 GET /v1/policies/rate-limits/{id}/entities
  88,89 GET,POST /v1/secret-references
  90-92 GET,PUT,DELETE /v1/secret-references/{id}
  93 GET /model-configs/pricing/{provider}/{model}
  94 GET /model-configs/general/{provider}/{model}
  95 GET /pricing/{file}
  95 GET /general/{file}
  * 96 GET /v1/models
  97,99 POST,GET /v1/logs
  98 GET /v1/logs/{id}
  100 GET /v1/logs/groups/{groupBy}
  101,102 POST,GET /v1/logs/exports
  103,104 GET,PUT /v1/logs/exports/{id}
  105 POST /v1/logs/exports/{id}/start
  106 POST /v1/logs/exports/{id}/cancel
  107 GET /v1/logs/exports/{id}/download
  108 GET /v1/logs/exports/field-restrictions
  * 109 POST /v1/otel/v1/traces
  * 110 POST /v1/otel/v1/logs
  111 POST /v1/feedback
  112 PUT /v1/feedback/{id}
  113 GET /v1/analytics/graphs/requests
  114 GET /v1/analytics/graphs/cost
  115 GET /v1/analytics/graphs/latency
  116 GET /v1/analytics/graphs/tokens
  117 GET /v1/analytics/graphs/users
  118 GET /v1/analytics/graphs/users/requests
  119 GET /v1/analytics/graphs/errors
  120 GET /v1/analytics/graphs/errors/rate
  121 GET /v1/analytics/graphs/errors/stacks
  122 GET /v1/analytics/graphs/errors/status-codes
  123 GET /v1/analytics/graphs/requests/rescued
  124 GET /v1/analytics/graphs/cache/hit-rate
  125 GET /v1/analytics/graphs/cache/latency
  126 GET /v1/analytics/graphs/feedbacks
  127 GET /v1/analytics/graphs/feedbacks/scores
  128 GET /v1/analytics/graphs/feedbacks/weighted
  129 GET /v1/analytics/graphs/feedbacks/ai-models
  130 GET /v1/analytics/summary/cache
  131 GET /v1/analytics/groups/users
  132 GET /v1/analytics/groups/ai-models
  133 GET /v1/analytics/groups/metadata/{key}
  134 GET /v1/analytics/groups/{groupBy}
  135,136 GET,POST /v1/plugins
  137 PUT /v1/plugins/{id}
`;

/** What the specification that the project was given names besides. */
const given = `
  given GET,DELETE /v1/mcp-servers/{id}/connections
  given GET /v1/mcp-servers/{id}/metadata
  given PUT /v2/batches/{id}
  * given POST /oauth/register
  given POST /v2/agent-integrations/fetch-agent-card
  given GET /v1/agent-servers/{id}/agent-card
  * given GET,POST /v1/agent/{id}/tasks
`;

export const endpointIndex: readonly IndexedEndpoint[] = [identity, resources, given].flatMap((table) =>
  table
    .trim()
    .split('\n')
    .flatMap((line) => {
      const [, marks = '', id = '', methods = '', path = ''] = /^\s*(?:([-*]+) )?(\S+) (\S+) (\S+)$/.exec(line) ?? [];
      return methods.split(',').map((method) => ({
        id,
        method,
        path,
        where: marks.includes('*') ? ('asking' as const) : ('document' as const),
        notYet: marks.includes('-'),
      }));
    }),
);
