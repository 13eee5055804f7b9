/** People, organisations, workspaces and keys that a test needs around the thing it is about, put straight into the store. */
import { mintKey, type NewKey } from '../src/admin/api-keys/mint.ts';
import { insertConfig } from '../src/admin/configs/store.ts';
import { joinWorkspace } from '../src/admin/members/membership.ts';
import { createOrganisation } from '../src/admin/organisations/create.ts';
import { insertUser, joinOrganisation } from '../src/admin/users/membership.ts';
import { insertWorkspace } from '../src/admin/workspaces/create.ts';
import { passwordsOf, setPassword } from '../src/identity/accounts.ts';
import type { OrganisationRole, WorkspaceRole } from '../src/identity/roles.ts';
import { openSession } from '../src/identity/sessions.ts';
import type { TestGateway } from './harness.ts';

export interface Person {
  userId: string;
  email: string;
  /** A session in the organisation; used as the key of an ask. */
  session: string;
}

export interface Place {
  organisationId: string;
  workspaceId: string;
}

/** What the first start made. */
export interface Home extends Place {
  owner: Person;
}

/** Another organisation of the same installation. */
export interface Tenant extends Place {
  adminKey: string;
  ownerId: string;
  ownerEmail: string;
}

const origin = { clientIp: '127.0.0.1', userAgent: 'test' };
let people = 0;

export const storeOf = (gateway: TestGateway) => gateway.app.services.store;

/** The organisation and workspace of the first start, and its owner, signed in. */
export async function home(gateway: TestGateway): Promise<Home> {
  const row = await storeOf(gateway)
    .db.selectFrom('users as user')
    .innerJoin('organisation_members as member', 'member.user_id', 'user.id')
    .innerJoin('workspaces as workspace', 'workspace.organisation_id', 'member.organisation_id')
    .select(['user.id as userId', 'member.organisation_id as organisationId', 'workspace.id as workspaceId'])
    .where('user.email', '=', gateway.owner.email)
    .orderBy('workspace.created_at')
    .executeTakeFirstOrThrow();
  const { userId, organisationId, workspaceId } = row;
  const session = await signIn(gateway, organisationId, userId);
  return { organisationId, workspaceId, owner: { userId, email: gateway.owner.email, session } };
}

export async function signIn(gateway: TestGateway, organisationId: string, userId: string): Promise<string> {
  const now = gateway.clock.now();
  const session = await openSession(storeOf(gateway).db, now, { userId, organisationId, authTime: now }, origin);
  return session.token;
}

/** A member of the organisation with an account, signed in; without a password unless one is given. */
export async function addPerson(
  gateway: TestGateway,
  organisationId: string,
  role: OrganisationRole,
  more: { email?: string; password?: string; workspaces?: Record<string, WorkspaceRole> } = {},
): Promise<Person> {
  const { passwords, store } = gateway.app.services;
  const now = gateway.clock.now();
  const email = more.email ?? `person-${people++}@example.com`;
  const userId = await insertUser(store.db, now, { email, firstName: 'Ada', lastName: `No ${people}` });
  await joinOrganisation(store.db, now, { organisationId, userId, role, provisionedBy: 'signup' });
  if (more.password !== undefined) {
    await setPassword(store.db, now, { userId, organisationId }, await passwords.hash(more.password));
  }
  for (const [workspaceId, workspaceRole] of Object.entries(more.workspaces ?? {})) {
    await joinWorkspace(store.db, now, { organisationId, workspaceId, userId, role: workspaceRole });
  }
  return { userId, email, session: await signIn(gateway, organisationId, userId) };
}

/** Makes somebody a member of a further organisation, which the password that they have opens too. */
export async function joinFurther(
  gateway: TestGateway,
  userId: string,
  organisationId: string,
  role: OrganisationRole = 'member',
): Promise<void> {
  const { db } = storeOf(gateway);
  const now = gateway.clock.now();
  const [known] = await passwordsOf(db, userId);
  await joinOrganisation(db, now, { organisationId, userId, role, provisionedBy: 'invite' });
  if (known) await setPassword(db, now, { userId, organisationId }, known.passwordHash);
}

/** One person for each role in a workspace. */
export async function addTeam(
  gateway: TestGateway,
  { organisationId, workspaceId }: Place,
): Promise<Record<WorkspaceRole, Person>> {
  const inRole = (role: WorkspaceRole) =>
    addPerson(gateway, organisationId, 'member', { workspaces: { [workspaceId]: role } });
  return { admin: await inRole('admin'), manager: await inRole('manager'), member: await inRole('member') };
}

export async function addOrganisation(gateway: TestGateway, name = 'Elsewhere'): Promise<Tenant> {
  const now = gateway.clock.now();
  const ownerEmail = `owner-${people++}@elsewhere.example`;
  const { db } = storeOf(gateway);
  const ownerId = await insertUser(db, now, {
    email: ownerEmail,
    firstName: 'Else',
    lastName: 'Where',
  });
  const made = await createOrganisation(db, now, { name, ownerId, adminKey: { prefix: '' } });
  const { organisationId, workspaceId } = made;
  return { organisationId, workspaceId, adminKey: made.adminKey.secret, ownerId, ownerEmail };
}

export async function addWorkspace(
  gateway: TestGateway,
  organisationId: string,
  name: string,
): Promise<{ id: string; slug: string }> {
  const { db } = storeOf(gateway);
  const id = await insertWorkspace(db, gateway.clock.now(), { organisationId, name, createdBy: null });
  return db.selectFrom('workspaces').select(['id', 'slug']).where('id', '=', id).executeTakeFirstOrThrow();
}

export async function archiveWorkspace(gateway: TestGateway, workspaceId: string): Promise<void> {
  const { db } = storeOf(gateway);
  await db.updateTable('workspaces').set({ status: 'archived' }).where('id', '=', workspaceId).execute();
}

/** A saved config of the workspace. */
export async function addConfig(gateway: TestGateway, workspaceId: string): Promise<{ id: string; slug: string }> {
  const { db } = storeOf(gateway);
  const { organisation_id } = await db
    .selectFrom('workspaces')
    .select('organisation_id')
    .where('id', '=', workspaceId)
    .executeTakeFirstOrThrow();
  return insertConfig(db, gateway.app.services.vault, gateway.clock.now(), {
    organisationId: organisation_id,
    workspaceId,
    name: 'Main',
    config: { retry: { attempts: 1 } },
    isDefault: false,
    ownerId: null,
  });
}

export const addKey = (
  gateway: TestGateway,
  key: Pick<NewKey, 'organisationId' | 'type' | 'scopes'> & Partial<NewKey>,
): Promise<{ id: string; secret: string }> =>
  mintKey(
    storeOf(gateway).db,
    gateway.clock.now(),
    { workspaceId: null, userId: null, name: 'A key', creationMode: 'api', createdBy: null, ...key },
    { prefix: '' },
  );

/** The audit rows of a key. */
export const keyRows = (gateway: TestGateway, keyId: string) =>
  storeOf(gateway).db.selectFrom('audit_logs').selectAll().where('resource_id', '=', keyId).execute();

/** Fails to sign in from there until nobody is let into the queue any more. */
export function manyFailures(gateway: TestGateway, attempt: { email: string; clientIp: string }): void {
  const { loginThrottle } = gateway.app.services;
  while ('afterMs' in loginThrottle.admit(attempt));
}
