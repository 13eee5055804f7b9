/** Policies on the wire: what callers send, and the records that they read. */
import { z } from 'zod';
import { dateTime } from '../../date-time.ts';
import { lazy } from '../../lazy.ts';
import { rateUnits } from '../../limits/calendar.ts';
import { flag, id, reference, search, timestamp } from '../kernel/fields.ts';

const word = () => z.string().trim().min(1).max(1_024);
const words = () =>
  z.union([word(), z.array(word()).min(1).max(200)], { error: 'must be text, or a list of 1 to 200 texts' });

const condition = lazy(() =>
  z.object({
    key: z.string().trim().min(1).max(200).describe('`api_key`, `workspace_id`, `metadata.<field>`, `model`, ...'),
    value: words().describe('One value, a list of which any fits, or `*` for any value that is there'),
    excludes: words().optional().describe('Values that do not fit although `value` says so'),
  }),
);
export type ConditionInput = z.output<ReturnType<typeof condition>>;

const groupKey = lazy(() => z.object({ key: z.string().trim().min(1).max(200) }));

const conditions = () => z.array(condition()).min(1).max(50);
const groupBy = () => z.array(groupKey()).max(10);
const name = () => z.string().trim().max(255).nullish();
const description = () => z.string().trim().max(500).nullish();
const mode = () =>
  z.enum(['enforce', 'shadow']).optional().describe('`shadow` counts and reports, and refuses nothing');
const status = () => z.enum(['active', 'archived']);
const amount = () => z.number().min(0).max(1e15);
const periodDays = () => z.int().min(1).max(365).nullish();

export const newRatePolicy = lazy(() =>
  z.object({
    name: name(),
    description: description(),
    conditions: conditions(),
    group_by: groupBy().optional().describe('One count for each tuple of these; without it all calls count together'),
    type: z.enum(['requests', 'tokens']),
    unit: z.enum(rateUnits),
    value: z.int().min(1).max(1e15),
    target: z.enum(['llm', 'mcp_tools']).default('llm'),
    mode: mode(),
    clamp_max_tokens: flag.optional(),
    status: z.literal('active').optional(),
    workspace_id: reference.optional(),
    organisation_id: z.string().max(255).optional(),
  }),
);

export const newUsagePolicy = lazy(() =>
  z.object({
    name: name(),
    description: description(),
    conditions: conditions(),
    group_by: groupBy().optional().describe('One count for each tuple of these; without it all calls count together'),
    type: z.enum(['cost', 'tokens', 'requests']),
    credit_limit: amount().describe('Dollars, tokens or requests in each period'),
    alert_threshold: amount().nullish(),
    periodic_reset: z.enum(['weekly', 'monthly']).nullish(),
    periodic_reset_days: periodDays(),
    next_usage_reset_at: dateTime.nullish(),
    mode: mode(),
    clamp_max_tokens: flag.optional(),
    status: z.literal('active').optional(),
    workspace_id: reference.optional(),
    organisation_id: z.string().max(255).optional(),
  }),
);

export const ratePolicyUpdate = lazy(() =>
  z.object({
    name: name(),
    description: description(),
    conditions: conditions().optional(),
    unit: z.enum(rateUnits).optional(),
    value: z.int().min(1).max(1e15).optional(),
    mode: mode(),
    clamp_max_tokens: flag.optional(),
    status: status().optional().describe('`archived` stops it, `active` brings it back'),
    type: z.string().max(40).optional().describe('May be repeated, not changed'),
    target: z.string().max(40).optional().describe('May be repeated, not changed'),
    group_by: groupBy().optional().describe('May be repeated, not changed'),
    workspace_id: reference.optional(),
  }),
);

export const usagePolicyUpdate = lazy(() =>
  z.object({
    name: name(),
    description: description(),
    conditions: conditions().optional(),
    credit_limit: amount().optional(),
    alert_threshold: amount().nullish(),
    periodic_reset: z.enum(['weekly', 'monthly']).nullish(),
    periodic_reset_days: periodDays(),
    next_usage_reset_at: dateTime.nullish(),
    reset_usage_for_value: z.string().min(1).max(2_000).optional().describe('The value key whose count starts anew'),
    mode: mode(),
    clamp_max_tokens: flag.optional(),
    status: status().optional().describe('`archived` stops it, `active` brings it back'),
    type: z.string().max(40).optional().describe('May be repeated, not changed'),
    group_by: groupBy().optional().describe('May be repeated, not changed'),
    workspace_id: reference.optional(),
  }),
);

