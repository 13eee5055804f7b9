/** Slugs of integrations and providers: chosen by their makers, or made from the name. */
import { randomBytes } from 'node:crypto';
import { z } from 'zod';
import { lazy } from '../../lazy.ts';
import type { Db } from '../../store/database.ts';
import { recognisable, slugOf } from '../kernel/slug.ts';

const longest = 255;

export const slug = lazy(() =>
  z
    .string()
    .min(1)
    .max(longest)
    .regex(/^[a-zA-Z0-9_-]+$/, 'may hold only letters, digits, - and _')
    // A reference is an id or a slug; none may pass for the id of something else.
    .refine((text) => !z.uuid().safeParse(text).success, { message: 'must not look like an id' })
    .meta({ examples: ['openai-main'] }),
);

/** Archived ones count: a slug is never given to something else, because logs go on naming it. */
export async function isIntegrationSlugTaken(db: Db, organisationId: string, slug: string): Promise<boolean> {
  const row = await db
    .selectFrom('integrations')
    .select('id')
    .where('organisation_id', '=', organisationId)
    .where('slug', '=', slug)
    .executeTakeFirst();
  return row !== undefined;
}

export async function isProviderSlugTaken(db: Db, workspaceId: string, slug: string): Promise<boolean> {
  const row = await db
    .selectFrom('providers')
    .select('id')
    .where('workspace_id', '=', workspaceId)
    .where('slug', '=', slug)
    .executeTakeFirst();
  return row !== undefined;
}

/** The name as a slug; with a tail where another integration has it already. */
export async function newIntegrationSlug(db: Db, organisationId: string, name: string): Promise<string> {
  const plain = recognisable(name, longest) || 'integration';
  return (await isIntegrationSlugTaken(db, organisationId, plain)) ? withTail(plain) : plain;
}

export const newProviderSlug = (name: string): string => slugOf('', name, 15);

/** This slug, or one like it where the workspace has it already. */
export const freeProviderSlug = async (db: Db, workspaceId: string, wanted: string): Promise<string> =>
  (await isProviderSlugTaken(db, workspaceId, wanted)) ? withTail(wanted) : wanted;

const withTail = (slug: string): string => `${slug.slice(0, longest - 7)}-${randomBytes(3).toString('hex')}`;
