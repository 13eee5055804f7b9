/** Slugs of integrations and servers: chosen by their makers, or made from the name. Both are unique in an organisation. */
import { randomBytes } from 'node:crypto';
import type { Db } from '../../store/database.ts';
import { recognisable } from '../kernel/slug.ts';
import type { Family } from './family.ts';
import { reservedSlugs } from './schema.ts';

const longestServerSlug = 50;

/** Archived ones count: a slug is never given to something else, because logs go on naming it. */
async function isTaken(
  db: Db,
  table: Family['integrations'] | Family['servers'],
  organisationId: string,
  slug: string,
): Promise<boolean> {
  const row = await db
    .selectFrom(table)
    .select('id')
    .where('organisation_id', '=', organisationId)
    .where('slug', '=', slug)
    .executeTakeFirst();
  return row !== undefined;
}

export const isIntegrationSlugTaken = (family: Family, db: Db, organisationId: string, slug: string) =>
  isTaken(db, family.integrations, organisationId, slug);

export const isServerSlugTaken = (family: Family, db: Db, organisationId: string, slug: string) =>
  isTaken(db, family.servers, organisationId, slug);

export async function newIntegrationSlug(
  family: Family,
  db: Db,
  organisationId: string,
  name: string,
): Promise<string> {
  const plain = readable(family, name, 200);
  return (await isIntegrationSlugTaken(family, db, organisationId, plain)) ? withTail(plain) : plain;
}

/** `wanted`, or one like it where the organisation has it already. */
export async function freeServerSlug(family: Family, db: Db, organisationId: string, wanted: string): Promise<string> {
  const plain = wanted.length < 3 ? `${wanted}-${family.scope}` : wanted.slice(0, longestServerSlug);
  return (await isServerSlugTaken(family, db, organisationId, plain)) ? withTail(plain) : plain;
}

export const newServerSlug = (family: Family, db: Db, organisationId: string, name: string): Promise<string> =>
  freeServerSlug(family, db, organisationId, readable(family, name, longestServerSlug - 5));

function readable({ scope }: Family, name: string, length: number): string {
  const plain = recognisable(name, length);
  return plain === '' || reservedSlugs.has(plain) ? `${plain}${plain && '-'}${scope}-server` : plain;
}

const withTail = (slug: string): string => `${slug.slice(0, longestServerSlug - 5)}-${randomBytes(2).toString('hex')}`;
