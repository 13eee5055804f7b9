/** E-mail domains of an organisation: which addresses single sign-on and provisioning may bring in. */
import { z } from 'zod';
import { conflict, invalid } from '../../http/errors.ts';
import { findAuthSettings } from '../../identity/auth-settings.ts';
import { digestOf, newToken } from '../../identity/secrets.ts';
import { lazy } from '../../lazy.ts';
import type { Db } from '../../store/database.ts';
import type { EmailDomainTable } from '../../store/schema.ts';
import { anOwnerComesIn, keepAWayIn } from '../auth/last-way-in.ts';
import { endpoint, type Resource } from '../kernel/endpoint.ts';
import { empty, id, search } from '../kernel/fields.ts';
import { holdsInAnyCase, newestFirst } from '../kernel/lists/list-queries.ts';
import { asList, listOf } from '../kernel/lists/paging.ts';
import type { Services } from '../kernel/services.ts';
import { queueNotice } from '../notices/outbox.ts';
import { domainName, isRoot, rootOf } from './domain-name.ts';
import { isAddressOf } from './match.ts';
import { asRecord, changing, domainPath, emailDomain, findDomain, reading, verifiedElsewhere } from './records.ts';
import { verifyDomain } from './verify.ts';

const tag = 'E-mail domains';
const params = lazy(() => z.object({ emailDomainId: id }));

const listDomains = endpoint({
  method: 'GET',
  path: domainPath,
  tag,
  summary: 'List the e-mail domains of the organisation',
  access: reading,
  query: () => z.object({ search: search('the domain') }),
  paging: { size: 100, max: 1000 },
  reply: () => listOf(emailDomain()),
  async handle({ caller, query, page, db }) {
    const all = db.selectFrom('email_domains').where('organisation_id', '=', caller.organisationId);
    const part = query.search;
    const own = part === undefined ? all : all.where((eb) => holdsInAnyCase(eb.ref('domain'), part));
    const { rows, total } = await newestFirst(own, page);
    return asList(rows.map(asRecord), total);
  },
});

const addDomain = endpoint({
  method: 'POST',
  path: domainPath,
  tag,
  summary: 'Claim an e-mail domain',
  description: 'It counts once it is verified. Owners and admins are told by mail.',
  access: changing,
  throttle: 'sensitive',
  audit: { resource: 'organisation', action: 'create' },
  body: () => z.object({ domain: domainName(), allow_subdomains: z.boolean().default(false) }),
  reply: emailDomain,
  async handle({ caller, body, db, now, services, note }) {
    const { organisationId } = caller;
    if (body.allow_subdomains) requireRoot(body.domain);
    const own = await db
      .selectFrom('email_domains')
      .select('id')
      .where('organisation_id', '=', organisationId)
      .where('domain', '=', body.domain)
      .executeTakeFirst();
    if (own) throw conflict(`${body.domain} is in the list already`);
    if (await verifiedElsewhere(db, organisationId, body.domain)) {
      throw conflict(`${body.domain} was verified by another organisation`);
    }
    const mailedCode = newToken();
    const at = now.toISOString();
    const row: EmailDomainTable = {
      id: Bun.randomUUIDv7(),
      organisation_id: organisationId,
      domain: body.domain,
      allow_subdomains: body.allow_subdomains ? 1 : 0,
      status: 'pending',
      verification_code: newToken(),
      mailed_code_digest: digestOf(mailedCode),
      verified_at: null,
      created_at: at,
      last_updated_at: at,
    };
    await db.insertInto('email_domains').values(row).execute();
    await tellAdministrators(db, services, now, row, mailedCode);
    note({ resourceId: row.id, details: { domain: row.domain, allow_subdomains: body.allow_subdomains } });
    return asRecord(row);
  },
});

