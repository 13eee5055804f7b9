/** What callers send and receive of workspaces. */
import { z } from 'zod';
import { workspaceSettingsUpdate } from '../../identity/settings.ts';
import { lazy } from '../../lazy.ts';
import { rateLimitRecord, usageLimitRecord, workspaceRateLimits, workspaceUsageLimits } from '../../limits/entries.ts';
import { commaList, id, metadata, reference, search, timestamp } from '../kernel/fields.ts';
import { memberRecord } from '../members/record.ts';
import { appointment } from '../members/rules.ts';
import { isOneEmoji } from './name.ts';

const name = lazy(() => z.string().trim().min(1).max(255));
const icon = lazy(() =>
  z
    .string()
    .trim()
    .max(64)
    .refine((text) => text === '' || isOneEmoji(text), { message: 'must be one emoji, or empty for none' })
    .nullable()
    .describe('One emoji; empty or null removes it'),
);
const description = lazy(() => z.string().trim().max(500).nullable());
const slug = () =>
  z
    .string()
    .trim()
    .max(100)
    .regex(/^[a-z0-9]+(?:[-_][a-z0-9]+)*$/, {
      message: 'may hold small letters, digits, and single - or _ between them',
    })
    .refine((text) => !id.safeParse(text).success, { message: 'may not look like an id' });

const guardrails = lazy(() => z.array(reference).max(50));
const defaults = lazy(() =>
  z
    .object({
      metadata: metadata.describe('Joins every request and wins over the metadata of key and request'),
      input_guardrails: guardrails(),
      output_guardrails: guardrails(),
      user_api_key_config: reference.nullable().describe('Config of this workspace for user keys that name none'),
    })
    .partial(),
);
export type SentDefaults = z.output<ReturnType<typeof defaults>>;

export const newWorkspace = lazy(() =>
  z.object({
    name: name().describe('An emoji in front becomes the icon'),
    icon: icon().optional(),
    description: description().optional(),
    slug: slug().optional().describe('Made from the name when absent'),
    defaults: defaults().optional(),
    users: z
      .array(z.union([appointment(), id.transform((userId) => ({ id: userId, role: 'member' as const }))]))
      .max(100)
      .optional()
      .describe('User ids (they become members), or ids with roles'),
    usage_limits: workspaceUsageLimits().nullish(),
    rate_limits: workspaceRateLimits().nullish(),
  }),
);

const updatable = lazy(() =>
  z
    .object({
      name: name(),
      icon: icon(),
      description: description(),
      defaults: defaults().describe('Only the keys that are sent change; metadata is replaced as a whole'),
      usage_limits: workspaceUsageLimits().nullable().describe('Null or an empty list removes the limits'),
      rate_limits: workspaceRateLimits().nullable(),
      reset_usage: z.boolean().describe('True sets what was used back to nothing'),
      settings: workspaceSettingsUpdate().omit({ security_settings: true }),
      security_settings: workspaceSettingsUpdate().shape.security_settings.unwrap(),
    })
    .partial(),
);

export const workspaceUpdate = lazy(() =>
  updatable().refine((update) => Object.keys(update).length > 0, {
    message: `Send at least one field to change: ${Object.keys(updatable().shape).join(', ')}`,
  }),
);
export type WorkspaceUpdate = z.output<ReturnType<typeof workspaceUpdate>>;

export const confirmation = lazy(() =>
  z.object({
    name: z.string().trim().min(1).max(330).describe("The workspace's name, to confirm which one is meant"),
    force_delete: z.boolean().default(false).describe('True also removes what is still in the workspace'),
  }),
);

const nameFormat = () =>
  z
    .enum(['display', 'plain'])
    .default('display')
    .describe('`display`: the icon stands in front of the name; `plain`: the name alone');

export const filters = lazy(() =>
  z.object({
    name: z.string().min(1).max(255).optional().describe('Any part of the plain name; case matters'),
    search: search('the name, the slug or the description'),
    exact_name: z.string().min(1).max(255).optional().describe('The whole plain name'),
    status: commaList(z.enum(['active', 'archived']))
      .optional()
      .describe(
        '`active` (the default), `archived`, or both; archived ones are shown to those who run the organisation',
      ),
    name_format: nameFormat(),
  }),
);
export type Filters = z.output<ReturnType<typeof filters>>;

export const workspaceRecord = lazy(() =>
  z.object({
    id: z.string(),
    object: z.literal('workspace'),
    slug: z.string(),
    name: z.string(),
    icon: z.string().nullable(),
    description: z.string().nullable(),
    organisation_id: z.string(),
    is_default: z.union([z.literal(0), z.literal(1)]).describe('1 for the shared workspace of the organisation'),
    status: z.enum(['active', 'archived']),
    defaults: z.object({
      metadata: z.record(z.string(), z.string()),
      input_guardrails: z.array(z.string()),
      output_guardrails: z.array(z.string()),
      user_api_key_config: z.string().nullable(),
    }),
    usage_limits: z.array(usageLimitRecord()),
    rate_limits: z.array(rateLimitRecord()),
    last_reset_at: timestamp.nullable(),
    created_by: z.string().nullable(),
    created_at: timestamp,
    last_updated_at: timestamp,
  }),
);
export type WorkspaceRecord = z.output<ReturnType<typeof workspaceRecord>>;

/** One workspace: with the settings in force for callers who may see them. */
export const singleWorkspace = lazy(() =>
  workspaceRecord().extend({
    settings: z.record(z.string(), z.unknown()).optional().describe('In force here; shown to admins and managers'),
    security_settings: z.record(z.string(), z.boolean()).optional().describe('In force here; as settings'),
  }),
);

/** The most members that a workspace's own record carries. */
export const membersShown = 500;

export const workspaceWithMembers = lazy(() =>
  singleWorkspace().extend({
    users: z
      .array(memberRecord())
      .optional()
      .describe(`The newest ${membersShown} active members; the list of members has all. Not shown to workspace keys`),
  }),
);

export const inWorkspace = lazy(() => z.object({ workspaceId: reference }));
