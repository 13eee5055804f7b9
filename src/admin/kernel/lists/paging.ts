/** Pages of lists: the parameters in all their spellings, and the envelope of the reply. */
import { z } from 'zod';
import { invalidQuery } from '../../../http/errors.ts';
import type { Page, Paging } from '../endpoint.ts';

const indexNames = ['current_page', 'currentPage', 'page'] as const;
const sizeNames = ['page_size', 'pageSize'] as const;
const largestIndex = 1_000_000;

export function readPage(query: URLSearchParams, paging: Paging): Page {
  const first = paging.first ?? 0;
  const index = wholeNumber(query, indexNames, first);
  const size = wholeNumber(query, sizeNames, paging.allowZero ? 0 : 1);
  const rows = Math.min(size?.value ?? paging.size, paging.max);
  const page = (index?.value ?? first) - first;
  if (index && page > largestIndex) throw invalidQuery(index.name, `must be at most ${largestIndex}`);
  return { index: page, size: rows, offset: page * rows };
}

function wholeNumber(query: URLSearchParams, names: readonly string[], least: number) {
  for (const name of names) {
    const text = query.get(name);
    if (text === null) continue;
    const value = Number(text);
    if (text.trim() === '' || !Number.isSafeInteger(value) || value < least) {
      throw invalidQuery(name, `must be a whole number of at least ${least}`);
    }
    return { name, value };
  }
  return null;
}

/** The default envelope of a list. */
export const listOf = <T extends z.ZodType>(record: T) =>
  z.object({
    object: z.literal('list'),
    total: z.number().describe('All matches, not only this page'),
    data: z.array(record),
  });

export const asList = <T>(data: T[], total: number) => ({ object: 'list' as const, total, data });
