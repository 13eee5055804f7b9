/** API keys on the wire: the record, and what create, update, list and rotate accept. */
import { z } from 'zod';
import { dateTime } from '../../date-time.ts';
import { rotationPolicyInput, rotationPolicyRecord, transitionPeriod } from '../../identity/rotation.ts';
import { lazy } from '../../lazy.ts';
import { keyRateLimits, rateLimitRecord, soleUsageLimit, usageLimitRecord } from '../../limits/entries.ts';
import { commaList, email, flag, id, metadata, reference, timestamp } from '../kernel/fields.ts';

export const keyTypes = ['organisation-service', 'workspace-service', 'workspace-user'] as const;

export const keyRecord = lazy(() =>
  z.object({
    object: z.literal('api-key'),
    id: z.string(),
    key: z.string().describe('Masked: only create, rotate and reveal show a secret'),
    name: z.string(),
    description: z.string().nullable(),
    type: z.enum(keyTypes),
    organisation_id: z.string(),
    workspace_id: z.string().nullable(),
    workspace_slug: z.string().nullable(),
    user_id: z.string().nullable(),
    status: z.enum(['active', 'exhausted', 'expired', 'archived']),
    creation_mode: z.enum(['ui', 'api', 'auto']),
    scopes: z.array(z.string()),
    rate_limits: z.array(rateLimitRecord()),
    usage_limits: usageLimitRecord().nullable(),
    reset_usage: z.literal(0),
    last_reset_at: timestamp.nullable(),
    defaults: z.object({
      metadata: z.record(z.string(), z.string()),
      config_id: z.string().nullable(),
      config_slug: z.string().nullable(),
      allow_config_override: z.boolean(),
    }),
    allow_config_override: z.union([z.literal(0), z.literal(1)]).nullable(),
    alert_emails: z.array(z.string()),
    expires_at: timestamp.nullable(),
    rotation_policy: rotationPolicyRecord().nullable(),
    last_rotated_at: timestamp.nullable(),
    key_transition_expires_at: timestamp
      .nullable()
      .describe('Set while the secret before the last rotation still counts'),
    created_by: z.string().nullable(),
    last_updated_by: z.string().nullable(),
    created_at: timestamp,
    last_updated_at: timestamp,
  }),
);

export type KeyRecord = z.output<ReturnType<typeof keyRecord>>;

const name = lazy(() => z.string().trim().min(1).max(100));
const description = () => z.string().trim().max(200);
const scopes = lazy(() => z.array(z.string().trim().min(1).max(100)).min(1).max(300));
const alertEmails = () => z.array(email).max(50);

const defaults = lazy(() =>
  z.object({
    metadata: metadata.nullish(),
    config_id: reference.nullish(),
    allow_config_override: flag.nullish(),
  }),
);

const optionalFields = lazy(() => ({
  description: description().nullish(),
  rate_limits: keyRateLimits().nullish(),
  usage_limits: soleUsageLimit(),
  defaults: defaults().nullish(),
  allow_config_override: flag.nullish().describe('Same as defaults.allow_config_override, which wins'),
  alert_emails: alertEmails().nullish(),
  expires_at: dateTime.nullish(),
  rotation_policy: rotationPolicyInput().nullish(),
}));

export const newKeyBody = lazy(() => z.object({ name: name(), scopes: scopes(), ...optionalFields() }));
export const newWorkspaceKeyBody = lazy(() =>
  newKeyBody().extend({
    workspace_id: reference.optional().describe('Id or slug; may be left out where the calling key fixes it'),
  }),
);
export const newUserKeyBody = lazy(() =>
  newWorkspaceKeyBody().extend({
    user_id: id.nullish().describe('The owner; a signed-in caller may leave it out'),
  }),
);

export type NewKeyBody = z.output<ReturnType<typeof newKeyBody>>;

export const createdKey = lazy(() =>
  z.object({
    object: z.literal('api-key'),
    id: z.string(),
    key: z.string().describe('The secret; it is shown this once'),
  }),
);

export const keyUpdateBody = lazy(() =>
  z.object({
    name: name().optional(),
    scopes: scopes().optional(),
    ...optionalFields(),
    defaults: defaults().optional().describe('Only the fields present change'),
    reset_usage: flag.nullish().describe('Sets the usage back to nothing; never stored'),
    type: z.string().max(40).nullish().describe('May be repeated, never changed'),
    workspace_id: reference.nullish().describe('May be repeated, never changed'),
    user_id: z.string().max(40).nullish().describe('May be repeated, never changed'),
  }),
);

export type KeyUpdateBody = z.output<ReturnType<typeof keyUpdateBody>>;

/** The fields of an update that change something. */
export const changeableFields = [
  'name',
  'scopes',
  'description',
  'rate_limits',
  'usage_limits',
  'defaults',
  'allow_config_override',
  'alert_emails',
  'expires_at',
  'rotation_policy',
  'reset_usage',
] as const satisfies readonly (keyof KeyUpdateBody)[];

/** A key that was deleted is in no list. */
const listedStatuses = ['active', 'exhausted', 'expired'] as const;

export const keyListQuery = lazy(() =>
  z.object({
    workspace_id: reference.optional().describe('Only keys of this workspace, by id or slug'),
    ids: commaList(id).optional().describe('Exactly these keys, in this order; archived ones included'),
    type: z.enum([...keyTypes, 'user', 'service']).optional(),
    user_id: id.optional(),
    status: commaList(z.enum(listedStatuses)).optional().describe('One or several, separated by commas'),
    search: z.string().trim().min(1).max(100).optional().describe('Any part of the name, in any case'),
    sort_by: z.enum(['name', 'created_at', 'last_updated_at', 'expires_at']).default('created_at'),
    order: z.enum(['asc', 'desc']).default('desc'),
  }),
);

export type KeyListQuery = z.output<ReturnType<typeof keyListQuery>>;

export const rotateBody = lazy(() => z.object({ key_transition_period_ms: transitionPeriod().nullish() }));

export const rotatedKey = lazy(() =>
  z.object({
    object: z.literal('api-key'),
    id: z.string(),
    key: z.string().describe('The new secret; it is shown this once'),
    key_transition_expires_at: timestamp.describe('Until then the old secret counts too'),
  }),
);

export const revealedKey = lazy(() => z.object({ object: z.literal('api-key'), id: z.string(), key: z.string() }));
export const keyPath = lazy(() => z.object({ apiKeyId: id }));
