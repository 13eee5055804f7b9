/** Lists that are short and in memory: searched and cut into pages like those of the database. */
import type { Page } from '../endpoint.ts';
import { asList } from './paging.ts';

export const heldList = <T, R>(
  items: readonly T[],
  { page, search, textsOf }: { page: Page; search: string | undefined; textsOf(item: T): readonly string[] },
  asRecord: (item: T) => R,
) => {
  const part = search?.toLowerCase() ?? '';
  const found = items.filter((item) => textsOf(item).some((text) => text.toLowerCase().includes(part)));
  return asList(found.slice(page.offset, page.offset + page.size).map(asRecord), found.length);
};
