/** The filters of an export, brought into the form that lists and graphs use. */
import { z } from 'zod';
import { ApiError, invalid, invalidFields } from '../../http/errors.ts';
import type { LogFilter } from '../../logs/query.ts';
import { conditionsOf, filterShape, longestRangeMs, rangeShape } from '../logs/filters.ts';
import type { ExportFilters } from './schema.ts';

export const mostRows = 50_000;
const day = 86_400_000;

export interface ReadFilters {
  conditions: Omit<LogFilter, 'organisationId' | 'scopes'>;
  offset: number;
  limit: number;
}

export function readFilters(filters: ExportFilters, now: Date): ReadFilters {
  const { created_at, page_size, current_page, metadata, ...plain } = filters;
  const written = {
    ...Object.fromEntries(Object.entries(plain).map(([name, value]) => [name, [value].flat().join(',')])),
    ...(metadata && { metadata: JSON.stringify(metadata) }),
    ...(created_at?.gte && { time_of_generation_min: created_at.gte }),
    ...(created_at?.lte && { time_of_generation_max: created_at.lte }),
  };
  const form = z.object({ ...filterShape(), ...rangeShape }).partial();
  const parsed = form.safeParse(written);
  if (!parsed.success) {
    throw invalidFields(
      parsed.error.issues.map(({ path, message }) => ({
        location: 'body',
        path: fieldOf(String(path[0] ?? ''), filters),
        message,
      })),
    );
  }
  const query = parsed.data;
  const to = query.time_of_generation_max ? Date.parse(query.time_of_generation_max) : now.getTime() + 1;
  const from = query.time_of_generation_min ? Date.parse(query.time_of_generation_min) : to - 365 * day;
  if (from >= to) throw invalid(fieldOf('time_of_generation_max', filters), 'must lie after the start of the range');
  if (to - from > longestRangeMs) {
    throw invalid(fieldOf('time_of_generation_min', filters), 'must lie at most 366 days before the end of the range');
  }
  const limit = Math.min(mostRows, wholeNumber('page_size', page_size, 1) ?? mostRows);
  const page = wholeNumber('current_page', current_page, 0) ?? 0;
  if (page > 1_000) throw invalid('filters.current_page', 'must be at most 1000');
  return { conditions: { ...conditionsIn(query), from, to }, offset: page * limit, limit };
}

/** A filter under the name that the caller gave it. */
function fieldOf(name: string, { created_at }: ExportFilters): string {
  if (name === 'time_of_generation_min' && created_at?.gte) return 'filters.created_at.gte';
  if (name === 'time_of_generation_max' && created_at?.lte) return 'filters.created_at.lte';
  return `filters.${name}`;
}

/** What is wrong with a filter stands in the body here. */
function conditionsIn(query: Parameters<typeof conditionsOf>[0]): ReturnType<typeof conditionsOf> {
  try {
    return conditionsOf(query);
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    throw invalidFields(
      error.errors.map(({ path, message }) => ({ location: 'body', path: `filters.${path}`, message })),
    );
  }
}

function wholeNumber(name: string, value: number | string | undefined, least: number): number | null {
  if (value === undefined) return null;
  const number = Number(value);
  if (value !== '' && Number.isSafeInteger(number) && number >= least) return number;
  throw invalid(`filters.${name}`, `must be a whole number of at least ${least}`);
}
