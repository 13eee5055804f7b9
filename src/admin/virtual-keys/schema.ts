/** Virtual keys on the wire: the record, and what create, update and list accept. */
import { z } from 'zod';
import { lazy } from '../../lazy.ts';
import { rateLimitRecord, usageLimitRecord } from '../../limits/entries.ts';
import { aiProviderId, upstreamKey } from '../integrations/schema.ts';
import { secretMappingRecord, virtualKeySecretMappings } from '../integrations/secret-mappings.ts';
import { slug } from '../integrations/slugs.ts';
import { flag, reference, timestamp } from '../kernel/fields.ts';
import { name, note, workspaceField } from '../providers/fields.ts';
import { limitFields } from '../providers/limits.ts';
import { deploymentConfig, legacyFields } from './legacy-fields.ts';

export const virtualKeyRecord = lazy(() =>
  z.object({
    object: z.literal('virtual-key'),
    id: z.string(),
    slug: z.string(),
    name: z.string(),
    note: z.string().nullable(),
    status: z.enum(['active', 'exhausted', 'expired', 'archived']),
    ai_provider_name: z.string(),
    workspace_id: z.string(),
    masked_api_key: z.string().nullable(),
    model_config: z.record(z.string(), z.unknown()).describe('Credentials among them are masked, as masked_…'),
    usage_limits: usageLimitRecord().nullable(),
    rate_limits: z.array(rateLimitRecord()).nullable(),
    reset_usage: z.literal(0),
    expires_at: timestamp.nullable(),
    secret_mappings: z.array(secretMappingRecord()),
    last_reset_at: timestamp.nullable(),
    created_at: timestamp,
    last_updated_at: timestamp,
  }),
);

export const newVirtualKey = lazy(() =>
  z.object({
    name: name(),
    provider: aiProviderId(),
    key: upstreamKey().nullish(),
    slug: slug().nullish().describe('Made from the name unless it is given; never changes'),
    note: note().nullish(),
    workspace_id: workspaceField(),
    ...legacyFields(),
    ...limitFields(),
    secret_mappings: virtualKeySecretMappings().nullish(),
  }),
);

const updatable = lazy(() =>
  z
    .object({
      name: name(),
      key: upstreamKey().nullable(),
      note: note().nullable(),
      deploymentConfig: deploymentConfig(),
      ...limitFields(),
      secret_mappings: virtualKeySecretMappings().nullable(),
      reset_usage: flag.nullable().describe('True sets what was used back to nothing'),
    })
    .partial(),
);

/** The fields of an update that change something. */
export const changeableFields = lazy(() => updatable().keyof().options);

export const virtualKeyUpdate = lazy(() => updatable().extend({ workspace_id: workspaceField() }));

export const savedVirtualKey = lazy(() =>
  z.object({ object: z.literal('virtual-key'), id: z.string(), slug: z.string() }),
);

export const createdVirtualKey = lazy(() =>
  savedVirtualKey().extend({
    success: z.literal(true),
    data: z.object({ slug: z.string() }),
  }),
);

export const virtualKeyPath = lazy(() => z.object({ virtualKey: reference.describe('Id or slug') }));
