/** The routes of SCIM users. */
import { unknownResource } from '../protocol/errors.ts';
import { normalised, operationsOf, patched, type ScimResource } from '../protocol/patch.ts';
import { projectionOf } from '../protocol/projection.ts';
import { listQuery, parametersOf, searchParameters } from '../protocol/query.ts';
import type { ScimAnswer, ScimCall, ScimRoute } from '../protocol/route.ts';
import { listResponse } from '../protocol/schemas.ts';
import { findScimUser, listScimUsers, mayBeSortedBy, type ScimUser } from './find.ts';
import { groupsOfUsers } from './groups.ts';
import { patchableUser, type UserInput, userInput, userResource } from './resource.ts';
import { createScimUser, deleteScimUser, updateScimUser } from './save.ts';

async function list(call: ScimCall, sent: ReturnType<typeof parametersOf>): Promise<ScimAnswer> {
  const { db, organisationId } = call;
  const { query, startIndex, projection } = listQuery(call.kinds.user, sent, mayBeSortedBy);
  const { users, total } = await listScimUsers(db, organisationId, query);
  const groups = projection.shows('groups')
    ? await groupsOfUsers(
        db,
        organisationId,
        users.map(({ id }) => id),
      )
    : new Map<string, never>();
  const place = { kind: call.kinds.user, base: call.base };
  const resources = users.map((user) => projection.of(userResource(user, groups.get(user.id) ?? [], place)));
  return { status: 200, body: listResponse(resources, total, startIndex) };
}

async function resourceOf(call: ScimCall, user: ScimUser): Promise<ScimResource> {
  const groups = await groupsOfUsers(call.db, call.organisationId, [user.id]);
  return userResource(user, groups.get(user.id) ?? [], { kind: call.kinds.user, base: call.base });
}

async function requireUser({ db, organisationId }: ScimCall, id: string): Promise<ScimUser> {
  const user = await findScimUser(db, organisationId, id);
  if (!user) throw unknownResource(`No user ${id.slice(0, 100)}`);
  return user;
}

const shown = async (call: ScimCall, id: string): Promise<ScimResource> => {
  const projection = projectionOf(call.kinds.user, call.query.get('attributes'), call.query.get('excludedAttributes'));
  return projection.of(await resourceOf(call, await requireUser(call, id)));
};

const idOf = ({ params }: ScimCall): string => params.id ?? '';

async function update(call: ScimCall, user: ScimUser, input: UserInput): Promise<ScimAnswer> {
  await updateScimUser(call, user, input);
  const active = input.active ?? user.active;
  call.note({
    details: {
      email: input.email,
      ...(input.role && input.role !== user.role && { old_role: user.role, role: input.role }),
      ...(active !== user.active && { active }),
      source: 'scim',
    },
  });
  return { status: 200, body: await shown(call, user.id) };
}

export const userRoutes: readonly ScimRoute[] = [
  { method: 'GET', path: '/Users', audit: null, handle: (call) => list(call, parametersOf(call.query)) },
  { method: 'POST', path: '/Users/.search', audit: null, handle: (call) => list(call, searchParameters(call.body)) },
  {
    method: 'POST',
    path: '/Users',
    audit: { resource: 'user', action: 'create' },
    async handle(call) {
      const input = userInput(normalised(call.body, call.kinds.user, {}), true);
      const id = await createScimUser(call, input);
      call.note({ resourceId: id, details: { email: input.email, role: input.role ?? 'member', source: 'scim' } });
      return { status: 201, body: await shown(call, id), location: `${call.base}/Users/${id}` };
    },
  },
  {
    method: 'GET',
    path: '/Users/:id',
    audit: null,
    handle: async (call) => ({ status: 200, body: await shown(call, idOf(call)) }),
  },
  {
    method: 'PUT',
    path: '/Users/:id',
    audit: { resource: 'user', action: 'update' },
    async handle(call) {
      const user = await requireUser(call, idOf(call));
      return update(call, user, userInput(normalised(call.body, call.kinds.user, { id: user.id }), true));
    },
  },
  {
    method: 'PATCH',
    path: '/Users/:id',
    audit: { resource: 'user', action: 'update' },
    async handle(call) {
      const user = await requireUser(call, idOf(call));
      const before = patchableUser(await resourceOf(call, user));
      return update(call, user, userInput(patched(before, call.kinds.user, operationsOf(call.body)), false));
    },
  },
  {
    method: 'DELETE',
    path: '/Users/:id',
    audit: { resource: 'user', action: 'delete' },
    async handle(call) {
      const user = await requireUser(call, idOf(call));
      await deleteScimUser(call, user);
      call.note({ details: { email: user.email, role: user.role, source: 'scim' } });
      return { status: 204 };
    },
  },
];
