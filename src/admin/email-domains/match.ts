/** Which organisation an e-mail address belongs to, by the domains that organisations have verified. */
import type { Db } from '../../store/database.ts';

/** The exact domain counts first; above it, the nearest domain that lets its sub-domains in. Null when nobody owns it. */
export async function organisationOfAddress(db: Db, address: string): Promise<string | null> {
  const host = address.slice(address.lastIndexOf('@') + 1).toLowerCase();
  const labels = host.split('.');
  const candidates = labels.map((_, start) => labels.slice(start).join('.'));
  const rows = await db
    .selectFrom('email_domains')
    .select(['organisation_id', 'domain', 'allow_subdomains'])
    .where('status', '=', 'verified')
    .where('domain', 'in', candidates)
    .execute();
  const [nearest] = rows
    .filter((row) => row.domain === host || row.allow_subdomains === 1)
    .sort((a, b) => b.domain.length - a.domain.length);
  return nearest?.organisation_id ?? null;
}

/** True when a mailbox of this address is one of the domain itself. */
export const isAddressOf = (domain: string, address: string): boolean => address.endsWith(`@${domain}`);
