/** MCP integrations on the wire: the record, and what create, update and list accept. */
import { z } from 'zod';
import { sentMcpSettings } from '../../catalog/mcp/settings.ts';
import { capabilityTypes } from '../../catalog/mcp/types.ts';
import { lazy } from '../../lazy.ts';
import { flag, reference, search, timestamp } from '../kernel/fields.ts';
import {
  changeableIntegrationFields,
  integrationRecordFields,
  listOf,
  newIntegrationFields,
  place,
} from '../provisioning/schema.ts';

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

export const newMcpIntegration = lazy(() =>
  z
    .object({
      ...newIntegrationFields(sentMcpSettings()),
      url: url().optional(),
      server_url: url().optional().describe('Another name of url'),
      auth_type: authType(),
      transport: transport(),
    })
    .refine((body) => body.url !== undefined || body.server_url !== undefined, {
      path: ['url'],
      message: 'is required',
    }),
);

const updatable = lazy(() =>
  z
    .object({
      ...changeableIntegrationFields(sentMcpSettings()),
      url: url(),
      server_url: url(),
      auth_type: authType(),
      transport: transport(),
    })
    .partial(),
);
export const changeableFields = lazy(() => updatable().keyof().options);
export const mcpIntegrationUpdate = lazy(() => updatable().extend(place()));

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
    ...integrationRecordFields(),
    transport: z.enum(['http', 'sse', 'openapi']),
    auth_type: z.enum(['none', 'headers', 'oauth_auto', 'oauth_client_credentials']),
    metadata: metadataRecord(),
  }),
);

export const listedMcpIntegrations = lazy(() =>
  listOf(mcpIntegrationRecord().extend({ workspaces_count: z.number() })),
);

export const updatedMcpIntegration = lazy(() => mcpIntegrationRecord().extend({ success: z.literal(true) }));

export const mcpIntegrationPath = lazy(() => z.object({ mcpIntegration: reference.describe('Id or slug') }));

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
  listOf(capabilityRecord()).extend({
    counts: z.object({
      tools: counted(),
      prompts: counted(),
      resources: counted(),
      resource_templates: counted(),
    }),
  }),
);

export const capabilityFilters = lazy(() =>
  z.object({
    type: z.enum(capabilityTypes).optional(),
    search: search(),
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
