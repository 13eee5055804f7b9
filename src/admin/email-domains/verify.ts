/** Proof that an organisation controls a domain: a TXT record with a code, or a code that a mailbox of the domain received. */
import { z } from 'zod';
import { conflict, invalid, notFound } from '../../http/errors.ts';
import { digestOf } from '../../identity/secrets.ts';
import type { EmailDomainTable } from '../../store/schema.ts';
import { endpoint } from '../kernel/endpoint.ts';
import type { Services } from '../kernel/services.ts';
import { asRecord, changing, domainPath, emailDomain, findDomain, verifiedElsewhere } from './records.ts';

export const verifyDomain = endpoint({
  method: 'POST',
  path: `${domainPath}/:emailDomainId/verify`,
  tag: 'E-mail domains',
  summary: 'Prove that the organisation controls a domain',
  description:
    '`dns`: the domain has a TXT record that holds `verification_code`. `code`: `code` is the one that the mail to the ' +
    'owners and admins with an address in this domain carried; it differs from `verification_code`.',
  access: changing,
  throttle: 'sensitive',
  audit: { resource: 'organisation', action: 'update' },
  atomic: false,
  params: () => z.object({ emailDomainId: z.uuid() }),
  body: () =>
    z.discriminatedUnion('method', [
      z.object({ method: z.literal('dns') }),
      z.object({ method: z.literal('code'), code: z.string().trim().min(1).max(100) }),
    ]),
  reply: emailDomain,
  async handle({ caller, params, body, services, now, commit, note }) {
    const { organisationId } = caller;
    const row = await findDomain(services.store.db, organisationId, params.emailDomainId);
    if (row.status === 'verified') return asRecord(row);
    if (body.method === 'dns') await requireTxtRecord(services, row);
    else if (digestOf(body.code) !== row.mailed_code_digest) throw invalid('code', 'is not the code from the mail');

    const verified = await commit(async (tx) => {
      if (await verifiedElsewhere(tx, organisationId, row.domain)) {
        throw conflict(`${row.domain} was verified by another organisation`);
      }
      const at = now.toISOString();
      const changed = await tx
        .updateTable('email_domains')
        .set({ status: 'verified', verified_at: at, last_updated_at: at })
        .where('id', '=', row.id)
        .returningAll()
        .executeTakeFirst();
      // Looking up a name takes time enough for someone to remove it.
      if (!changed) throw notFound('e-mail domain');
      note({ resourceId: row.id, details: { domain: row.domain, status: 'verified', method: body.method } });
      return changed;
    });
    return asRecord(verified);
  },
});

async function requireTxtRecord(services: Services, row: EmailDomainTable): Promise<void> {
  let records: string[][];
  try {
    records = await services.resolveTxt(row.domain);
  } catch (error) {
    const reason = error instanceof Error && 'code' in error ? String(error.code) : 'no answer';
    throw invalid('method', `${row.domain} shows no TXT record yet (${reason}); try again once it is published`);
  }
  if (!records.some((pieces) => pieces.join('').includes(row.verification_code))) {
    throw invalid('method', `no TXT record of ${row.domain} holds the verification code yet; try again later`);
  }
}
