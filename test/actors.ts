/** The cast of the generated tests: two tenants, and every kind of caller with what the scope table and their role give them. */
import { mintKey } from '../src/admin/api-keys/mint.ts';
import { joinWorkspace } from '../src/admin/members/membership.ts';
import { createOrganisation } from '../src/admin/organisations/create.ts';
import { insertUser, joinOrganisation } from '../src/admin/users/membership.ts';
import type { CallerKind } from '../src/identity/caller.ts';
import type { OrganisationRole, WorkspaceRole } from '../src/identity/roles.ts';
import { grantableTo, heldBy, type RoleColumn, type Scope } from '../src/identity/scopes.ts';
import { openSession } from '../src/identity/sessions.ts';
import { defaultSettings } from '../src/identity/settings.ts';
import type { ApiKeyType } from '../src/store/schema.ts';
import type { TestGateway } from './harness.ts';

export interface Actor {
  name: string;
  /** Null for callers that nobody knows. */
  kind: CallerKind | null;
  tenant: 'ours' | 'another';
  headers: Record<string, string>;
  organisationScopes: ReadonlySet<Scope>;
  /** Scopes in the workspaces that the actor may enter. */
  workspaceScopes: ReadonlySet<Scope>;
}

export interface Cast {
  organisationId: string;
  workspaceId: string;
  /** A plain member of the workspace. */
  userId: string;
  /** A key of the workspace that no actor calls with. */
  apiKeyId: string;
  actors: Actor[];
}

const nothing: ReadonlySet<Scope> = new Set();
/** All that a member of the organisation may do on the organisation itself. */
const belonging: ReadonlySet<Scope> = new Set<Scope>(['organisations.read']);

/** What a role holds by the scope table, with every setting as a new organisation has it. */
const byRole = (column: RoleColumn): ReadonlySet<Scope> =>
  heldBy(column, (setting) => defaultSettings.security_settings[setting]);

const both = (first: ReadonlySet<Scope>, second: ReadonlySet<Scope>): ReadonlySet<Scope> =>
  new Set([...first].filter((scope) => second.has(scope)));

