/** Slugs: what a reader recognises of a name, and a tail that makes it unique. */
import { randomBytes } from 'node:crypto';

export function slugOf(prefix: string, name: string): string {
  const recognisable = name
    .normalize('NFKD')
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .slice(0, 24)
    .replace(/^-+|-+$/g, '');
  return [prefix, recognisable, randomBytes(3).toString('hex')].filter((part) => part !== '').join('-');
}
