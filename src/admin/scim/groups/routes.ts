/** The routes of SCIM groups. */
import type { ScimGroupTable } from '../../../store/tables/scim.ts';
import { unknownResource } from '../protocol/errors.ts';
import { normalised, operationsOf, patched, type ScimResource } from '../protocol/patch.ts';
import { projectionOf } from '../protocol/projection.ts';
import { listQuery, parametersOf, searchParameters } from '../protocol/query.ts';
import type { ScimAnswer, ScimCall, ScimRoute } from '../protocol/route.ts';
import { listResponse } from '../protocol/schemas.ts';
import { findScimGroup, listScimGroups, mayBeSortedBy, membersOfGroups } from './find.ts';
import { type GroupInput, groupInput, groupResource } from './resource.ts';
import { createScimGroup, deleteScimGroup, type MemberChange, updateScimGroup } from './save.ts';

async function list(call: ScimCall, sent: ReturnType<typeof parametersOf>): Promise<ScimAnswer> {
  const { db, organisationId } = call;
  const { query, startIndex, projection } = listQuery(call.kinds.group, sent, mayBeSortedBy);
  const { groups, total } = await listScimGroups(db, organisationId, query);
  const members = projection.shows('members')
    ? await membersOfGroups(
        db,
        groups.map(({ id }) => id),
      )
    : new Map<string, never>();
  const place = { kind: call.kinds.group, base: call.base };
  const resources = groups.map((group) => projection.of(groupResource(group, members.get(group.id) ?? [], place)));
  return { status: 200, body: listResponse(resources, total, startIndex) };
}

async function requireGroup({ db, organisationId }: ScimCall, id: string): Promise<ScimGroupTable> {
  const group = await findScimGroup(db, organisationId, id);
  if (!group) throw unknownResource(`No group ${id.slice(0, 100)}`);
  return group;
}

async function resourceOf(call: ScimCall, group: ScimGroupTable, withMembers: boolean): Promise<ScimResource> {
  const members = withMembers ? await membersOfGroups(call.db, [group.id]) : new Map<string, never>();
  return groupResource(group, members.get(group.id) ?? [], { kind: call.kinds.group, base: call.base });
}

async function shown(call: ScimCall, group: ScimGroupTable): Promise<ScimResource> {
  const projection = projectionOf(call.kinds.group, call.query.get('attributes'), call.query.get('excludedAttributes'));
  return projection.of(await resourceOf(call, group, projection.shows('members')));
}

const idOf = ({ params }: ScimCall): string => params.id ?? '';

const mostNamed = 100;

/** An audit row is bounded, so it names the first few of many. */
const details = (group: { display_name: string }, { added, removed }: MemberChange) => ({
  name: group.display_name,
  added: added.slice(0, mostNamed),
  removed: removed.slice(0, mostNamed),
  ...(added.length > mostNamed && { added_count: added.length }),
  ...(removed.length > mostNamed && { removed_count: removed.length }),
});

async function update(call: ScimCall, group: ScimGroupTable, input: GroupInput): Promise<ScimAnswer> {
  const stored = await updateScimGroup(call, group, input);
  call.note({ details: details(stored.group, stored.change) });
  return { status: 200, body: await shown(call, stored.group) };
}

/** Where memberships are written through users, operations on members of groups are passed over. */
function patchedGroup(call: ScimCall, before: ScimResource): ScimResource {
  const after = patched(before, call.kinds.group, operationsOf(call.body));
  return call.services.settings.scim.userMode ? { ...after, members: before.members } : after;
}

export const groupRoutes: readonly ScimRoute[] = [
  { method: 'GET', path: '/Groups', audit: null, handle: (call) => list(call, parametersOf(call.query)) },
  { method: 'POST', path: '/Groups/.search', audit: null, handle: (call) => list(call, searchParameters(call.body)) },
  {
    method: 'POST',
    path: '/Groups',
    audit: { resource: 'scim_group', action: 'create' },
    async handle(call) {
      const { group, change } = await createScimGroup(call, groupInput(normalised(call.body, call.kinds.group, {})));
      call.note({ resourceId: group.id, details: details(group, change) });
      return { status: 201, body: await shown(call, group), location: `${call.base}/Groups/${group.id}` };
    },
  },
  {
    method: 'GET',
    path: '/Groups/:id',
    audit: null,
    handle: async (call) => ({ status: 200, body: await shown(call, await requireGroup(call, idOf(call))) }),
  },
  {
    method: 'PUT',
    path: '/Groups/:id',
    audit: { resource: 'scim_group', action: 'update' },
    async handle(call) {
      const group = await requireGroup(call, idOf(call));
      return update(call, group, groupInput(normalised(call.body, call.kinds.group, { id: group.id })));
    },
  },
  {
    method: 'PATCH',
    path: '/Groups/:id',
    audit: { resource: 'scim_group', action: 'update' },
    async handle(call) {
      const group = await requireGroup(call, idOf(call));
      return update(call, group, groupInput(patchedGroup(call, await resourceOf(call, group, true))));
    },
  },
  {
    method: 'DELETE',
    path: '/Groups/:id',
    audit: { resource: 'scim_group', action: 'delete' },
    async handle(call) {
      const group = await requireGroup(call, idOf(call));
      const change = await deleteScimGroup(call, group);
      call.note({ details: details(group, change) });
      return { status: 204 };
    },
  },
];
