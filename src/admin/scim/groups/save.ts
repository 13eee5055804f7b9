/** Writes groups and who is in them, and follows up in the workspaces that they lead to. */
import type { ScimGroupTable } from '../../../store/tables/scim.ts';
import { folded } from '../../kernel/lists/list-queries.ts';
import { archiveWorkspace } from '../../workspaces/archive.ts';
import { recordEffect, type ScimContext } from '../context.ts';
import { activeMappings, archiveMappings, followPattern } from '../mappings.ts';
import { membersOfGroup, syncMemberships } from '../memberships.ts';
import { invalidValue, notUnique } from '../protocol/errors.ts';
import { reactivateListed } from '../users/save.ts';
import { groupOfName } from './find.ts';
import type { GroupInput } from './resource.ts';

export interface MemberChange {
  added: string[];
  removed: string[];
  /** Archived people who came back because the group lists them. */
  reactivated: string[];
}

const slice = 500;

export async function insertGroup(
  { db, now, organisationId }: ScimContext,
  group: { displayName: string; externalId: string | null; pushed: boolean },
): Promise<ScimGroupTable> {
  const at = now.toISOString();
  const row: ScimGroupTable = {
    id: Bun.randomUUIDv7(),
    organisation_id: organisationId,
    display_name: group.displayName,
    display_name_folded: folded(group.displayName),
    external_id: group.externalId,
    pushed: group.pushed ? 1 : 0,
    created_at: at,
    last_updated_at: at,
  };
  await db.insertInto('scim_groups').values(row).execute();
  return row;
}

/** A group that a mapping named before the identity provider pushed it is taken over, with its id and its mappings. */
export async function createScimGroup(context: ScimContext, input: GroupInput) {
  const waiting = await groupOfName(context.db, context.organisationId, input.displayName);
  if (waiting?.pushed === 1) throw notUnique(`A group ${input.displayName} exists already`);
  const group = waiting
    ? await storeGroup(context, waiting, input)
    : await insertGroup(context, { ...input, pushed: true });
  const change = await setMembers(context, group, input.members);
  await followUp(context, group, change);
  return { group, change };
}

export async function updateScimGroup(context: ScimContext, group: ScimGroupTable, input: GroupInput) {
  const other = await groupOfName(context.db, context.organisationId, input.displayName);
  if (other && other.id !== group.id) throw notUnique(`A group ${input.displayName} exists already`);
  const stored = await storeGroup(context, group, input);
  const change = await setMembers(context, stored, input.members);
  await followUp(context, stored, change);
  return { group: stored, change };
}

/**
 * The group goes with its mappings. Its people lose the workspaces to which no other group leads them; a workspace to which no
 * group leads any more is archived, but for the default one.
 */
export async function deleteScimGroup(context: ScimContext, group: ScimGroupTable): Promise<MemberChange> {
  const { db } = context;
  const members = await membersOfGroup(context, group.id);
  const mappings = await activeMappings(context, group.id);
  await archiveMappings(
    context,
    mappings.map(({ id }) => id),
  );
  await db.deleteFrom('scim_group_members').where('group_id', '=', group.id).execute();
  await db.deleteFrom('scim_groups').where('id', '=', group.id).execute();
  await syncMemberships(context, members);
  for (const workspaceId of new Set(mappings.map((mapping) => mapping.workspace_id))) {
    await archiveUnmapped(context, workspaceId);
  }
  return { added: [], removed: members, reactivated: [] };
}

async function archiveUnmapped(context: ScimContext, workspaceId: string): Promise<void> {
  const { db, services, now } = context;
  const other = await db
    .selectFrom('scim_workspaces')
    .select('id')
    .where('workspace_id', '=', workspaceId)
    .where('status', '=', 'active')
    .limit(1)
    .executeTakeFirst();
  const row = await db.selectFrom('workspaces').selectAll().where('id', '=', workspaceId).executeTakeFirst();
  if (other || !row || row.status === 'archived' || row.is_default === 1) return;
  const { changes, removed } = await archiveWorkspace(db, services, now, row, true);
  context.changed(...changes);
  await recordEffect(context, {
    resource: 'workspace',
    action: 'delete',
    resourceId: workspaceId,
    workspaceId,
    details: { name: row.name, force_delete: true, removed },
  });
}

async function storeGroup({ db, now }: ScimContext, group: ScimGroupTable, input: GroupInput): Promise<ScimGroupTable> {
  const columns = {
    display_name: input.displayName,
    display_name_folded: folded(input.displayName),
    external_id: input.externalId,
    pushed: 1 as const,
    last_updated_at: now.toISOString(),
  };
  await db.updateTable('scim_groups').set(columns).where('id', '=', group.id).execute();
  return { ...group, ...columns };
}

async function setMembers(
  context: ScimContext,
  group: ScimGroupTable,
  wanted: readonly string[],
): Promise<MemberChange> {
  const { db, now } = context;
  const present = new Set(await membersOfGroup(context, group.id));
  const added = wanted.filter((id) => !present.has(id));
  const kept = new Set(wanted);
  const removed = [...present].filter((id) => !kept.has(id));
  await requireUsers(context, added);
  const at = now.toISOString();
  for (let start = 0; start < added.length; start += slice) {
    await db
      .insertInto('scim_group_members')
      .values(added.slice(start, start + slice).map((user_id) => ({ group_id: group.id, user_id, created_at: at })))
      .execute();
  }
  for (let start = 0; start < removed.length; start += slice) {
    await db
      .deleteFrom('scim_group_members')
      .where('group_id', '=', group.id)
      .where('user_id', 'in', removed.slice(start, start + slice))
      .execute();
  }
  return { added, removed, reactivated: await reactivateListed(context, wanted) };
}

/** Only people of this organisation whom SCIM knows. */
async function requireUsers({ db, organisationId }: ScimContext, ids: readonly string[]): Promise<void> {
  for (let start = 0; start < ids.length; start += slice) {
    const asked = ids.slice(start, start + slice);
    const rows = await db
      .selectFrom('organisation_members as member')
      .leftJoin('scim_users as scim', (join) =>
        join.onRef('scim.organisation_id', '=', 'member.organisation_id').onRef('scim.user_id', '=', 'member.user_id'),
      )
      .select('member.user_id')
      .where('member.organisation_id', '=', organisationId)
      .where('member.user_id', 'in', asked)
      .where((eb) => eb.or([eb('scim.deleted', 'is', null), eb('scim.deleted', '=', 0)]))
      .execute();
    const known = new Set(rows.map((row) => row.user_id));
    const unknown = asked.find((id) => !known.has(id));
    if (unknown !== undefined) throw invalidValue(`members: ${unknown} is no user of this organisation`);
  }
}

/** Where the name leads elsewhere than before, everybody in the group is looked at. */
async function followUp(context: ScimContext, group: ScimGroupTable, change: MemberChange): Promise<void> {
  const leadsElsewhere = await followPattern(context, group);
  const touched = leadsElsewhere ? await membersOfGroup(context, group.id) : [...change.added, ...change.reactivated];
  await syncMemberships(context, [...new Set([...touched, ...change.removed])]);
}
