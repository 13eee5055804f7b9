/** Organisations: making one, listing one's own, reading and changing the present one, handing it over. */
import { z } from 'zod';
import type { TrustedHosts } from '../../http/custom-host.ts';
import { ApiError, forbidden, notFound } from '../../http/errors.ts';
import { passwordOfSession, takeAlong } from '../../identity/accounts.ts';
import { type Caller, mayInOrganisation, type SessionCaller } from '../../identity/caller.ts';
import { organisationRoles } from '../../identity/roles.ts';
import { lazy } from '../../lazy.ts';
import type { Db } from '../../store/database.ts';
import { keepAnOwnerWhoComesIn } from '../auth/last-way-in.ts';
import { endpoint, type Resource } from '../kernel/endpoint.ts';
import { empty, id, reference, search } from '../kernel/fields.ts';
import { countOf, oneHoldsInAnyCase } from '../kernel/lists/list-queries.ts';
import { asList, listOf } from '../kernel/lists/paging.ts';
import { sentFields } from '../kernel/validate.ts';
import { findWorkspace } from '../kernel/workspace-lock.ts';
import { activeMember } from '../users/rules.ts';
import { checkedAddress, withVersion } from './addresses.ts';
import { createOrganisation } from './create.ts';
import { defaultsEndpoints } from './defaults-routes.ts';
import { exclusionEndpoints } from './exclusions-routes.ts';
import { propertiesEndpoints } from './properties-routes.ts';
import { organisationRow, recordOf, summaryOf } from './record.ts';
import { organisationRecord, organisationSummary } from './schema.ts';
import { settingsEndpoints } from './settings-routes.ts';
import { announceUpdate, type OrganisationChange, saveOrganisation } from './update.ts';

const tag = 'Organisations';
const name = lazy(() => z.string().trim().min(1).max(255));

/** The person behind a call that is open to sessions only. */
function personOf(caller: Caller): SessionCaller {
  if (caller.kind !== 'session') throw forbidden('Sign in to make this call');
  return caller;
}

const create = endpoint({
  method: 'POST',
  path: '/admin/organisations',
  tag,
  summary: 'Make an organisation; the caller becomes its owner',
  description:
    'The new organisation has a shared workspace and one admin key with every scope. The key is in this reply and is never shown again.',
  access: { callers: ['session'], scope: null, level: 'organisation' },
  audit: { resource: 'organisation', action: 'create' },
  throttle: 'sensitive',
  body: () => z.object({ name: name() }),
  reply: () => organisationRecord().extend({ api_key: z.object({ id: z.string(), key: z.string() }) }),
  async handle({ db, now, body, caller, services, changed, note }) {
    if (!services.settings.organisationCreation) {
      throw forbidden('Making organisations is switched off here (DISABLE_ORG_CREATION)');
    }
    const { userId, sessionId } = personOf(caller);
    const { organisationId, adminKey } = await createOrganisation(db, now, {
      name: body.name,
      ownerId: userId,
      adminKey: { prefix: services.settings.apiKeyPrefix },
    });
    await takeAlong(db, now, { userId, sessionId }, organisationId);
    changed({ topic: 'user', id: userId });
    // The trail of the new organisation begins with its making; the one that the caller came from is not concerned.
    note({
      resourceId: organisationId,
      actor: { id: userId, type: 'user', organisationId },
      details: { name: body.name },
    });
    const record = await recordOf(db, services.guardrails, organisationId);
    return { ...record, api_key: { id: adminKey.id, key: adminKey.secret } };
  },
});

const listOwn = endpoint({
  method: 'GET',
  path: '/admin/organisations',
  tag,
  summary: "List the organisations that the caller belongs to, with the caller's role in each",
  access: { callers: ['session'], scope: null, level: 'organisation' },
  query: () => z.object({ search: search('the name or the slug') }),
  paging: { size: 100, max: 1000 },
  reply: () => listOf(organisationSummary().extend({ role: z.enum(organisationRoles) })),
  async handle({ db, caller, query, page }) {
    const { userId, sessionId } = personOf(caller);
    let own = db
      .selectFrom('organisation_members as member')
      .innerJoin('organisations as organisation', 'organisation.id', 'member.organisation_id')
      .where('member.user_id', '=', userId)
      .where('member.status', '=', 'active')
      .where('organisation.status', '=', 'active');
    const part = query.search;
    if (part) {
      own = own.where((eb) => oneHoldsInAnyCase(part, eb.ref('organisation.name'), eb.ref('organisation.slug')));
    }
    const passwordHash = await passwordOfSession(db, sessionId);
    // Others may hold the same address elsewhere; a session sees what its password opens.
    if (passwordHash !== null) {
      own = own.where('member.organisation_id', 'in', (eb) =>
        eb
          .selectFrom('user_passwords')
          .select('organisation_id')
          .where('user_id', '=', userId)
          .where('password_hash', '=', passwordHash),
      );
    }
    const total = await countOf(own);
    const rows = await own
      .select([
        'organisation.id',
        'organisation.name',
        'organisation.slug',
        'organisation.default_workspace_id',
        'member.role',
      ])
      .orderBy('organisation.created_at', 'desc')
      .orderBy('organisation.id', 'desc')
      .limit(page.size)
      .offset(page.offset)
      .execute();
    return asList(
      rows.map((row) => ({ ...summaryOf(row), role: row.role })),
      total,
    );
  },
});

