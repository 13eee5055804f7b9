/** Agent integrations on the wire: the record, and what create, update and list accept. */
import { z } from 'zod';
import { sentAgentSettings } from '../../catalog/agents/settings.ts';
import { lazy } from '../../lazy.ts';
import { flag, reference, search, timestamp } from '../kernel/fields.ts';
import {
  changeableIntegrationFields,
  integrationRecordFields,
  listOf,
  newIntegrationFields,
  place,
} from '../provisioning/schema.ts';

const url = () => z.string().trim().min(1).max(2048).describe('Where the agent is: its card is found below it');
const protocol = () => z.enum(['a2a']).describe('Agents speak A2A: 0.2, 0.3 or 1.0');
const authType = () =>
  z
    .enum(['none', 'headers', 'oauth_client_credentials', 'custom'])
    .transform((sent) => (sent === 'custom' ? ('headers' as const) : sent))
    .describe('How the agent wants to be authenticated to; custom is another word for headers');
const cardRecord = () => z.record(z.string(), z.unknown());

export const newAgentIntegration = lazy(() =>
  z.object({
    ...newIntegrationFields(sentAgentSettings()),
    url: url(),
    protocol: protocol().default('a2a'),
    auth_type: authType().default('none'),
  }),
);

const updatable = lazy(() =>
  z
    .object({
      ...changeableIntegrationFields(sentAgentSettings()),
      url: url(),
      protocol: protocol(),
      auth_type: authType(),
    })
    .partial(),
);
export const changeableFields = lazy(() => updatable().keyof().options);
export const agentIntegrationUpdate = lazy(() => updatable().extend(place()));

export const agentIntegrationRecord = lazy(() =>
  z.object({
    ...integrationRecordFields(),
    protocol: z.enum(['a2a']),
    auth_type: z.enum(['none', 'headers', 'oauth_client_credentials']),
    agent_card: cardRecord().nullable().describe('As it was last fetched'),
    card_status: z.enum(['pending', 'fetched', 'failed']),
    card_fetched_at: timestamp.nullable(),
    card_error: z.string().nullable(),
  }),
);

export const listedAgentIntegrations = lazy(() =>
  listOf(agentIntegrationRecord().extend({ workspaces_count: z.number() })),
);

export const updatedAgentIntegration = lazy(() => agentIntegrationRecord().extend({ success: z.literal(true) }));

export const agentIntegrationPath = lazy(() => z.object({ agentIntegration: reference.describe('Id or slug') }));

const headerValue = () =>
  z
    .string()
    .max(16_384)
    .regex(/^[\t\u0020-\u007e\u0080-\u00ff]*$/, 'must be one line');

export const cardQuestion = lazy(() =>
  z
    .object({
      endpoint: url().optional(),
      url: url().optional().describe('Another name of endpoint'),
      headers: z
        .record(
          z
            .string()
            .max(256)
            .regex(/^[\w!#$%&'*+.^`|~-]+$/, 'is not the name of a header'),
          headerValue(),
        )
        .refine((fields) => Object.keys(fields).length <= 100, { message: 'at most 100 entries' })
        .nullish()
        .describe('For cards that are protected'),
      organisation_id: reference.nullish(),
      workspace_id: reference.nullish(),
    })
    .refine((body) => body.endpoint !== undefined || body.url !== undefined, {
      path: ['endpoint'],
      message: 'is required',
    }),
);

/** An agent's card, which may hold more than is known here. */
export const agentCard = lazy(() => z.looseObject({ name: z.string(), url: z.string().optional() }));

export const skillRecord = lazy(() =>
  z.object({
    id: z.string(),
    name: z.string().nullable(),
    description: z.string().nullable(),
    tags: z.array(z.string()),
    examples: z.array(z.unknown()),
    input_modes: z.array(z.string()),
    output_modes: z.array(z.string()),
    enabled: z.boolean(),
    missing_since: timestamp.nullable().describe('Since when the card no longer lists it; null while it does'),
    created_at: timestamp,
    last_updated_at: timestamp,
    integration_enabled: z.boolean().optional().describe('Of a server: whether the integration has it enabled'),
  }),
);

export const skillsList = lazy(() => listOf(skillRecord()));

export const skillFilters = lazy(() =>
  z.object({
    search: search('the id'),
    workspace_id: reference.optional().describe('Id or slug'),
    page: z.string().max(10).optional().describe('The number of the page, from 1'),
  }),
);

export const skillsUpdate = lazy(() =>
  z.object({
    skills: z
      .array(z.object({ id: z.string().min(1).max(255), enabled: flag }))
      .min(1)
      .max(1_000),
    workspace_id: reference.nullish(),
  }),
);
export type SkillsUpdate = z.output<ReturnType<typeof skillsUpdate>>;

export const cardTestResult = lazy(() =>
  z.object({
    success: z.boolean(),
    status_code: z.number().optional(),
    response_time_ms: z.number(),
    url: z.string(),
    agent_name: z.string().nullable(),
    error: z.string().optional(),
  }),
);
