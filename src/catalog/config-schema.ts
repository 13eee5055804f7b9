/** The fields of a routing config and the form of each. */
import { z } from 'zod';
import { forwardHeaders } from './forward-headers.ts';
import { parseParameterPath } from './parameters.ts';
import { inheritedFields, targetFields } from './target-fields.ts';

const name = z.string().min(1).max(255);
const milliseconds = z.int().min(1).max(86_400_000);
const statusCodes = z.array(z.int().min(100).max(599)).max(100);
const fieldsOfBody = z.record(z.string().max(256), z.unknown());

const provider = z
  .string()
  .min(1)
  .max(512)
  .refine((text) => !text.startsWith('@') || /^@[^/]+(\/.+)?$/s.test(text), {
    message: 'write a saved provider as @slug or @slug/model',
  });

const breaker = z
  .strictObject({
    failure_threshold: z.number().min(1).max(1e9).optional(),
    failure_threshold_percentage: z.number().min(0).max(100).optional(),
    minimum_requests: z.int().min(1).max(1e9).optional(),
    cooldown_interval: z.number().min(30_000).max(86_400_000),
    failure_status_codes: statusCodes.optional(),
  })
  .refine((rule) => rule.failure_threshold !== undefined || rule.failure_threshold_percentage !== undefined, {
    path: ['failure_threshold'],
    message: 'give failure_threshold or failure_threshold_percentage',
  });

const sticky = z
  .strictObject({
    enabled: z.boolean(),
    hash_fields: z
      .array(
        z
          .string()
          .max(256)
          .regex(/^(metadata|params|headers)\../, 'begin with metadata., params. or headers.'),
      )
      .max(20)
      .default([]),
    ttl: z.number().min(1).max(31_536_000).default(3_600),
  })
  .refine((rule) => !rule.enabled || rule.hash_fields.length > 0, {
    path: ['hash_fields'],
    message: 'name at least one field, such as metadata._user',
  });

const condition = z.strictObject({
  query: z.record(z.string().max(256), z.unknown()),
  // biome-ignore lint/suspicious/noThenProperty: the wire's word; a condition is never awaited
  then: name,
});

const strategy = z.strictObject({
  mode: z.enum(['single', 'fallback', 'loadbalance', 'conditional']),
  on_status_codes: statusCodes.optional(),
  conditions: z.array(condition).max(10_000).optional(),
  default: name.optional(),
  sticky: sticky.optional(),
  cb_config: breaker.optional(),
  recover_streams: z.boolean().optional(),
});

const cacheRule = z.strictObject({
  mode: z.enum(['simple', 'semantic', 'DISABLED']),
  max_age: z.int().min(1).max(7_776_000).optional(),
  coalesce: z.boolean().optional(),
  similarity_threshold: z.number().min(0).max(1).optional(),
  verify: z.number().min(0).max(1).optional(),
});
const cache = z.preprocess((value) => (typeof value === 'string' ? { mode: value } : value), cacheRule);

const attempts = z.int().min(0).max(1e6);
const retry = z.strictObject({
  attempts: attempts.optional(),
  /** As batches spell it. */
  max_attempts: attempts.optional(),
  on_status_codes: statusCodes.optional(),
  use_retry_after_header: z.boolean().optional(),
  use_retry_after_headers: z.boolean().optional(),
});

/** The guardrail engine reads what is inside; here only the frame is checked. */
const hook = z.looseObject({
  id: name.optional(),
  type: z.enum(['guardrail', 'mutator']).optional(),
  deny: z.boolean().optional(),
  async: z.boolean().optional(),
  sequential: z.boolean().optional(),
  checks: z
    .array(z.looseObject({ id: name }))
    .max(100)
    .optional(),
});
const hooks = z.array(hook).max(100);
const shorthand = z.looseObject({
  id: name.optional(),
  deny: z.boolean().optional(),
  async: z.boolean().optional(),
  sequential: z.boolean().optional(),
});
const guardrails = z.array(z.union([name, shorthand])).max(100);

const forbidden = (message: string) => z.never({ error: message }).optional();
const setByTheService = 'is set from the settings of the organisation and the workspace, not by a config';

const fields = {
  strategy: strategy.optional(),
  name: name.optional(),
  id: name.optional(),
  provider: provider.optional(),
  virtual_key: name.optional(),
  api_key: z.string().min(1).max(16_384).optional(),
  prompt_id: name.optional(),
  weight: z.number().min(0).max(1e9).optional(),
  cache: cache.optional(),
  retry: retry.optional(),
  request_timeout: milliseconds.optional(),
  first_token_timeout: milliseconds.optional(),
  stream_idle_timeout: milliseconds.optional(),
  override_params: fieldsOfBody.optional(),
  default_params: fieldsOfBody.optional(),
  drop_params: z
    .array(
      z
        .string()
        .max(512)
        .refine((path) => parseParameterPath(path) !== null, {
          message: 'write a path such as tools[0].function.strict or messages[*].name',
        }),
    )
    .max(200)
    .optional(),
  custom_host: z.string().min(1).max(2_048).optional(),
  forward_headers: forwardHeaders.optional(),
  strict_open_ai_compliance: z.boolean().optional(),
  passthrough: z.boolean().optional(),
  fetch_integrated_models: z.boolean().optional(),
  input_guardrails: guardrails.optional(),
  output_guardrails: guardrails.optional(),
  before_request_hooks: hooks.optional(),
  after_request_hooks: hooks.optional(),
  input_mutators: guardrails.optional(),
  output_mutators: guardrails.optional(),
  cb_config: breaker.optional(),
  on_status_codes: statusCodes.optional(),
  metadata: z
    .record(z.string().min(1).max(128), z.string().max(1_024))
    .refine((entries) => Object.keys(entries).length <= 64, { message: 'at most 64 fields' })
    .optional(),
  ...inheritedFields.shape,
  ...targetFields.shape,
  options: forbidden('is the old form: write the options as targets, beside a strategy'),
  default_input_guardrails: forbidden(setByTheService),
  default_output_guardrails: forbidden(setByTheService),
};

const node = z.strictObject(fields);

/** Every field that a config or a target may have; docs/gateway.md tells users of them. */
export const configFieldNames: readonly string[] = [...Object.keys(fields), 'targets'];

export interface ConfigBody extends z.output<typeof node> {
  targets?: ConfigBody[] | undefined;
}

export const configSchema: z.ZodType<ConfigBody> = node.extend({
  /** How many there may be is checked when a request uses the config; this bound only keeps the saved text in reason. */
  targets: z.lazy(() => z.array(configSchema).min(1).max(10_000)).optional(),
});