const changeDomain = endpoint({
  method: 'PUT',
  path: `${domainPath}/:emailDomainId`,
  tag,
  summary: 'Let addresses of sub-domains in, or no longer',
  access: changing,
  audit: { resource: 'organisation', action: 'update' },
  params,
  body: () => z.object({ allow_subdomains: z.boolean() }),
  reply: emailDomain,
  async handle({ caller, params, body, db, now, note }) {
    const row = await findDomain(db, caller.organisationId, params.emailDomainId);
    if (body.allow_subdomains) requireRoot(row.domain);
    const changed: EmailDomainTable = {
      ...row,
      allow_subdomains: body.allow_subdomains ? 1 : 0,
      last_updated_at: now.toISOString(),
    };
    const cameIn = await anOwnerComesIn(db, caller.organisationId);
    await db.updateTable('email_domains').set(changed).where('id', '=', row.id).execute();
    if (cameIn && !(await anOwnerComesIn(db, caller.organisationId))) {
      await keepAWayIn(db, caller.organisationId, 'allow_subdomains', 'lets the last owner in');
    }
    note({
      details: {
        domain: row.domain,
        allow_subdomains: { old: row.allow_subdomains === 1, new: body.allow_subdomains },
      },
    });
    return asRecord(changed);
  },
});

const removeDomain = endpoint({
  method: 'DELETE',
  path: `${domainPath}/:emailDomainId`,
  tag,
  summary: 'Give up an e-mail domain',
  description: 'People with addresses of this domain stay.',
  access: changing,
  audit: { resource: 'organisation', action: 'delete' },
  params,
  reply: empty,
  async handle({ caller, params, db, note }) {
    const { organisationId } = caller;
    const row = await findDomain(db, organisationId, params.emailDomainId);
    const cameIn = await anOwnerComesIn(db, organisationId);
    await db.deleteFrom('email_domains').where('id', '=', row.id).execute();
    const isLast = row.status === 'verified' && !(await hasVerifiedDomain(db, organisationId));
    // Single sign-on lets only addresses of verified domains in.
    if (isLast && (await findAuthSettings(db, organisationId)).sso !== null) {
      await keepAWayIn(db, organisationId, 'emailDomainId', 'is the last domain that single sign-on lets in');
    }
    if (cameIn && !(await anOwnerComesIn(db, organisationId))) {
      await keepAWayIn(db, organisationId, 'emailDomainId', 'is the last domain that lets an owner in');
    }
    note({ details: { domain: row.domain, status: row.status } });
    return {};
  },
});

async function hasVerifiedDomain(db: Db, organisationId: string): Promise<boolean> {
  const row = await db
    .selectFrom('email_domains')
    .select('id')
    .where('organisation_id', '=', organisationId)
    .where('status', '=', 'verified')
    .limit(1)
    .executeTakeFirst();
  return row !== undefined;
}

function requireRoot(domain: string): void {
  if (!isRoot(domain)) {
    throw invalid('allow_subdomains', `is for root domains only; ${domain} lies below ${rootOf(domain)}`);
  }
}

/** The code that can be typed in goes only to mailboxes of the domain: reading one of them is what it proves. */
async function tellAdministrators(
  db: Db,
  { vault }: Services,
  now: Date,
  { organisation_id, domain, verification_code }: EmailDomainTable,
  mailedCode: string,
): Promise<void> {
  const people = await db
    .selectFrom('organisation_members as member')
    .innerJoin('users as user', 'user.id', 'member.user_id')
    .innerJoin('organisations as organisation', 'organisation.id', 'member.organisation_id')
    .select(['user.email', 'organisation.name'])
    .where('member.organisation_id', '=', organisation_id)
    .where('member.status', '=', 'active')
    .where('member.role', 'in', ['owner', 'admin'])
    .execute();
  const organisationName = people[0]?.name ?? '';
  const groups = Map.groupBy(people, (person) => isAddressOf(domain, person.email));
  for (const [inside, group] of groups) {
    await queueNotice(db, vault, now, {
      organisationId: organisation_id,
      template: 'domain-verification-alert',
      recipients: group.map((person) => person.email),
      fields: {
        organisationName,
        domain,
        verificationCode: inside ? mailedCode : verification_code,
        method: inside ? 'code' : 'dns',
      },
    });
  }
}

export const emailDomainsResource: Resource = {
  name: 'email-domains',
  endpoints: [listDomains, addDomain, changeDomain, verifyDomain, removeDomain],
};
