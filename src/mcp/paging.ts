/** Pages of lists that the gateway has filtered: cut anew, so that no page is empty because of what is hidden. */
import { McpError } from './errors.ts';

const pageSize = 500;

export function pageOf<T>(items: readonly T[], cursor: unknown): { page: readonly T[]; nextCursor: string | null } {
  const start = cursor === undefined ? 0 : startIn(cursor);
  if (start > items.length) throw new McpError('invalid_params', 'params.cursor is none of this list');
  const end = start + pageSize;
  return {
    page: items.slice(start, end),
    nextCursor: end < items.length ? Buffer.from(`gw:${end}`).toString('base64url') : null,
  };
}

function startIn(cursor: unknown): number {
  const text = typeof cursor === 'string' ? Buffer.from(cursor, 'base64url').toString() : '';
  const start = /^gw:(\d{1,9})$/.exec(text)?.[1];
  if (start === undefined) throw new McpError('invalid_params', 'params.cursor is none of this list');
  return Number(start);
}
