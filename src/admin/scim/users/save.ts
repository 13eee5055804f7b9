/** Writes what the identity provider says about a person: account, membership, role, and the end of them. */
import { proveAddress } from '../../../identity/accounts.ts';
import type { OrganisationRole } from '../../../identity/roles.ts';
import { recordKeysGone } from '../../api-keys/events.ts';
import { organisationOfAddress } from '../../email-domains/match.ts';
import { folded } from '../../kernel/lists/list-queries.ts';
import { insertUser, joinOrganisation, leaveOrganisation } from '../../users/membership.ts';
import { keepAnOwner } from '../../users/rules.ts';
import type { ScimContext } from '../context.ts';
import { syncMemberships } from '../memberships.ts';
import { invalidValue, notUnique } from '../protocol/errors.ts';
import type { ScimUser } from './find.ts';
import { setGroupsOfUser } from './groups.ts';
import type { UserInput } from './resource.ts';

/** Makes a person, brings an archived one back, or adds one of another organisation; answers the id. */
export async function createScimUser(context: ScimContext, input: UserInput): Promise<string> {
  const { db, now, organisationId } = context;
  const known = await db.selectFrom('users').select('id').where('email', '=', input.email).executeTakeFirst();
  const member = known && (await membership(context, known.id));
  if (member?.status === 'active') throw notUnique(`${input.email} belongs to this organisation already`);
  await requireOwnDomain(context, input.email);
  await requireFreeName(context, input.userName, known?.id ?? null);
  const { firstName, lastName } = input;
  const id = known?.id ?? (await insertUser(db, now, { email: input.email, firstName, lastName }));
  if (known && (firstName || lastName)) await rename(context, id, input);
  // Whoever runs the domain of an address says whose it is.
  await proveAddress(db, now, id);
  const role = input.role ?? 'member';
  context.changed(await joinOrganisation(db, now, { organisationId, userId: id, role, provisionedBy: 'scim' }));
  await storeRecord(context, id, input);
  if (input.active === false) context.changed(...(await leaveOrganisation(db, now, organisationId, id)));
  await settleGroups(context, id, input);
  return id;
}

export async function updateScimUser(context: ScimContext, user: ScimUser, input: UserInput): Promise<void> {
  const { db, now, organisationId } = context;
  await requireFreeName(context, input.userName, user.id);
  const isRenamed = input.firstName !== user.firstName || input.lastName !== user.lastName;
  if (input.email !== user.email) await changeAddress(context, user, input.email);
  else if (isRenamed) await requireOwnDomain(context, user.email);
  if (isRenamed) await rename(context, user.id, input);

  const role = input.role ?? user.role;
  const active = input.active ?? user.active;
  const member = { userId: user.id, role: user.role, email: user.email };
  if (user.active && (!active || role !== 'owner')) await keepAnOwner(db, organisationId, member);
  if (active && !user.active) {
    context.changed(await joinOrganisation(db, now, { organisationId, userId: user.id, role, provisionedBy: 'scim' }));
  } else {
    await setRole(context, user.id, role);
  }
  if (user.active && !active) await deactivate(context, user.id);
  await storeRecord(context, user.id, input);
  context.changed({ topic: 'user', id: user.id });
  await settleGroups(context, user.id, input);
}

/** The person leaves the organisation and is unknown to SCIM until they are created again. */
export async function deleteScimUser(context: ScimContext, user: ScimUser): Promise<void> {
  const { db, now, organisationId } = context;
  if (user.active) {
    await keepAnOwner(db, organisationId, { userId: user.id, role: user.role, email: user.email });
    await deactivate(context, user.id);
  }
  const at = now.toISOString();
  const gone = { user_name_folded: null, deleted: 1 as const, last_updated_at: at };
  await db
    .insertInto('scim_users')
    .values({
      organisation_id: organisationId,
      user_id: user.id,
      user_name: user.record?.userName ?? user.email,
      external_id: null,
      display_name: null,
      title: null,
      roles_given: 0,
      created_at: at,
      ...gone,
    })
    .onConflict((conflict) => conflict.columns(['organisation_id', 'user_id']).doUpdateSet(gone))
    .execute();
  await db
    .deleteFrom('scim_group_members')
    .where('user_id', '=', user.id)
    .where('group_id', 'in', (eb) =>
      eb.selectFrom('scim_groups').select('id').where('organisation_id', '=', organisationId),
    )
    .execute();
  await syncMemberships(context, [user.id]);
}

/** Membership, workspaces, keys and sessions end together. */
async function deactivate(context: ScimContext, userId: string): Promise<void> {
  const { db, services, now, organisationId } = context;
  const changes = await leaveOrganisation(db, now, organisationId, userId);
  await recordKeysGone(db, services, now, changes);
  context.changed(...changes);
}

