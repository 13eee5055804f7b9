/** Slugs of MCP integrations and servers: chosen by their makers, or made from the name. Both are unique in an organisation. */
import { randomBytes } from 'node:crypto';
import type { Db } from '../../store/database.ts';
import { recognisable } from '../kernel/slug.ts';
import { reservedSlugs } from './schema.ts';

const longestServerSlug = 50;

/** Archived ones count: a slug is never given to something else, because logs go on naming it. */
export async function isMcpIntegrationSlugTaken(db: Db, organisationId: string, slug: string): Promise<boolean> {
  const row = await db
    .selectFrom('mcp_integrations')
    .select('id')
    .where('organisation_id', '=', organisationId)
    .where('slug', '=', slug)
    .executeTakeFirst();
  return row !== undefined;
}

export async function isMcpServerSlugTaken(db: Db, organisationId: string, slug: string): Promise<boolean> {
  const row = await db
    .selectFrom('mcp_servers')
    .select('id')
    .where('organisation_id', '=', organisationId)
    .where('slug', '=', slug)
    .executeTakeFirst();
  return row !== undefined;
}

export async function newMcpIntegrationSlug(db: Db, organisationId: string, name: string): Promise<string> {
  const plain = readable(name, 200);
  return (await isMcpIntegrationSlugTaken(db, organisationId, plain)) ? withTail(plain) : plain;
}

/** `wanted`, or one like it where the organisation has it already. */
export async function freeMcpServerSlug(db: Db, organisationId: string, wanted: string): Promise<string> {
  const plain = wanted.length < 3 ? `${wanted}-mcp` : wanted.slice(0, longestServerSlug);
  return (await isMcpServerSlugTaken(db, organisationId, plain)) ? withTail(plain) : plain;
}

export const newMcpServerSlug = (db: Db, organisationId: string, name: string): Promise<string> =>
  freeMcpServerSlug(db, organisationId, readable(name, longestServerSlug - 5));

function readable(name: string, length: number): string {
  const plain = recognisable(name, length);
  return plain === '' || reservedSlugs.has(plain) ? `${plain}${plain && '-'}mcp-server` : plain;
}

const withTail = (slug: string): string => `${slug.slice(0, longestServerSlug - 5)}-${randomBytes(2).toString('hex')}`;