/** Makes two tenants and everyone in them; `withheld` are the scopes that the keys called "without the scope" lack. */
export async function makeCast(gateway: TestGateway, withheld: readonly Scope[]): Promise<Cast> {
  const { store } = gateway.app.services;
  const now = gateway.clock.now();
  return store.atomically(async (db) => {
    const person = (name: string) =>
      insertUser(db, now, {
        email: `${name}.${Bun.randomUUIDv7()}@example.com`,
        firstName: name,
        lastName: 'Actor',
      });
    const signIn = async (userId: string, organisationId: string) => {
      const origin = { clientIp: '127.0.0.1', userAgent: 'test' };
      const session = await openSession(db, now, { userId, organisationId, authTime: now }, origin);
      return { authorization: `Bearer ${session.token}` };
    };

    const ownerId = await person('owner');
    const ours = await createOrganisation(db, now, { name: 'Ours', ownerId, adminKey: { prefix: '' } });
    const { organisationId, workspaceId } = ours;
    const strangerId = await person('stranger');
    const theirs = await createOrganisation(db, now, {
      name: 'Theirs',
      ownerId: strangerId,
      adminKey: { prefix: '' },
    });

    const member = async (role: OrganisationRole, standing: WorkspaceRole | null) => {
      const userId = await person(`${role}-${standing ?? 'nowhere'}`);
      await joinOrganisation(db, now, { organisationId, userId, role, provisionedBy: 'invite' });
      if (standing) await joinWorkspace(db, now, { organisationId, workspaceId, userId, role: standing });
      return userId;
    };
    const key = async (type: ApiKeyType, scopes: readonly Scope[], userId: string | null = null) => {
      const place = type === 'organisation-service' ? null : workspaceId;
      const minted = await mintKey(
        db,
        now,
        {
          organisationId,
          workspaceId: place,
          userId,
          type,
          name: `${type} of the cast`,
          creationMode: 'api',
          scopes,
          createdBy: ownerId,
        },
        { prefix: '' },
      );
      return { id: minted.id, headers: { 'x-gw-api-key': minted.secret } };
    };

    const workspaceAdminId = await member('member', 'admin');
    const userId = await member('member', 'member');
    const forAdminKeys = new Set(grantableTo('A'));
    const forServiceKeys = new Set(grantableTo('S'));
    const forUserKeys = new Set(grantableTo('U'));
    const without = (scopes: ReadonlySet<Scope>) => new Set([...scopes].filter((scope) => !withheld.includes(scope)));

    const unknown = { kind: null, tenant: 'ours', organisationScopes: nothing, workspaceScopes: nothing } as const;
    const adminKey = async (name: string, scopes: ReadonlySet<Scope>): Promise<Actor> => ({
      name,
      kind: 'admin-key',
      tenant: 'ours',
      headers: (await key('organisation-service', [...scopes])).headers,
      organisationScopes: scopes,
      workspaceScopes: scopes,
    });
    const serviceKey = async (name: string, scopes: ReadonlySet<Scope>): Promise<Actor> => ({
      name,
      kind: 'workspace-key',
      tenant: 'ours',
      headers: (await key('workspace-service', [...scopes])).headers,
      organisationScopes: nothing,
      workspaceScopes: scopes,
    });
    const runner = async (name: string, id: string): Promise<Actor> => ({
      name,
      kind: 'session',
      tenant: 'ours',
      headers: await signIn(id, organisationId),
      organisationScopes: byRole('organisation'),
      workspaceScopes: byRole('organisation'),
    });
    const insider = async (name: string, id: string, role: WorkspaceRole | null): Promise<Actor> => ({
      name,
      kind: 'session',
      tenant: 'ours',
      headers: await signIn(id, organisationId),
      organisationScopes: belonging,
      workspaceScopes: role ? byRole(role) : nothing,
    });

    const actors: Actor[] = [
      { ...unknown, name: 'nobody', headers: {} },
      { ...unknown, name: 'an unknown key', headers: { 'x-gw-api-key': 'a-key-that-was-never-made' } },
      await adminKey('an admin key with every scope', forAdminKeys),
      await adminKey('an admin key without the scope', without(forAdminKeys)),
      await serviceKey('a workspace key with every scope', forServiceKeys),
      await serviceKey('a workspace key without the scope', without(forServiceKeys)),
      {
        name: 'a user key of a workspace admin',
        kind: 'user-key',
        tenant: 'ours',
        headers: (await key('workspace-user', [...forUserKeys], workspaceAdminId)).headers,
        organisationScopes: nothing,
        // A user key never does more than its owner.
        workspaceScopes: both(forUserKeys, byRole('admin')),
      },
      await runner('the organisation owner', ownerId),
      await runner('an organisation admin', await member('admin', null)),
      await insider('a workspace admin', workspaceAdminId, 'admin'),
      await insider('a workspace manager', await member('member', 'manager'), 'manager'),
      await insider('a workspace member', userId, 'member'),
      await insider('a member of no workspace', await member('member', null), null),
      {
        name: 'an admin key of another tenant',
        kind: 'admin-key',
        tenant: 'another',
        headers: { 'x-gw-api-key': theirs.adminKey.secret },
        organisationScopes: forAdminKeys,
        workspaceScopes: forAdminKeys,
      },
      {
        name: 'the owner of another tenant',
        kind: 'session',
        tenant: 'another',
        headers: await signIn(strangerId, theirs.organisationId),
        organisationScopes: byRole('organisation'),
        workspaceScopes: byRole('organisation'),
      },
    ];
    const { id: apiKeyId } = await key('workspace-service', [...forServiceKeys]);
    return { organisationId, workspaceId, userId, apiKeyId, actors };
  });
}