/** Where the settings say so, an archived person who is listed in a group comes back with the role that they had. */
export async function reactivateListed(context: ScimContext, userIds: readonly string[]): Promise<string[]> {
  if (!context.settings.groupBasedUserProvisioning) return [];
  const { db, now, organisationId } = context;
  const back: string[] = [];
  for (const userId of userIds) {
    const member = await membership(context, userId);
    if (member?.status !== 'archived') continue;
    const { role } = member;
    context.changed(await joinOrganisation(db, now, { organisationId, userId, role, provisionedBy: 'scim' }));
    back.push(userId);
  }
  return back;
}

async function membership({ db, organisationId }: ScimContext, userId: string) {
  return db
    .selectFrom('organisation_members')
    .select(['status', 'role'])
    .where('organisation_id', '=', organisationId)
    .where('user_id', '=', userId)
    .executeTakeFirst();
}

async function requireOwnDomain({ db, organisationId }: ScimContext, address: string): Promise<void> {
  if ((await organisationOfAddress(db, address)) === organisationId) return;
  throw invalidValue(`${address} is no address of a domain that this organisation has verified`);
}

/** Names are looked up in small letters, and a member without a record is known by the address. */
async function requireFreeName({ db, organisationId }: ScimContext, name: string, ownId: string | null): Promise<void> {
  const wanted = folded(name);
  const taken = await db
    .selectFrom('organisation_members as member')
    .innerJoin('users as person', 'person.id', 'member.user_id')
    .leftJoin('scim_users as scim', (join) =>
      join.onRef('scim.organisation_id', '=', 'member.organisation_id').onRef('scim.user_id', '=', 'member.user_id'),
    )
    .select('member.user_id')
    .where('member.organisation_id', '=', organisationId)
    .where((eb) =>
      eb(
        'member.user_id',
        'in',
        eb
          .selectFrom('scim_users')
          .select('user_id')
          .where('organisation_id', '=', organisationId)
          .where('user_name_folded', '=', wanted)
          .unionAll(eb.selectFrom('users').select('id as user_id').where('email', '=', wanted)),
      ),
    )
    .where((eb) =>
      eb.or([
        eb('scim.user_name_folded', '=', wanted),
        eb.and([eb('scim.user_id', 'is', null), eb('person.email', '=', wanted)]),
      ]),
    )
    .execute();
  if (taken.some((row) => row.user_id !== ownId)) throw notUnique(`The userName ${name} is taken`);
}

/** An account may belong to other organisations too, so both addresses must be ours to speak for. */
async function changeAddress(context: ScimContext, user: ScimUser, address: string): Promise<void> {
  const { db, now } = context;
  await requireOwnDomain(context, user.email);
  await requireOwnDomain(context, address);
  const taken = await db.selectFrom('users').select('id').where('email', '=', address).executeTakeFirst();
  if (taken) throw notUnique(`${address} is the address of another person`);
  await db
    .updateTable('users')
    .set({ email: address, last_updated_at: now.toISOString() })
    .where('id', '=', user.id)
    .execute();
}

async function rename({ db, now }: ScimContext, id: string, { firstName, lastName }: UserInput): Promise<void> {
  await db
    .updateTable('users')
    .set({ first_name: firstName, last_name: lastName, last_updated_at: now.toISOString() })
    .where('id', '=', id)
    .execute();
}

async function setRole({ db, now, organisationId }: ScimContext, id: string, role: OrganisationRole): Promise<void> {
  await db
    .updateTable('organisation_members')
    .set({ role, last_updated_at: now.toISOString() })
    .where('organisation_id', '=', organisationId)
    .where('user_id', '=', id)
    .execute();
}

async function storeRecord({ db, now, organisationId }: ScimContext, id: string, input: UserInput): Promise<void> {
  const at = now.toISOString();
  const columns = {
    user_name: input.userName,
    user_name_folded: folded(input.userName),
    external_id: input.externalId,
    display_name: input.displayName,
    title: input.title,
    roles_given: input.rolesGiven ? (1 as const) : (0 as const),
    deleted: 0 as const,
    last_updated_at: at,
  };
  await db
    .insertInto('scim_users')
    .values({ organisation_id: organisationId, user_id: id, created_at: at, ...columns })
    .onConflict((conflict) => conflict.columns(['organisation_id', 'user_id']).doUpdateSet(columns))
    .execute();
  await db
    .deleteFrom('scim_user_emails')
    .where('organisation_id', '=', organisationId)
    .where('user_id', '=', id)
    .execute();
  await db
    .insertInto('scim_user_emails')
    .values(
      input.emails.map(({ value, type, primary }, position) => ({
        organisation_id: organisationId,
        user_id: id,
        position,
        value,
        value_folded: folded(value),
        type: type ?? null,
        is_primary: primary === undefined ? null : primary ? (1 as const) : (0 as const),
      })),
    )
    .execute();
}

async function settleGroups(context: ScimContext, id: string, input: UserInput): Promise<void> {
  if (context.services.settings.scim.userMode && input.groups) await setGroupsOfUser(context, id, input.groups);
  await syncMemberships(context, [id]);
}
