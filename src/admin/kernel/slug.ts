/** Slugs: what a reader recognises of a name, and a tail that makes it unique. */
import { randomBytes } from 'node:crypto';

export function slugOf(prefix: string, name: string, length = 24): string {
  return [prefix, recognisable(name, length), randomBytes(3).toString('hex')].filter((part) => part !== '').join('-');
}

/** What a slug shows of a name; empty for a name without a letter that a slug can hold. */
export const recognisable = (name: string, length: number): string =>
  name
    .normalize('NFKD')
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .slice(0, length)
    .replace(/^-+|-+$/g, '');
