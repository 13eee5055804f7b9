/** The parameters of a list: filter, sort order and page, from the query or from the body of `/.search`. */
import { z } from 'zod';
import type { UserQuery } from '../users/find.ts';
import type { ResourceKind } from './attributes.ts';
import { invalidSyntax, invalidValue } from './errors.ts';
import { attributePath, parseFilter } from './filter.ts';
import { type Projection, projectionOf } from './projection.ts';
import { mostResults } from './schemas.ts';

const usual = 100;

interface Parameters {
  filter: string | null;
  sortBy: string | null;
  sortOrder: string | null;
  startIndex: string | null;
  count: string | null;
  attributes: string | null;
  excludedAttributes: string | null;
}

export interface ListQuery {
  query: UserQuery;
  startIndex: number;
  projection: Projection;
}

export const parametersOf = (query: URLSearchParams): Parameters => parametersBy((name) => query.get(name));

const parametersBy = (sent: (name: keyof Parameters) => string | null): Parameters => ({
  filter: sent('filter'),
  sortBy: sent('sortBy'),
  sortOrder: sent('sortOrder'),
  startIndex: sent('startIndex'),
  count: sent('count'),
  attributes: sent('attributes'),
  excludedAttributes: sent('excludedAttributes'),
});

const list = z.union([z.string().max(10_000), z.array(z.string().max(255)).max(100)]).transform(String);
const searchSchema = z.object({
  filter: z.string().max(10_000).optional(),
  sortBy: z.string().max(255).optional(),
  sortOrder: z.string().max(20).optional(),
  startIndex: z.int().optional(),
  count: z.int().optional(),
  attributes: list.optional(),
  excludedAttributes: list.optional(),
});

export function searchParameters(body: unknown): Parameters {
  const parsed = searchSchema.safeParse(body);
  if (!parsed.success) throw invalidSyntax('Send the parameters of a search as an object');
  return parametersBy((name) => parsed.data[name]?.toString() ?? null);
}

export function listQuery(kind: ResourceKind, sent: Parameters, isSortable: (name: string) => boolean): ListQuery {
  const startIndex = Math.max(1, wholeNumber('startIndex', sent.startIndex, 1));
  const size = Math.min(mostResults, Math.max(0, wholeNumber('count', sent.count, usual)));
  const sortBy = sent.sortBy ? sortName(kind, sent.sortBy) : null;
  if (sortBy !== null && !isSortable(sortBy)) throw invalidValue(`Nothing can be sorted by ${sent.sortBy}`);
  return {
    query: {
      filter: sent.filter === null || sent.filter.trim() === '' ? null : parseFilter(sent.filter),
      sortBy,
      descending: sent.sortOrder?.toLowerCase() === 'descending',
      offset: startIndex - 1,
      size,
      schema: kind.schema,
    },
    startIndex,
    projection: projectionOf(kind, sent.attributes, sent.excludedAttributes),
  };
}

function sortName(kind: ResourceKind, text: string): string {
  const { urn, name, sub } = attributePath(text);
  if (urn !== null && urn !== kind.schema.toLowerCase()) throw invalidValue(`Nothing can be sorted by ${text}`);
  return sub === null ? name : `${name}.${sub}`;
}

function wholeNumber(name: string, text: string | null, fallback: number): number {
  if (text === null || text.trim() === '') return fallback;
  const value = Number(text);
  if (!Number.isSafeInteger(value)) throw invalidValue(`${name} must be a whole number`);
  return Math.min(value, 1_000_000_000);
}
