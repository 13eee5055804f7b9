/** Secret references on the wire: the record, and what create, update, list and test accept. */
import { z } from 'zod';
import { lazy } from '../../lazy.ts';
import { managerTypes } from '../../secrets/manager.ts';
import { slug } from '../integrations/slugs.ts';
import { tags, tagsQuery } from '../integrations/tags.ts';
import { flag, reference, search, timestamp } from '../kernel/fields.ts';

const name = () => z.string().trim().min(1).max(255);
const description = () => z.string().trim().max(1_024);
const secretPath = () =>
  z
    .string()
    .trim()
    .min(1)
    .max(1_024)
    .describe('Where the manager keeps the secret: a name or ARN, the path in Vault, a variable or a file')
    .meta({ examples: ['prod/openai'] });
const secretKey = () => z.string().min(1).max(255).describe('The field of it that is meant, where it has several');
const allowedWorkspaces = () => z.array(reference).min(1, 'must name at least one workspace').max(1_000);

/** Which fields belong together is decided by the manager. */
const authConfig = () =>
  z
    .record(z.string().max(64), z.string().max(16_384).nullable())
    .refine((fields) => Object.keys(fields).length <= 20, { message: 'at most 20 fields' })
    .describe('How to get in; what is needed depends on manager_type and its mode')
    .meta({
      examples: [
        {
          aws_auth_type: 'accessKey',
          aws_access_key_id: 'AKIAIOSFODNN7EXAMPLE',
          aws_secret_access_key: 'wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY',
          aws_region: 'eu-central-1',
        },
      ],
    });

export const listedReference = lazy(() =>
  z.object({
    object: z.literal('secret-reference'),
    id: z.string(),
    name: z.string(),
    slug: z.string(),
    manager_type: z.enum(managerTypes),
    status: z.literal('ACTIVE'),
    created_at: timestamp,
    last_updated_at: timestamp,
  }),
);

export const referenceRecord = lazy(() =>
  listedReference().extend({
    organisation_id: z.string(),
    description: z.string().nullable(),
    secret_path: z.string(),
    secret_key: z.string().nullable(),
    allow_all_workspaces: z.boolean(),
    allowed_workspaces: z.array(z.string()).describe('The slugs of the workspaces that may use it; empty: all'),
    tags: z.record(z.string(), z.string()).nullable(),
    created_by: z.string().nullable(),
    auth_config: z.record(z.string(), z.string()).describe('Credentials among it are masked, as masked_…'),
    resolution: z
      .object({
        state: z
          .enum(['unused', 'current', 'stale', 'failing'])
          .describe('stale: the manager is away and the last known value is used; failing: there is none'),
        resolved_at: timestamp.nullable(),
        failed_at: timestamp.nullable(),
        error: z.string().nullable(),
        usable_until: timestamp.nullable().describe('How long the value is used, should the manager stay away'),
      })
      .describe('What the process that answers knows of its value'),
  }),
);

export const newReference = lazy(() =>
  z.object({
    name: name(),
    slug: slug().optional().describe('Made from the name unless it is given; never changes'),
    description: description().nullish(),
    manager_type: z.enum(managerTypes),
    auth_config: authConfig(),
    secret_path: secretPath(),
    secret_key: secretKey().nullish(),
    allow_all_workspaces: flag.optional(),
    allowed_workspaces: allowedWorkspaces().optional().describe('Ids or slugs; only these may use it then'),
    tags: tags().nullish(),
  }),
);

const updatable = lazy(() =>
  z
    .object({
      name: name(),
      description: description().nullable(),
      auth_config: authConfig().describe('Laid over the stored one; null takes a field away'),
      secret_path: secretPath(),
      secret_key: secretKey().nullable(),
      allow_all_workspaces: flag,
      allowed_workspaces: allowedWorkspaces().describe('Replaces the stored list'),
      tags: tags().nullable(),
    })
    .partial(),
);

/** The fields of an update that change something. */
export const changeableFields = lazy(() => updatable().keyof().options);

export const referenceUpdate = lazy(() =>
  updatable().extend({
    manager_type: z.enum(managerTypes).optional().describe('May be repeated, never changed'),
    slug: z.string().max(255).optional().describe('May be repeated, never changed'),
  }),
);

export const createdReference = lazy(() =>
  z.object({ object: z.literal('secret-reference'), id: z.string(), slug: z.string() }),
);

export const referenceFilters = lazy(() =>
  z.object({
    manager_type: z.enum(managerTypes).optional(),
    tags: tagsQuery(),
    search: search(),
  }),
);

export const referencePath = lazy(() => z.object({ secretReference: reference.describe('Id or slug') }));

export const testRequest = lazy(() =>
  z.object({
    secret_key: secretKey().nullish().describe('Instead of the one of the reference'),
    value_format: z.enum(['string', 'json']).default('string'),
  }),
);

export const testResult = lazy(() =>
  z.object({
    object: z.literal('secret-reference-test'),
    success: z.boolean(),
    response_time_ms: z.number(),
    error: z.string().optional().describe('Why there is no value; never anything of the secret'),
  }),
);