const read = endpoint({
  method: 'GET',
  path: '/admin/organisation',
  tag,
  summary: 'Read the organisation of the credential',
  description: 'Members without the right to read settings see its id, name, slug and default workspace.',
  access: {
    callers: ['admin-key', 'session'],
    scope: { anyOf: ['organisations.read', 'organisation_settings.read'] },
    level: 'organisation',
  },
  reply: () => z.union([organisationRecord(), organisationSummary()]),
  handle: async ({ db, caller, services }) =>
    mayInOrganisation(caller, 'organisation_settings.read')
      ? recordOf(db, services.guardrails, caller.organisationId)
      : summaryOf(await organisationRow(db, caller.organisationId)),
});

const address = lazy(() => z.string().trim().max(2048).nullable().optional());

const update = endpoint({
  method: 'PUT',
  path: '/admin/organisation',
  tag,
  summary: 'Change the organisation; what is not sent stays',
  access: { callers: ['admin-key', 'session'], scope: 'organisation_settings.update', level: 'organisation' },
  audit: { resource: 'organisation', action: 'update' },
  body: () =>
    z.object({
      name: name().optional(),
      gateway_url: address().describe('Where clients reach the gateway; `/v1` is added where it is missing'),
      mcp_gateway_url: address().describe('Where clients reach the MCP gateway'),
      kms_key_arn: z.string().trim().min(1).max(2048).nullable().optional(),
      default_jwt_workspace_id: reference
        .nullable()
        .optional()
        .describe('Id or slug of the workspace of tokens that name none; null: the default workspace'),
    }),
  reply: organisationRecord,
  async handle(call) {
    const { db, now, body, caller, services } = call;
    sentFields(body, ['name', 'gateway_url', 'mcp_gateway_url', 'kms_key_arn', 'default_jwt_workspace_id']);
    const before = await organisationRow(db, caller.organisationId);
    const change = await changeFrom(body, db, caller.organisationId, services.settings.trustedHosts);
    await saveOrganisation(db, now, caller.organisationId, change);
    announceUpdate(call, before, change);
    return recordOf(db, services.guardrails, caller.organisationId);
  },
});

interface Update {
  name?: string | undefined;
  gateway_url?: string | null | undefined;
  mcp_gateway_url?: string | null | undefined;
  kms_key_arn?: string | null | undefined;
  default_jwt_workspace_id?: string | null | undefined;
}

async function changeFrom(
  body: Update,
  db: Db,
  organisationId: string,
  trusted: TrustedHosts,
): Promise<OrganisationChange> {
  const change: OrganisationChange = {};
  if (body.name !== undefined) change.name = body.name;
  if (body.kms_key_arn !== undefined) change.kms_key_arn = body.kms_key_arn;
  if (body.gateway_url !== undefined) {
    change.gateway_url =
      body.gateway_url === null ? null : withVersion(checkedAddress('gateway_url', body.gateway_url, trusted));
  }
  if (body.mcp_gateway_url !== undefined) {
    change.mcp_gateway_url =
      body.mcp_gateway_url === null ? null : checkedAddress('mcp_gateway_url', body.mcp_gateway_url, trusted);
  }
  if (body.default_jwt_workspace_id !== undefined) {
    change.default_jwt_workspace_id =
      body.default_jwt_workspace_id === null
        ? null
        : await activeWorkspaceId(db, organisationId, body.default_jwt_workspace_id);
  }
  return change;
}

async function activeWorkspaceId(db: Db, organisationId: string, named: string): Promise<string> {
  const workspace = await findWorkspace(db, organisationId, named);
  if (workspace?.status !== 'active') throw notFound('workspace');
  return workspace.id;
}

const transferOwnership = endpoint({
  method: 'POST',
  path: '/admin/organisation/transfer-ownership',
  tag,
  summary: 'Make another member the owner in place of the caller, who becomes an admin',
  access: { callers: ['session'], scope: 'organisation_settings.update', level: 'organisation' },
  audit: { resource: 'organisation', action: 'manage' },
  throttle: 'sensitive',
  body: () => z.object({ user_id: id }),
  reply: empty,
  async handle({ db, now, body, caller, changed, note }) {
    const { userId, organisationId } = personOf(caller);
    // Read here, because the caller may have handed it over since the call was let in.
    const { role } = await activeMember(db, organisationId, userId);
    if (role !== 'owner') throw forbidden('Only an owner may hand the organisation over');
    if (body.user_id === userId) {
      throw new ApiError('AB01', 'user_id: name another member; handing over to yourself would leave no owner');
    }
    await activeMember(db, organisationId, body.user_id);
    const setRole = (who: string, role: 'owner' | 'admin') =>
      db
        .updateTable('organisation_members')
        .set({ role, last_updated_at: now.toISOString() })
        .where('organisation_id', '=', organisationId)
        .where('user_id', '=', who)
        .execute();
    await setRole(body.user_id, 'owner');
    await keepAnOwnerWhoComesIn(db, organisationId, userId);
    await setRole(userId, 'admin');
    changed({ topic: 'user', id: body.user_id }, { topic: 'user', id: userId });
    note({ resourceId: organisationId, details: { old_owner: userId, new_owner: body.user_id } });
    return {};
  },
});

export const organisationsResource: Resource = {
  name: 'organisations',
  endpoints: [
    create,
    listOwn,
    read,
    update,
    transferOwnership,
    ...settingsEndpoints,
    ...propertiesEndpoints,
    ...defaultsEndpoints,
    ...exclusionEndpoints,
  ],
};
