/** The records of an organisation as replies show them. */
import { z } from 'zod';
import {
  type OrganisationSettings,
  type OverrideSection,
  overrideSections,
  securityShape,
  semanticCacheSchema,
  type WorkspaceOverrides,
} from '../../identity/settings.ts';
import { lazy } from '../../lazy.ts';
import { timestamp } from '../kernel/fields.ts';

const overrideShape = lazy(
  () =>
    Object.fromEntries(overrideSections.map((section) => [section, z.boolean()])) as Record<
      OverrideSection,
      z.ZodBoolean
    >,
);

/** Section to whether workspaces may hold own values of it. */
export const overridesRecord = lazy(() => z.object(overrideShape()));
export const overridesUpdate = lazy(() => z.strictObject(overrideShape()).exactPartial());

/** Every section by name; one that nobody touched is closed. */
export const overridesShown = (overrides: WorkspaceOverrides) =>
  ({ ...allClosed, ...overrides }) satisfies Record<OverrideSection, boolean>;

const allClosed = Object.fromEntries(overrideSections.map((section) => [section, false])) as Record<
  OverrideSection,
  boolean
>;

const settingsValues = () =>
  z.object({
    user_api_key_auto_create: z.boolean(),
    default_workspace_user_api_key_auto_create: z.boolean(),
    user_api_key_rotation_period: z.number().nullable().describe('Days'),
    user_api_key_ttl: z
      .object({ default_ttl: z.number().nullable(), max_ttl: z.number().nullable() })
      .nullable()
      .describe('Seconds'),
    user_api_key_limit: z.number().nullable().describe('Active user keys of one person in one workspace'),
    request_logging: z.enum(['full', 'metrics_only']),
    enforce_debug_log_setting: z.boolean(),
    stream_usage: z.boolean(),
    default_cache_max_age: z.number().nullable().describe('Seconds'),
    semantic_cache: semanticCacheSchema().nullable(),
    user_attribution: z.object({ enabled: z.boolean(), allow_override: z.boolean() }),
    export_settings: z.object({ deniedFields: z.array(z.string()) }),
    disable_getting_started: z.boolean(),
    session_settings: z.object({ max_session_ttl: z.number().nullable().describe('Seconds') }),
    data_plane_security_settings: z.object({ block_inline_config: z.boolean() }),
    security_settings: z.object(securityShape()),
  }) satisfies z.ZodType<OrganisationSettings>;

export const settingsRecord = lazy(() => settingsValues().extend({ workspace_overrides: overridesRecord() }));

const jsonSchema = lazy(() => z.record(z.string(), z.unknown()));

export const propertiesRecord = lazy(() =>
  z.object({
    api_key_metadata_schema: jsonSchema().nullable(),
    workspace_metadata_schema: jsonSchema().nullable(),
  }),
);

const guardrailReference = lazy(() => z.object({ id: z.string(), slug: z.string() }));

export const defaultsRecord = lazy(() =>
  z.object({
    input_guardrails: z.array(guardrailReference()),
    output_guardrails: z.array(guardrailReference()),
  }),
);

/** What everyone who belongs to the organisation may see of it. */
export const organisationSummary = lazy(() =>
  z.object({
    object: z.literal('organisation'),
    id: z.string(),
    name: z.string(),
    slug: z.string(),
    default_workspace_id: z.string().nullable(),
  }),
);

export const organisationRecord = lazy(() =>
  organisationSummary().extend({
    owner_ids: z.array(z.string()),
    default_jwt_workspace_id: z.string().nullable(),
    gateway_url: z.string().nullable(),
    mcp_gateway_url: z.string().nullable(),
    kms_key_arn: z.string().nullable(),
    settings: settingsRecord(),
    defaults: defaultsRecord(),
    properties: propertiesRecord(),
    status: z.enum(['active', 'archived']),
    created_at: timestamp,
    last_updated_at: timestamp,
  }),
);
