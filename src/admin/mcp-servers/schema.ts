/** MCP servers on the wire. */
import { z } from 'zod';
import { lazy } from '../../lazy.ts';
import { reference, timestamp } from '../kernel/fields.ts';
import {
  changeableServerFields,
  listOf,
  newServerFields,
  serverRecordFields,
  userAccessList,
  userAccessRecord,
} from '../provisioning/schema.ts';

const guardrails = () =>
  z
    .array(reference)
    .max(50)
    .nullable()
    .describe('Ids or slugs of guardrails that its tool calls pass; null: those of the integration');

export const newMcpServer = lazy(() =>
  z.object({
    ...newServerFields('{address}/{slug}/mcp'),
    mcp_integration_id: reference.describe('Id or slug of an MCP integration that the workspace may use'),
    input_guardrails: guardrails().optional(),
    output_guardrails: guardrails().optional(),
  }),
);

const updatable = lazy(() =>
  z.object({ ...changeableServerFields(), input_guardrails: guardrails(), output_guardrails: guardrails() }).partial(),
);
export const changeableFields = lazy(() => updatable().keyof().options);
export const mcpServerUpdate = lazy(() => updatable().extend({ workspace_id: reference.nullish() }));

export const mcpServerRecord = lazy(() =>
  z.object({
    ...serverRecordFields(),
    mcp_integration_id: z.string(),
    mcp_integration_slug: z.string(),
    mcp_integration_url: z.string(),
    url: z.string().describe('Where clients connect'),
    input_guardrails: z.array(z.string()).nullable(),
    output_guardrails: z.array(z.string()).nullable(),
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

export const listedMcpServers = lazy(() => listOf(mcpServerRecord()));

export const mcpServerPath = lazy(() => z.object({ mcpServer: reference.describe('Id or slug') }));

/** With whether the person has signed in upstream. */
export const mcpUserAccessList = lazy(() =>
  userAccessList(userAccessRecord().extend({ connection_status: z.enum(['connected', 'not_connected']) })),
);

export const connectionFilters = lazy(() =>
  z.object({ user_id: z.uuid().optional(), workspace_id: reference.optional() }),
);

export const connectionsList = lazy(() =>
  listOf(
    z.object({
      user_id: z.string(),
      connected: z.boolean(),
      created_at: timestamp,
      last_updated_at: timestamp,
    }),
  ),
);
