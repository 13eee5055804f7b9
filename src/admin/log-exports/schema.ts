/** Exports of logs on the wire. */
import { z } from 'zod';
import { lazy } from '../../lazy.ts';
import { exportFieldNames, fieldAliases } from '../../logs/exports/fields.ts';
import { reference, timestamp } from '../kernel/fields.ts';

const number = z.union([z.number(), z.string().max(30)]);
const list = z.union([z.string().max(8_000), z.array(z.union([z.string().max(255), z.number()])).max(100)]);
const moment = z.string().max(40);

export const exportFilters = lazy(() =>
  z.object({
    time_of_generation_min: moment.optional(),
    time_of_generation_max: moment.optional(),
    created_at: z.object({ gte: moment.optional(), lte: moment.optional() }).optional(),
    total_units_min: number.optional(),
    total_units_max: number.optional(),
    prompt_token_min: number.optional(),
    prompt_token_max: number.optional(),
    completion_token_min: number.optional(),
    completion_token_max: number.optional(),
    cost_min: number.optional(),
    cost_max: number.optional(),
    weighted_feedback_min: number.optional(),
    weighted_feedback_max: number.optional(),
    status_code: list.optional(),
    virtual_keys: list.optional(),
    configs: list.optional(),
    trace_id: list.optional(),
    span_id: list.optional(),
    prompt_slug: list.optional(),
    api_key_ids: list.optional(),
    ai_model: list.optional(),
    ai_org_model: list.optional(),
    workspace_slug: z.string().max(255).optional(),
    metadata: z.record(z.string().max(128), z.string().max(1024)).optional(),
    page_size: z
      .union([z.number(), z.string().max(10)])
      .optional()
      .describe('At most 50,000 rows, which is the default'),
    current_page: z.union([z.number(), z.string().max(10)]).optional(),
  }),
);

export type ExportFilters = z.output<ReturnType<typeof exportFilters>>;

const requestedData = lazy(() =>
  z
    .array(z.enum([...exportFieldNames, ...(Object.keys(fieldAliases) as [string, ...string[]])]))
    .min(1)
    .max(40),
);

export const newExport = lazy(() =>
  z.object({
    filters: exportFilters(),
    requested_data: requestedData(),
    workspace_id: reference.optional(),
    description: z.string().max(500).nullable().optional(),
  }),
);

export const exportUpdate = lazy(() =>
  z.object({
    filters: exportFilters(),
    requested_data: requestedData().optional(),
    workspace_id: reference.optional(),
    description: z.string().max(500).nullable().optional(),
  }),
);

export const exportRecord = lazy(() =>
  z.object({
    object: z.literal('export'),
    id: z.string(),
    organisation_id: z.string(),
    workspace_id: z.string().nullable(),
    filters: z.record(z.string(), z.unknown()),
    requested_data: z.array(z.string()),
    status: z.enum(['draft', 'in_progress', 'success', 'failed', 'stopped']),
    description: z.string().nullable(),
    error: z.string().nullable(),
    total_records: z.number(),
    progress: z.number().describe('Percent of the rows that are written'),
    created_at: timestamp,
    last_updated_at: timestamp,
    created_by: z.string(),
  }),
);
