/** The filters that lists, graphs, groups and exports of calls share, as callers write them. */

import { z } from 'zod';
import { readJson } from '../../bounded-json.ts';
import { dateTime } from '../../date-time.ts';
import { invalidQuery } from '../../http/errors.ts';
import { lazy } from '../../lazy.ts';
import type { LogFilter, Range } from '../../logs/query.ts';
import { commaList } from '../kernel/fields.ts';

const word = z.string().min(1).max(255);
const words = lazy(() => commaList(word));
/** As long as the gateway keeps them. */
const traceWords = lazy(() => commaList(z.string().min(1).max(512)));
const units = lazy(() => z.coerce.number().int().min(0).max(Number.MAX_SAFE_INTEGER));
const cents = lazy(() => z.coerce.number().min(0).max(1e12));
const score = lazy(() => z.coerce.number().min(-10).max(10));
const orgAndModel = '`provider__model`, or `provider__` for all models of a provider; separated by commas';

/** The query parameters, besides those of the range of time. */
export const filterShape = lazy(() => ({
  workspace_slug: z
    .string()
    .max(255)
    .optional()
    .describe('A workspace by its slug; without one, every workspace that the caller may see'),
  workspace_id: z.string().max(255).optional().describe('The same by its id'),
  total_units_min: units().optional(),
  total_units_max: units().optional(),
  prompt_token_min: units().optional(),
  prompt_token_max: units().optional(),
  completion_token_min: units().optional(),
  completion_token_max: units().optional(),
  cost_min: cents().optional().describe('In US cents'),
  cost_max: cents().optional().describe('In US cents'),
  weighted_feedback_min: score().optional(),
  weighted_feedback_max: score().optional(),
  status_code: commaList(
    z.string().regex(/^\d{3}$/, 'must be status codes of three digits, separated by commas'),
  ).optional(),
  virtual_keys: words().optional(),
  configs: words().optional(),
  trace_id: traceWords().optional(),
  span_id: traceWords().optional(),
  prompt_slug: words().optional(),
  mcp_servers: words().optional().describe('Slugs of MCP servers'),
  mcp_methods: words().optional(),
  mcp_tools: words().optional(),
  api_key_ids: commaList(z.uuid()).optional(),
  ai_model: words().optional(),
  ai_org_model: commaList(z.string().max(512).regex(/^.+__/, `must be ${orgAndModel}`))
    .optional()
    .describe(orgAndModel),
  metadata: z.string().max(8_192).optional().describe('A JSON object of texts; a call matches that has every pair'),
}));

export const rangeShape = {
  time_of_generation_min: dateTime.describe('The start of the range'),
  time_of_generation_max: dateTime.describe('The end of the range, which does not belong to it'),
};

type FilterQuery = z.output<z.ZodObject<ReturnType<typeof filterShape>>>;

const day = 86_400_000;
/** Rows are kept for a year as a rule; a longer range is a mistake. */
export const longestRangeMs = 366 * day;

/** Refuses a range that ends before it begins or is longer than the store remembers. */
export function requireRange(from: number, to: number): void {
  if (from >= to) throw invalidQuery('time_of_generation_max', 'must lie after time_of_generation_min');
  if (to - from > longestRangeMs)
    throw invalidQuery('time_of_generation_min', 'must lie at most 366 days before time_of_generation_max');
}

/** The conditions of a query, without those of time and visibility. */
export function conditionsOf(query: FilterQuery): Omit<LogFilter, 'organisationId' | 'scopes' | 'from' | 'to'> {
  const values = {
    ...(query.status_code && { response_status_code: query.status_code }),
    ...(query.virtual_keys && { virtual_key: query.virtual_keys.map((slug) => slug.replace(/^@/, '')) }),
    ...(query.configs && { config: query.configs }),
    ...(query.prompt_slug && { prompt_slug: query.prompt_slug }),
    ...(query.mcp_servers && { mcp_server: query.mcp_servers }),
    ...(query.mcp_methods && { mcp_method: query.mcp_methods }),
    ...(query.mcp_tools && { mcp_tool: query.mcp_tools }),
    ...(query.api_key_ids && { api_key_id: query.api_key_ids.map((id) => id.toLowerCase()) }),
    ...(query.ai_model && { ai_model: query.ai_model }),
  };
  const ranges = {
    ...named('total_units', rangeOf('total_units', query.total_units_min, query.total_units_max)),
    ...named('req_units', rangeOf('prompt_token', query.prompt_token_min, query.prompt_token_max)),
    ...named('res_units', rangeOf('completion_token', query.completion_token_min, query.completion_token_max)),
    ...named('cost', rangeOf('cost', query.cost_min, query.cost_max)),
  };
  return {
    values,
    ranges,
    ...named('feedback', rangeOf('weighted_feedback', query.weighted_feedback_min, query.weighted_feedback_max)),
    ...(query.trace_id && { traceIds: query.trace_id }),
    ...(query.span_id && { spanIds: query.span_id }),
    ...(query.ai_org_model && { models: query.ai_org_model.map(modelOf) }),
    ...(query.metadata && { metadata: metadataOf(query.metadata) }),
  };
}

const named = <N extends string>(name: N, range: Range | null): Partial<Record<N, Range>> =>
  range ? ({ [name]: range } as Record<N, Range>) : {};

function rangeOf(name: string, min: number | undefined, max: number | undefined): Range | null {
  if (min === undefined && max === undefined) return null;
  if (min !== undefined && max !== undefined && min > max) {
    throw invalidQuery(`${name}_max`, `must not be less than ${name}_min`);
  }
  return { ...(min !== undefined && { min }), ...(max !== undefined && { max }) };
}

function modelOf(text: string): { org: string; model: string | null } {
  const at = text.indexOf('__');
  return { org: text.slice(0, at), model: text.slice(at + 2) || null };
}

const pairs = lazy(() => z.record(z.string().min(1).max(128), z.string().max(1024)));

function metadataOf(text: string): Record<string, string> {
  let value: unknown;
  try {
    value = readJson(text);
  } catch {
    throw invalidQuery('metadata', 'must be a JSON object');
  }
  const parsed = pairs().safeParse(value);
  if (!parsed.success || Object.keys(parsed.data).length > 16) {
    throw invalidQuery('metadata', 'must be a JSON object of at most 16 texts');
  }
  return parsed.data;
}
