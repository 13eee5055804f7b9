/** MCP servers on the wire. */
import { z } from 'zod';
import { lazy } from '../../lazy.ts';
import { commaList, flag, reference, timestamp } from '../kernel/fields.ts';
import { capabilitiesList, mcpSlug } from '../mcp-integrations/schema.ts';

const name = () => z.string().trim().min(1).max(255);
const description = () => z.string().trim().max(500);
const guardrails = () =>
  z
    .array(reference)
    .max(50)
    .nullable()
    .describe('Ids or slugs of guardrails that its tool calls pass; null: those of the integration');

export const newMcpServer = lazy(() =>
  z.object({
    name: name(),
    mcp_integration_id: reference.describe('Id or slug of an MCP integration that the workspace may use'),
    workspace_id: reference.nullish().describe('Id or slug; needed with an admin key'),
    description: description().nullish(),
    input_guardrails: guardrails().optional(),
    output_guardrails: guardrails().optional(),
    slug: mcpSlug().min(3).max(50).optional().describe('What clients connect to: {address}/{slug}/mcp'),
  }),
);

const updatable = lazy(() =>
  z
    .object({
      name: name(),
      description: description().nullable(),
      input_guardrails: guardrails(),
      output_guardrails: guardrails(),
    })
    .partial(),
);
export const changeableFields = lazy(() => updatable().keyof().options);
export const mcpServerUpdate = lazy(() => updatable().extend({ workspace_id: reference.nullish() }));

export const createdMcpServer = lazy(() => z.object({ id: z.string(), slug: z.string() }));

export const mcpServerRecord = lazy(() =>
  z.object({
    id: z.string(),
    slug: z.string(),
    name: z.string(),
    description: z.string().nullable(),
    status: z.enum(['active', 'archived']),
    owner_id: z.string().nullable(),
    organisation_id: z.string(),
    workspace_id: z.string(),
    workspace_name: z.string(),
    workspace_slug: z.string(),
    mcp_integration_id: z.string(),
    mcp_integration_slug: z.string(),
    mcp_integration_url: z.string(),
    auth_type: z.string(),
    url: z.string().describe('Where clients connect'),
    default_user_access: z.enum(['allow', 'deny']),
    input_guardrails: z.array(z.string()).nullable(),
    output_guardrails: z.array(z.string()).nullable(),
    enabled: z.boolean().describe('Whether the integration is handed to the workspace'),
    created_at: timestamp,
    last_updated_at: timestamp,
    mcp_integration_details: z
      .object({
        id: z.string(),
        slug: z.string(),
        status: z.string(),
        configurations: z.record(z.string(), z.unknown()),
        url: z.string(),
        transport: z.string(),
        auth_type: z.string(),
      })
      .optional()
      .describe('For keys that belong to nobody; credentials are masked'),
  }),
);

export const listedMcpServers = lazy(() =>
  z.object({ data: z.array(mcpServerRecord()), total: z.number(), has_more: z.boolean() }),
);

export const mcpServerFilters = lazy(() =>
  z.object({
    workspace_id: reference.optional().describe('Id or slug'),
    id: commaList(reference).optional().describe('Ids or slugs, separated by commas'),
    search: z.string().trim().min(1).max(255).optional(),
  }),
);
export type McpServerFilters = z.output<ReturnType<typeof mcpServerFilters>>;

export const mcpServerPath = lazy(() => z.object({ mcpServer: reference.describe('Id or slug') }));

export const serverCapabilitiesList = capabilitiesList;

export const userAccessFilters = lazy(() =>
  z.object({
    workspace_id: reference.optional(),
    search: z.string().trim().min(1).max(255).optional().describe('Part of a name or of an e-mail address'),
    page: z.string().max(10).optional().describe('The number of the page, from 1'),
  }),
);

export const userAccessList = lazy(() =>
  z.object({
    data: z.array(
      z.object({
        user_id: z.string(),
        first_name: z.string(),
        last_name: z.string(),
        enabled: z.boolean(),
        has_override: z.boolean(),
        connection_status: z.enum(['connected', 'not_connected']),
      }),
    ),
    default_user_access: z.enum(['allow', 'deny']),
    total: z.number(),
    has_more: z.boolean(),
  }),
);

export const userAccessUpdate = lazy(() =>
  z
    .object({
      user_access: z
        .array(z.object({ user_id: z.uuid(), enabled: flag.nullable().describe('null: the default counts again') }))
        .max(1_000)
        .optional(),
      default_user_access: z.enum(['allow', 'deny']).optional(),
      workspace_id: reference.nullish(),
    })
    .refine((body) => body.user_access !== undefined || body.default_user_access !== undefined, {
      path: ['user_access'],
      message: 'send user_access or default_user_access',
    }),
);

export type UserAccessUpdate = z.output<ReturnType<typeof userAccessUpdate>>;

export const connectionFilters = lazy(() =>
  z.object({ user_id: z.uuid().optional(), workspace_id: reference.optional() }),
);

export const connectionsList = lazy(() =>
  z.object({
    data: z.array(
      z.object({
        user_id: z.string(),
        connected: z.boolean(),
        created_at: timestamp,
        last_updated_at: timestamp,
      }),
    ),
    total: z.number(),
    has_more: z.boolean(),
  }),
);