export type NewRatePolicy = z.output<ReturnType<typeof newRatePolicy>>;
export type NewUsagePolicy = z.output<ReturnType<typeof newUsagePolicy>>;
export type RatePolicyUpdate = z.output<ReturnType<typeof ratePolicyUpdate>>;
export type UsagePolicyUpdate = z.output<ReturnType<typeof usagePolicyUpdate>>;

const shared = () => ({
  id: z.string(),
  name: z.string().nullable(),
  description: z.string().nullable(),
  conditions: z.array(
    z.object({
      key: z.string(),
      value: z.union([z.string(), z.array(z.string())]),
      excludes: z.union([z.string(), z.array(z.string())]).optional(),
    }),
  ),
  group_by: z.array(z.object({ key: z.string() })),
  mode: z.enum(['enforce', 'shadow']),
  clamp_max_tokens: z.boolean(),
  status: status(),
  workspace_id: z.string(),
  organisation_id: z.string(),
  created_at: timestamp,
  last_updated_at: timestamp,
});

export const ratePolicyRecord = lazy(() =>
  z.object({
    object: z.literal('policy_rate_limits'),
    ...shared(),
    type: z.enum(['requests', 'tokens']),
    unit: z.enum(rateUnits),
    value: z.number(),
    target: z.enum(['llm', 'mcp_tools']),
  }),
);

const entityUsage = () =>
  z.object({
    current_usage: z.number(),
    status: z.enum(['active', 'exhausted']),
    is_threshold_alerts_sent: z.boolean(),
    is_exhausted_alerts_sent: z.boolean(),
  });

export const usagePolicyRecord = lazy(() =>
  z.object({
    object: z.literal('policy_usage_limits'),
    ...shared(),
    type: z.enum(['cost', 'tokens', 'requests']),
    credit_limit: z.number(),
    alert_threshold: z.number().nullable(),
    periodic_reset: z.enum(['weekly', 'monthly']).nullable(),
    periodic_reset_days: z.number().nullable(),
    next_usage_reset_at: timestamp.nullable(),
    last_reset_at: timestamp.nullable(),
    value_key_usage_map: z
      .record(z.string(), entityUsage())
      .optional()
      .describe('With `include_usage`: the first thousand groups and what each has used'),
  }),
);

export const createdPolicy = <O extends 'policy_rate_limits' | 'policy_usage_limits'>(object: O) =>
  z.object({ id: z.string(), object: z.literal(object) });

export const entityRecord = lazy(() =>
  z.object({
    id: z.string(),
    value_key: z.string(),
    current_usage: z.number(),
    reserved: z.number().describe('Held for calls that are running'),
    remaining: z.number(),
    status: z.enum(['active', 'exhausted']),
    is_threshold_alerts_sent: z.boolean(),
    is_exhausted_alerts_sent: z.boolean(),
    last_reset_at: timestamp.nullable(),
    window_ends_at: timestamp.nullable().describe('When the count starts anew by itself; null: never'),
  }),
);

export const ratePolicyPath = lazy(() => z.object({ rateLimitsPolicyId: id }));
export const usagePolicyPath = lazy(() => z.object({ usageLimitsPolicyId: id }));
export const entityPath = lazy(() => z.object({ usageLimitsPolicyId: id, entityId: id }));

export const readQuery = lazy(() =>
  z.object({ status: status().default('active'), workspace_id: reference.optional() }),
);
export const readUsageQuery = lazy(() => readQuery().extend({ include_usage: flag.optional() }));
export const rateListQuery = lazy(() =>
  readQuery().extend({
    type: z.enum(['requests', 'tokens']).optional(),
    unit: z.enum(rateUnits).optional(),
    search: search(),
  }),
);
export const usageListQuery = lazy(() =>
  readQuery().extend({ type: z.enum(['cost', 'tokens', 'requests']).optional(), search: search() }),
);
export const workspaceQuery = lazy(() => z.object({ workspace_id: reference.optional() }));
export const entitiesQuery = lazy(() =>
  z.object({
    status: z.enum(['active', 'exhausted']).optional(),
    search: search('the group'),
    workspace_id: reference.optional(),
  }),
);
