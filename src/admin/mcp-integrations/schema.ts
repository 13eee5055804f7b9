/** MCP integrations on the wire: the record, and what create, update and list accept. */
import { z } from 'zod';
import { sentMcpSettings } from '../../catalog/mcp/settings.ts';
import { capabilityTypes } from '../../catalog/mcp/types.ts';
import { lazy } from '../../lazy.ts';
import { secretMappingRecord, settingSecretMappings } from '../integrations/secret-mappings.ts';
import { slug } from '../integrations/slugs.ts';
import { flag, reference, timestamp } from '../kernel/fields.ts';

/** First segments of paths that belong to the service itself. */
export const reservedSlugs: ReadonlySet<string> = new Set([
  'v1',
  'v2',
  'v0',
  'v0_1',
  'oauth',
  'well-known',
  'health',
  'metrics',
  'mcp',
  'agent',
  'docs',
  'openapi',
  'assets',
]);

export const mcpSlug = lazy(() =>
  slug().refine((text) => !reservedSlugs.has(text.toLowerCase()), { message: 'is a word that the service keeps' }),
);

const name = () => z.string().trim().min(1).max(255);
const url = () => z.string().trim().min(1).max(2048).describe('Where the server is: http or https');
const authType = () =>
  z
    .enum(['none', 'headers', 'oauth_auto', 'oauth_client_credentials', 'custom', 'oauth', 'external'])
    .transform((sent) =>
      sent === 'custom'
        ? ('headers' as const)
        : sent === 'oauth' || sent === 'external'
          ? ('oauth_auto' as const)
          : sent,
    )
    .describe('How the server wants to be authenticated to; custom, oauth and external are other words for the same');
const transport = () =>
  z
    .enum(['http', 'sse', 'openapi'])
    .describe(
      'http: streamable HTTP; sse: the older pair of HTTP and SSE; openapi: an HTTP API, whose document is configurations.openapi',
    );
const description = () => z.string().trim().max(1_024);

export const newMcpIntegration = lazy(() =>
  z
    .object({
      name: name(),
      url: url().optional(),
      server_url: url().optional().describe('Another name of url'),
      auth_type: authType(),
      transport: transport(),
      slug: mcpSlug().optional().describe('Made from the name unless it is given; never changes'),
      description: description().nullish(),
      configurations: sentMcpSettings().nullish(),
      secret_mappings: settingSecretMappings().nullish(),
      organisation_id: reference.nullish(),
      workspace_id: reference.nullish().describe('Makes it an integration of this workspace alone'),
    })
    .refine((body) => body.url !== undefined || body.server_url !== undefined, {
      path: ['url'],
      message: 'is required',
    }),
);

const updatable = lazy(() =>
  z
    .object({
      name: name(),
      description: description().nullable(),
      configurations: sentMcpSettings().describe('Laid over the stored ones; null takes a setting away'),
      url: url(),
      server_url: url(),
      auth_type: authType(),
      transport: transport(),
      secret_mappings: settingSecretMappings().nullable(),
    })
    .partial(),
);
export const changeableFields = lazy(() => updatable().keyof().options);
export const mcpIntegrationUpdate = lazy(() =>
  updatable().extend({ workspace_id: reference.nullish(), organisation_id: reference.nullish() }),
);
export type McpIntegrationUpdate = z.output<ReturnType<typeof mcpIntegrationUpdate>>;

export const createdMcpIntegration = lazy(() => z.object({ id: z.string(), slug: z.string() }));

/** The reference product's names and the plain ones, side by side. */
export const metadataRecord = lazy(() =>
  z.object({
    title: z.string().nullable(),
    description: z.string().nullable(),
    icons: z.array(z.unknown()),
    name: z.string().nullable(),
    version: z.string().nullable(),
    server_name: z.string().nullable(),
    server_version: z.string().nullable(),
    protocol_version: z.string().nullable(),
    instructions: z.string().nullable(),
    website_url: z.string().nullable(),
    capability_flags: z.record(z.string(), z.unknown()),
    sync_status: z.enum(['pending', 'syncing', 'synced', 'failed']),
    last_synced_at: timestamp.nullable(),
    sync_error: z.string().nullable(),
  }),
);

export const mcpIntegrationRecord = lazy(() =>
  z.object({
    id: z.string(),
    slug: z.string(),
    name: z.string(),
    description: z.string().nullable(),
    url: z.string(),
    transport: z.enum(['http', 'sse', 'openapi']),
    auth_type: z.enum(['none', 'headers', 'oauth_auto', 'oauth_client_credentials']),
    configurations: z.record(z.string(), z.unknown()).describe('Credentials among them are masked'),
    secret_mappings: z.array(secretMappingRecord()),
    global_workspace_access: z.object({ enabled: z.boolean() }).nullable(),
    organisation_id: z.string(),
    workspace_id: z.string().nullable(),
    type: z.enum(['organisation', 'workspace']),
    status: z.enum(['active', 'archived']),
    owner_id: z.string().nullable(),
    created_at: timestamp,
    last_updated_at: timestamp,
    metadata: metadataRecord(),
  }),
);

