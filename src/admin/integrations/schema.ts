/** Integrations on the wire: the record, and what create, update and list accept. */
import { z } from 'zod';
import { lazy } from '../../lazy.ts';
import { rateLimitRecord } from '../../limits/entries.ts';
import { flag, reference, timestamp } from '../kernel/fields.ts';
import { sentConfigurations } from './configurations.ts';
import { pricingAdjustments } from './pricing.ts';
import { secretMappingRecord, secretMappings } from './secret-mappings.ts';
import { slug } from './slugs.ts';
import { tags, tagsQuery } from './tags.ts';

export const listedIntegration = lazy(() =>
  z.object({
    object: z.literal('integration'),
    id: z.string(),
    organisation_id: z.string(),
    workspace_id: z.string().nullable(),
    type: z.enum(['organisation', 'workspace']),
    ai_provider_id: z.string(),
    name: z.string(),
    slug: z.string(),
    description: z.string().nullable(),
    status: z.enum(['active', 'archived']),
    tags: z.record(z.string(), z.string()).nullable(),
    created_at: timestamp,
    last_updated_at: timestamp,
  }),
);

/** A usage limit that a workspace is given when it is provisioned. */
const usageLimitTemplate = () =>
  z.object({
    type: z.enum(['cost', 'tokens']),
    credit_limit: z.number(),
    alert_threshold: z.number().nullable(),
    periodic_reset: z.enum(['weekly', 'monthly']).nullable(),
    periodic_reset_days: z.number().nullable(),
    next_usage_reset_at: timestamp.nullable(),
  });

export const globalAccessRecord = lazy(() =>
  z.object({
    enabled: z.boolean().describe('True: new workspaces of the organisation may use the integration'),
    usage_limits: z.array(usageLimitTemplate()),
    rate_limits: z.array(rateLimitRecord()),
  }),
);

export const integrationRecord = lazy(() =>
  listedIntegration().extend({
    masked_key: z
      .string()
      .nullable()
      .describe('The first and last two characters of the key; null where there is none'),
    configurations: z.record(z.string(), z.unknown()).describe('Credentials among them are masked, as masked_…'),
    global_workspace_access_settings: globalAccessRecord(),
    allow_all_models: z.boolean(),
    workspace_count: z.number().describe('How many active workspaces may use it'),
    secret_mappings: z.array(secretMappingRecord()),
    pricing_adjustments: z.object({ multiplier: z.record(z.string(), z.unknown()) }).nullable(),
  }),
);

const integrationName = lazy(() => z.string().trim().min(1).max(255));

/** What a provider hands out as its key; it travels in a header, so it is one line. */
export const upstreamKey = lazy(() =>
  z
    .string()
    .trim()
    .min(1)
    .max(16_384)
    // biome-ignore lint/suspicious/noControlCharactersInRegex: refusing them is the purpose.
    .regex(/^[^\u0000-\u001f\u007f]+$/, 'must be one line without control characters')
    .describe('The credential; it is stored encrypted and never shown again')
    .meta({ examples: ['sk-0123456789abcdef'] }),
);

export const aiProviderId = lazy(() =>
  z
    .string()
    .trim()
    .min(1)
    .max(64)
    .describe('The provider it speaks to, such as openai')
    .meta({ examples: ['openai'] }),
);

const description = lazy(() => z.string().trim().max(1_024));

export const newIntegration = lazy(() =>
  z.object({
    name: integrationName(),
    ai_provider_id: aiProviderId(),
    slug: slug().optional().describe('Made from the name unless it is given; never changes'),
    key: upstreamKey().nullish(),
    description: description().nullish(),
    workspace_id: reference
      .nullish()
      .describe('Makes it an integration of this workspace alone; a key of a workspace always makes one of its own'),
    configurations: sentConfigurations().nullish(),
    create_default_provider: flag
      .default(true)
      .describe('Of a workspace: also make a provider, so that it can be used at once'),
    default_provider_slug: slug()
      .nullish()
      .describe('The slug of that provider, instead of the one of the integration'),
    tags: tags().nullish(),
    secret_mappings: secretMappings().nullish(),
    pricing_adjustments: pricingAdjustments().nullish(),
    allow_all_models: flag.default(true),
  }),
);

const updatable = lazy(() =>
  z
    .object({
      name: integrationName(),
      key: upstreamKey().nullable(),
      description: description().nullable(),
      configurations: sentConfigurations().describe('Laid over the stored ones; null takes a setting away'),
      secret_mappings: secretMappings().nullable().describe('Replaces the stored ones'),
      pricing_adjustments: pricingAdjustments().nullable(),
      tags: tags().nullable(),
    })
    .partial(),
);

/** The fields of an update that change something. */
export const changeableFields = lazy(() => updatable().keyof().options);

export const integrationUpdate = lazy(() =>
  updatable().extend({
    workspace_id: reference.nullish().describe('May be repeated, never changed'),
    slug: z.string().max(255).nullish().describe('May be repeated, never changed'),
    ai_provider_id: aiProviderId().nullish().describe('May be repeated, never changed'),
  }),
);
export type IntegrationUpdate = z.output<ReturnType<typeof integrationUpdate>>;

export const createdIntegration = lazy(() =>
  z.object({ object: z.literal('integration'), id: z.string(), slug: z.string() }),
);

export const integrationFilters = lazy(() =>
  z.object({
    workspace_id: reference.optional().describe('Only what this workspace can use, by id or slug'),
    type: z.enum(['workspace', 'organisation', 'all']).default('all'),
    ai_provider_id: z.string().min(1).max(64).optional(),
    search: z.string().trim().min(1).max(100).optional().describe('Any part of the name, in any case'),
    tags: tagsQuery(),
  }),
);
export type IntegrationFilters = z.output<ReturnType<typeof integrationFilters>>;

export const integrationPath = lazy(() => z.object({ integration: reference.describe('Id or slug') }));
/** Where the workspace of a call may be named although the path names the thing itself. */
export const workspaceQuery = lazy(() => z.object({ workspace_id: reference.optional().describe('Id or slug') }));
