/** The records of e-mail domains: their shape in replies, how they are found, and when a name is taken. */
import { z } from 'zod';
import { notFound } from '../../http/errors.ts';
import { lazy } from '../../lazy.ts';
import type { Db } from '../../store/database.ts';
import type { EmailDomainTable } from '../../store/schema.ts';
import { timestamp } from '../kernel/fields.ts';

export const domainPath = '/admin/organisation/email-domains';

export const reading = {
  callers: ['admin-key', 'session'],
  scope: 'organisation_settings.read',
  level: 'organisation',
} as const;
export const changing = { ...reading, scope: 'organisation_settings.update' } as const;

export const emailDomain = lazy(() =>
  z.object({
    object: z.literal('email_domain'),
    id: z.string(),
    domain: z.string(),
    allow_subdomains: z.boolean().describe('Addresses of sub-domains count too; for root domains only'),
    status: z.enum(['pending', 'verified']),
    verification_code: z
      .string()
      .nullable()
      .describe('Publish a TXT record that holds it on the domain; null once verified'),
    verified_at: timestamp.nullable(),
    created_at: timestamp,
    last_updated_at: timestamp,
  }),
);

export const asRecord = (row: EmailDomainTable) => ({
  object: 'email_domain' as const,
  id: row.id,
  domain: row.domain,
  allow_subdomains: row.allow_subdomains === 1,
  status: row.status,
  verification_code: row.status === 'pending' ? row.verification_code : null,
  verified_at: row.verified_at,
  created_at: row.created_at,
  last_updated_at: row.last_updated_at,
});

export async function findDomain(db: Db, organisationId: string, id: string): Promise<EmailDomainTable> {
  const row = await db
    .selectFrom('email_domains')
    .selectAll()
    .where('organisation_id', '=', organisationId)
    .where('id', '=', id)
    .executeTakeFirst();
  if (!row) throw notFound('e-mail domain');
  return row;
}

/** Several organisations may claim a domain; only one can verify it. */
export async function verifiedElsewhere(db: Db, organisationId: string, domain: string): Promise<boolean> {
  const row = await db
    .selectFrom('email_domains')
    .select('id')
    .where('domain', '=', domain)
    .where('status', '=', 'verified')
    .where('organisation_id', '!=', organisationId)
    .executeTakeFirst();
  return row !== undefined;
}
