/** Who am I? What the console asks first: the person, their organisation, their workspaces, what they may do. */
import { z } from 'zod';
import { forbidden } from '../../http/errors.ts';
import { type KeyCaller, roleIn, runsAll, type SessionCaller } from '../../identity/caller.ts';
import { organisationRoles, workspaceRoles } from '../../identity/roles.ts';
import { lazy } from '../../lazy.ts';
import type { Db } from '../../store/database.ts';
import { endpoint } from '../kernel/endpoint.ts';
import { reference, timestamp } from '../kernel/fields.ts';
import { sessionsOnly, signedIn } from './session-reply.ts';

/** A person who runs the organisation has a standing in all its workspaces; GET /workspaces pages through the rest. */
const workspacesShown = 1_000;

export const selfReply = lazy(() =>
  z.object({
    object: z.literal('self'),
    auth_type: z.literal('session'),
    user: z.object({ id: z.string(), email: z.string(), first_name: z.string(), last_name: z.string() }),
    organisation: z.object({ id: z.string(), name: z.string(), slug: z.string(), role: z.enum(organisationRoles) }),
    workspaces: z
      .array(
        z.object({
          id: z.string(),
          slug: z.string(),
          name: z.string(),
          icon: z.string().nullable(),
          role: z.enum(workspaceRoles),
        }),
      )
      .describe(`At most ${workspacesShown}, the oldest first`),
    workspace_id: z
      .string()
      .nullable()
      .describe('The workspace that `scopes` are about: the one asked for, or a default'),
    scopes: z.array(z.string()).describe('What the person may do on the organisation and in that workspace'),
    session_expires_at: timestamp,
    csrf_token: z.string().describe('Send it in the header `x-gw-csrf` with every write that relies on the cookie'),
  }),
);

/** What the claims of a token say, and the one workspace that it is for. */
const tokenReply = lazy(() =>
  z.object({
    object: z.literal('self'),
    auth_type: z.literal('jwt'),
    user: z.object({
      id: z.string().nullable().describe('The member with the address of the token; null where there is none'),
      email: z.string().nullable(),
      name: z.string().nullable().describe('`email_id`, `sub` or `uid` of the token'),
    }),
    organisation: z.object({ id: z.string(), name: z.string(), slug: z.string() }),
    workspaces: z.array(z.object({ id: z.string(), slug: z.string(), name: z.string(), icon: z.string().nullable() })),
    workspace_id: z.string().nullable(),
    scopes: z.array(z.string()),
    session_expires_at: timestamp,
  }),
);

export const self = endpoint({
  method: 'GET',
  path: '/auth/self',
  tag: 'Sign-in',
  summary: 'Tell who is signed in, and what they may do',
  description: 'For sessions and JWTs: an API key is answered 401.',
  access: { ...sessionsOnly, level: 'workspace', others: 'unauthenticated', jwt: true },
  query: () => z.object({ workspace_id: reference.optional() }),
  reply: () => z.union([selfReply(), tokenReply()]),
  async handle(call) {
    if (call.caller.kind !== 'session' && call.caller.token) {
      return selfOfToken(call.db, call.caller, call.caller.token);
    }
    const caller = signedIn(call.caller);
    if (call.workspace && roleIn(caller, call.workspace.id) === null) {
      throw forbidden('You do not belong to this workspace');
    }
    const user = await call.db
      .selectFrom('users')
      .select(['id', 'email', 'first_name', 'last_name'])
      .where('id', '=', caller.userId)
      .executeTakeFirstOrThrow();
    const organisation = await call.db
      .selectFrom('organisations')
      .select(['id', 'name', 'slug', 'default_workspace_id'])
      .where('id', '=', caller.organisationId)
      .executeTakeFirstOrThrow();
    const workspaces = await workspacesOf(call.db, caller);
    const workspaceId = call.workspace?.id ?? defaultWorkspace(caller, workspaces, organisation.default_workspace_id);
    return {
      object: 'self' as const,
      auth_type: 'session' as const,
      user,
      organisation: { id: organisation.id, name: organisation.name, slug: organisation.slug, role: caller.role },
      workspaces,
      workspace_id: workspaceId,
      scopes: scopesIn(caller, workspaceId),
      session_expires_at: caller.expiresAt,
      csrf_token: caller.csrfToken,
    };
  },
});

async function selfOfToken(
  db: Db,
  { organisationId, workspaceId, userId, rights }: KeyCaller,
  { identity, expiresAt }: NonNullable<KeyCaller['token']>,
) {
  const organisation = await db
    .selectFrom('organisations')
    .select(['id', 'name', 'slug'])
    .where('id', '=', organisationId)
    .executeTakeFirstOrThrow();
  const workspaces = await db
    .selectFrom('workspaces')
    .select(['id', 'slug', 'name', 'icon'])
    .where('id', '=', workspaceId ?? '')
    .execute();
  return {
    object: 'self' as const,
    auth_type: 'jwt' as const,
    user: { id: userId, email: identity?.includes('@') ? identity : null, name: identity },
    organisation,
    workspaces,
    workspace_id: workspaceId,
    scopes: scopesIn({ rights }, workspaceId),
    session_expires_at: expiresAt,
  };
}

async function workspacesOf(db: Db, caller: SessionCaller) {
  let query = db
    .selectFrom('workspaces')
    .select(['id', 'slug', 'name', 'icon'])
    .where('organisation_id', '=', caller.organisationId)
    .where('status', '=', 'active')
    .orderBy('created_at')
    .orderBy('id')
    .limit(workspacesShown);
  if (!runsAll(caller)) {
    query = query.where('id', 'in', (eb) =>
      eb
        .selectFrom('workspace_members')
        .select('workspace_id')
        .where('user_id', '=', caller.userId)
        .where('status', '=', 'active'),
    );
  }
  const rows = await query.execute();
  return rows.flatMap((row) => {
    const role = roleIn(caller, row.id);
    return role === null ? [] : [{ ...row, role }];
  });
}

/** The organisation's default workspace where the person has a standing in it, else their oldest one. */
function defaultWorkspace(
  caller: SessionCaller,
  workspaces: readonly { id: string }[],
  preferred: string | null,
): string | null {
  if (preferred !== null && roleIn(caller, preferred) !== null) return preferred;
  return workspaces[0]?.id ?? null;
}

function scopesIn({ rights }: Pick<SessionCaller, 'rights'>, workspaceId: string | null): string[] {
  const there = rights.everyWorkspace ?? (workspaceId === null ? undefined : rights.workspaces.get(workspaceId));
  return [...new Set([...rights.organisation, ...(there ?? [])])].sort();
}
