/** Agent servers on the wire. */
import { z } from 'zod';
import { lazy } from '../../lazy.ts';
import { commaList, reference, timestamp } from '../kernel/fields.ts';
import { mcpSlug } from '../mcp-integrations/schema.ts';

const name = () => z.string().trim().min(1).max(255);
const description = () => z.string().trim().max(500);

export const newAgentServer = lazy(() =>
  z.object({
    name: name(),
    agent_integration_id: reference.describe('Id or slug of an agent integration that the workspace may use'),
    workspace_id: reference.nullish().describe('Id or slug; needed with an admin key'),
    description: description().nullish(),
    slug: mcpSlug().min(3).max(50).optional().describe('What clients connect to: {address}/v1/agent/{slug}'),
  }),
);

const updatable = lazy(() => z.object({ name: name(), description: description().nullable() }).partial());
export const changeableFields = lazy(() => updatable().keyof().options);
export const agentServerUpdate = lazy(() => updatable().extend({ workspace_id: reference.nullish() }));

export const createdAgentServer = lazy(() => z.object({ id: z.string(), slug: z.string() }));

export const agentServerRecord = lazy(() =>
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
    agent_integration_id: z.string(),
    agent_integration_slug: z.string(),
    protocol: z.enum(['a2a']),
    auth_type: z.string(),
    url: z.string().describe('Where clients connect; the card is found below it'),
    default_user_access: z.enum(['allow', 'deny']),
    enabled: z.boolean().describe('Whether the integration is handed to the workspace'),
    created_at: timestamp,
    last_updated_at: timestamp,
  }),
);

export const listedAgentServers = lazy(() =>
  z.object({ data: z.array(agentServerRecord()), total: z.number(), has_more: z.boolean() }),
);

export const agentServerFilters = lazy(() =>
  z.object({
    workspace_id: reference.optional().describe('Id or slug'),
    id: commaList(reference).optional().describe('Ids or slugs, separated by commas'),
    search: z.string().trim().min(1).max(255).optional(),
  }),
);

export const agentServerPath = lazy(() => z.object({ agentServer: reference.describe('Id or slug') }));

export const agentUserAccessList = lazy(() =>
  z.object({
    data: z.array(
      z.object({
        user_id: z.string(),
        first_name: z.string(),
        last_name: z.string(),
        enabled: z.boolean(),
        has_override: z.boolean(),
      }),
    ),
    default_user_access: z.enum(['allow', 'deny']),
    total: z.number(),
    has_more: z.boolean(),
  }),
);