export const listedMcpIntegrations = lazy(() =>
  z.object({
    data: z.array(mcpIntegrationRecord().extend({ workspaces_count: z.number() })),
    total: z.number(),
    has_more: z.boolean(),
  }),
);

export const updatedMcpIntegration = lazy(() => mcpIntegrationRecord().extend({ success: z.literal(true) }));

export const mcpIntegrationFilters = lazy(() =>
  z.object({
    organisation_id: reference.optional(),
    workspace_id: reference.optional().describe('Only what this workspace can use, by id or slug'),
    type: z.enum(['workspace', 'organisation', 'all']).default('all'),
    search: z.string().trim().min(1).max(255).optional().describe('Any part of the name, in any case'),
  }),
);

export const mcpIntegrationPath = lazy(() => z.object({ mcpIntegration: reference.describe('Id or slug') }));

const mostWorkspaces = 1_000;

export const workspacesUpdate = lazy(() =>
  z.object({
    workspaces: z
      .array(z.object({ id: reference.describe('Id or slug'), enabled: flag }))
      .max(mostWorkspaces)
      .default([]),
    global_workspace_access: z
      .object({ enabled: flag })
      .nullish()
      .describe('Whether workspaces that are made from now on get it too'),
    override_existing_workspace_access: flag.nullish().describe('True: the list replaces every grant that there is'),
  }),
);

export type WorkspacesUpdate = z.output<ReturnType<typeof workspacesUpdate>>;

const grantRecord = lazy(() =>
  z.object({
    id: z.string(),
    enabled: z.boolean(),
    status: z.enum(['active', 'archived']),
    created_at: timestamp,
    last_updated_at: timestamp,
  }),
);

export const workspacesList = lazy(() =>
  z.object({
    data: z.array(grantRecord()).optional().describe('With version in the query'),
    workspaces: z.array(grantRecord()).optional().describe('Without version in the query'),
    global_workspace_access: z.object({ enabled: z.boolean() }).nullable(),
    total: z.number(),
  }),
);
export const workspacesPaging = { size: mostWorkspaces, max: mostWorkspaces };
export const workspacesQuery = lazy(() => z.object({ version: z.string().max(20).optional() }));

const counted = () => z.object({ total: z.number(), enabled: z.number() });

export const capabilityRecord = lazy(() =>
  z.looseObject({
    name: z.string(),
    type: z.enum(capabilityTypes),
    title: z.string().nullable(),
    description: z.string().nullable(),
    icons: z.array(z.unknown()).nullable(),
    enabled: z.boolean(),
    created_at: timestamp,
    last_updated_at: timestamp,
    missing_since: timestamp.nullable().describe('Since when the server no longer lists it; null while it does'),
    changed: z
      .record(z.string(), z.object({ approved: z.unknown(), current: z.unknown() }))
      .nullable()
      .describe(
        'Where tools are pinned: what differs from the approved definition; the tool is hidden until it is approved again',
      ),
  }),
);

export const capabilitiesList = lazy(() =>
  z.object({
    data: z.array(capabilityRecord()),
    counts: z.object({
      tools: counted(),
      prompts: counted(),
      resources: counted(),
      resource_templates: counted(),
    }),
    total: z.number(),
    has_more: z.boolean(),
  }),
);

export const capabilityFilters = lazy(() =>
  z.object({
    type: z.enum(capabilityTypes).optional(),
    workspace_id: reference.optional().describe('Id or slug'),
    page: z.string().max(10).optional().describe('The number of the page, from 1'),
  }),
);

export const capabilitiesUpdate = lazy(() =>
  z.object({
    capabilities: z
      .array(
        z.object({
          name: z.string().min(1).max(2048).describe('The name, or the URI of a resource or a template'),
          type: z.enum(capabilityTypes),
          enabled: flag,
        }),
      )
      .min(1)
      .max(1_000),
    workspace_id: reference.nullish(),
  }),
);
export type CapabilitiesUpdate = z.output<ReturnType<typeof capabilitiesUpdate>>;

export const succeeded = lazy(() => z.object({ success: z.literal(true) }));

export const testResult = lazy(() =>
  z.object({
    success: z.boolean(),
    status_code: z.number().optional(),
    response_time_ms: z.number().optional(),
    url: z.string().optional(),
    server_name: z.string().nullable(),
    error: z.string().optional(),
  }),
);
