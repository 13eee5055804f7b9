/** The filters of an export, brought into the form that lists and graphs use. */
import { z } from 'zod';
import { invalid, invalidFields } from '../../http/errors.ts';
import type { LogFilter } from '../../logs/query.ts';
import { conditionsOf, filterShape, rangeShape } from '../logs/filters.ts';
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
        path: ['filters', path[0] ?? ''].join('.'),
        message,
      })),
    );
  }
  const query = parsed.data;
  const to = query.time_of_generation_max ? Date.parse(query.time_of_generation_max) : now.getTime() + 1;
  const from = query.time_of_generation_min ? Date.parse(query.time_of_generation_min) : to - 365 * day;
  if (from >= to) throw invalid('filters.time_of_generation_max', 'must lie after time_of_generation_min');
  const limit = Math.min(mostRows, wholeNumber('page_size', page_size, 1) ?? mostRows);
  const page = wholeNumber('current_page', current_page, 0) ?? 0;
  if (page > 1_000) throw invalid('filters.current_page', 'must be at most 1000');
  return { conditions: { ...conditionsOf(query), from, to }, offset: page * limit, limit };
}

function wholeNumber(name: string, value: number | string | undefined, least: number): number | null {
  if (value === undefined) return null;
  const number = Number(value);
  if (value !== '' && Number.isSafeInteger(number) && number >= least) return number;
  throw invalid(`filters.${name}`, `must be a whole number of at least ${least}`);
}
