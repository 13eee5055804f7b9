/** Providers on the wire: the record, and what create, update and list accept. */
import { z } from 'zod';
import { lazy } from '../../lazy.ts';
import { rateLimitRecord, usageLimitRecord } from '../../limits/entries.ts';
import { providerSecretMappings, secretMappingRecord } from '../integrations/secret-mappings.ts';
import { slug } from '../integrations/slugs.ts';
import { tags, tagsQuery } from '../integrations/tags.ts';
import { flag, reference, search, timestamp } from '../kernel/fields.ts';
import { name, note, workspaceField } from './fields.ts';
import { limitFields } from './limits.ts';

export const providerRecord = lazy(() =>
  z.object({
    object: z.literal('provider'),
    id: z.string(),
    slug: z.string().describe('Requests name the provider as @slug, and a model of it as @slug/model'),
    name: z.string(),
    integration_id: z.string().describe('The slug of its integration'),
    ai_provider_name: z.string(),
    workspace_id: z.string(),
    note: z.string().nullable(),
    status: z.enum(['active', 'exhausted', 'expired', 'archived']),
    usage_limits: usageLimitRecord().nullable(),
    rate_limits: z.array(rateLimitRecord()).nullable(),
    reset_usage: z.literal(0),
    expires_at: timestamp.nullable(),
    model_config: z
      .record(z.string(), z.unknown())
      .describe("The integration's configurations; credentials among them are masked, as masked_…"),
    tags: z.record(z.string(), z.string()).nullable(),
    secret_mappings: z.array(secretMappingRecord()),
    last_reset_at: timestamp.nullable(),
    created_at: timestamp,
    last_updated_at: timestamp,
  }),
);

export const newProvider = lazy(() =>
  z.object({
    name: name(),
    integration_id: reference.describe('Id or slug of an integration that the workspace may use'),
    workspace_id: workspaceField(),
    slug: slug().optional().describe('Made from the name unless it is given; never changes'),
    note: note().nullish(),
    ...limitFields(),
    tags: tags().nullish(),
    secret_mappings: providerSecretMappings().nullish().describe('Over those of the integration'),
  }),
);

const updatable = lazy(() =>
  z
    .object({
      name: name(),
      note: note().nullable(),
      ...limitFields(),
      reset_usage: flag.nullable().describe('True sets what was used back to nothing'),
      tags: tags().nullable(),
      secret_mappings: providerSecretMappings().nullable().describe('Replaces the stored ones'),
    })
    .partial(),
);

/** The fields of an update that change something. */
export const changeableFields = lazy(() => updatable().keyof().options);

export const providerUpdate = lazy(() => updatable().extend({ workspace_id: workspaceField() }));

export const savedProvider = lazy(() => z.object({ object: z.literal('provider'), id: z.string(), slug: z.string() }));

export const providerFilters = lazy(() =>
  z.object({
    workspace_id: reference.optional().describe('Id or slug; required unless the calling key fixes it'),
    tags: tagsQuery(),
    search: search('the name or the slug'),
  }),
);

export const providerPath = lazy(() => z.object({ provider: reference.describe('Id or slug') }));
