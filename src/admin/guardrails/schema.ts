/** Guardrails on the wire. */
import { z } from 'zod';
import { lazy } from '../../lazy.ts';
import { commaList, reference, search } from '../kernel/fields.ts';
import { listOf } from '../kernel/lists/paging.ts';

const name = lazy(() => z.string().trim().min(1).max(255));

/** The engine reads what is inside; here only the frame is bounded. */
const checks = lazy(() =>
  z
    .array(z.record(z.string().max(128), z.unknown()))
    .min(1)
    .max(100)
    .describe(
      'Each with `id`, `parameters`, `name`, `is_enabled` and `soft_deny_200`; GET /guardrails/checks lists them',
    ),
);
const actions = lazy(() =>
  z
    .record(z.string().max(128), z.unknown())
    .describe(
      'deny, async, sequential, on_success, on_fail, message, soft_deny_200, buffer_stream, stream_window; all may be left out',
    ),
);

const place = lazy(() => ({
  workspace_id: reference.optional().describe('Without it an admin key makes a guardrail of the organisation'),
  organisation_id: reference.optional(),
}));

export const newGuardrail = lazy(() =>
  z.object({ name: name(), checks: checks(), actions: actions().optional(), ...place() }),
);

export const guardrailUpdate = lazy(() =>
  z
    .object({
      name: name().optional(),
      checks: checks().optional(),
      actions: actions().optional(),
      ...place(),
    })
    .refine(({ name: n, checks: c, actions: a }) => n !== undefined || c !== undefined || a !== undefined, {
      message: 'Send at least one field to change: name, checks, actions',
    }),
);

export const guardrailPath = lazy(() =>
  z.object({ guardrail: reference.describe('The id or the slug of the guardrail') }),
);
export const workspaceQuery = lazy(() =>
  z.object({ workspace_id: reference.optional(), organisation_id: reference.optional() }),
);
export const listQuery = lazy(() =>
  z.object({
    workspace_id: reference.optional(),
    organisation_id: reference.optional(),
    search: search('the name or the slug'),
    ids: commaList(reference, 1_000).optional().describe('Ids or slugs, with commas between them'),
  }),
);

const listedFields = lazy(() => ({
  object: z.literal('guardrail'),
  id: z.string(),
  slug: z.string(),
  name: z.string(),
  organisation_id: z.string(),
  workspace_id: z.string().nullable().describe('Null for a guardrail of the organisation'),
  status: z.enum(['active', 'archived']),
  owner_id: z.string().nullable(),
  updated_by: z.string().nullable(),
  created_at: z.string(),
  last_updated_at: z.string(),
}));

const content = lazy(() => ({
  version_id: z.string(),
  checks: z.array(z.record(z.string(), z.unknown())).describe('Credentials in them are masked'),
  actions: z.record(z.string(), z.unknown()),
}));

export const guardrailRecord = lazy(() => z.object({ ...listedFields(), ...content() }).meta({ id: 'Guardrail' }));
export const guardrailList = lazy(() =>
  listOf(z.object(listedFields()).meta({ id: 'ListedGuardrail' })).extend({ has_more: z.boolean() }),
);
export const versionList = lazy(() =>
  listOf(
    z
      .object({
        object: z.literal('guardrail_version'),
        created_at: z.string(),
        created_by: z.string().nullable(),
        ...content(),
      })
      .meta({ id: 'GuardrailVersion' }),
  ),
);
export const savedGuardrail = lazy(() =>
  z.object({
    id: z.string(),
    slug: z.string(),
    version_id: z.string(),
    warnings: z.array(z.string()).optional().describe('What can never have an effect'),
  }),
);

export const checkList = lazy(() =>
  listOf(
    z
      .object({
        object: z.literal('guardrail_check'),
        id: z.string(),
        aliases: z.array(z.string()),
        name: z.string(),
        description: z.string(),
        category: z.enum(['BASIC', 'PRO', 'PARTNER']),
        supported_hooks: z.array(z.enum(['beforeRequestHook', 'afterRequestHook'])),
        transforms: z.boolean(),
        network: z.boolean(),
        stream: z
          .enum(['exact', 'window', 'whole'])
          .describe('What it must see of a stream, with the parameters of the example'),
        parameters: z.record(z.string(), z.unknown()).describe('JSON schema'),
        credentials: z.record(z.string(), z.unknown()).nullable().describe('JSON schema'),
        example: z.record(z.string(), z.unknown()),
      })
      .meta({ id: 'GuardrailCheck' }),
  ),
);

const anyObject = lazy(() => z.record(z.string().max(256), z.unknown()));

export const invocation = lazy(() =>
  z.object({
    event_type: z.enum(['beforeRequestHook', 'afterRequestHook']).optional(),
    request_type: z.string().max(64).optional(),
    requestType: z.string().max(64).optional(),
    request: z.object({ json: anyObject() }).optional(),
    response: z.object({ json: anyObject(), statusCode: z.int().min(100).max(599).optional() }).optional(),
    input: z.string().max(1_000_000).optional(),
    output: z.string().max(1_000_000).optional(),
    metadata: z.record(z.string().max(128), z.string().max(1_024)).optional(),
    provider: z.string().max(255).optional(),
    workspace_id: reference.optional(),
  }),
);

export const invocationResult = lazy(() =>
  z
    .object({
      verdict: z.boolean(),
      id: z.string(),
      type: z.enum(['guardrail', 'mutator']),
      checks: z.array(z.record(z.string(), z.unknown())),
      feedback: z.record(z.string(), z.unknown()).nullable(),
      transformed: z.boolean(),
      transformed_data: z.record(z.string(), z.unknown()).nullable(),
      execution_time: z.number(),
      async: z.boolean(),
      created_at: z.string(),
      deny: z.boolean(),
    })
    .meta({ id: 'GuardrailInvocation' }),
);
