/** What a token refers to: its organisation, its workspace there, and the person. Kept in memory until a change notice names it. */
import type { ChangeFeed } from '../../store/changes.ts';
import type { Db } from '../../store/database.ts';
import { decode } from '../../store/json.ts';
import { runsOrganisation } from '../roles.ts';
import type { JwtSettings } from './settings.ts';

export interface TokenOrganisation {
  id: string;
  /** Null: the organisation has said nothing about tokens. */
  jwt: JwtSettings | null;
  /** Where a token belongs that names no workspace. */
  defaultWorkspaceId: string | null;
}

export interface Places {
  organisation(id: string): Promise<TokenOrganisation | null>;
  /** The only organisation of this installation; null where there are several. */
  soleOrganisation(): Promise<string | null>;
  /** The id of an active workspace of the organisation, by id or slug. */
  workspace(organisationId: string, reference: string): Promise<string | null>;
  member(organisationId: string, workspaceId: string, email: string): Promise<TokenMember | null>;
}

/** The person with the address of a token, where the organisation knows one. */
export interface TokenMember {
  userId: string;
  /** False where they were removed, or do not belong to the workspace. */
  belongs: boolean;
}

const placesKept = 10_000;

export function createPlaces(db: Db, feed: ChangeFeed): Places {
  const organisations = new Map<string, TokenOrganisation>();
  const workspaces = new Map<string, string>();
  /** Grows with every notice, so that a look-up that a change overtook is not kept. */
  let generation = 0;
  feed.subscribe((changes) => {
    generation++;
    if (changes === 'all') organisations.clear();
    else for (const { topic, id } of changes) if (topic === 'organisation') organisations.delete(id);
    const moved = changes === 'all' || changes.some(({ topic }) => topic === 'workspace' || topic === 'organisation');
    if (moved) workspaces.clear();
  });

  const remembered = async <T>(kept: Map<string, T>, key: string, look: () => Promise<T | null>): Promise<T | null> => {
    const known = feed.live ? kept.get(key) : undefined;
    if (known !== undefined) return known;
    const before = generation;
    const found = await look();
    if (found !== null && before === generation && feed.live) {
      if (kept.size >= placesKept) kept.delete(kept.keys().next().value ?? '');
      kept.set(key, found);
    }
    return found;
  };

  return {
    organisation: (id) => remembered(organisations, id, () => readOrganisation(db, id)),
    async soleOrganisation() {
      const rows = await db.selectFrom('organisations').select('id').where('status', '=', 'active').limit(2).execute();
      return rows.length === 1 ? (rows[0]?.id ?? null) : null;
    },
    workspace: (organisationId, reference) =>
      remembered(workspaces, `${organisationId} ${reference}`, () => readWorkspace(db, organisationId, reference)),
    member: (organisationId, workspaceId, email) => readMember(db, organisationId, workspaceId, email),
  };
}

async function readOrganisation(db: Db, id: string): Promise<TokenOrganisation | null> {
  const row = await db
    .selectFrom('organisations as organisation')
    .leftJoin('auth_settings as auth', 'auth.organisation_id', 'organisation.id')
    .select([
      'organisation.id',
      'organisation.default_workspace_id',
      'organisation.default_jwt_workspace_id',
      'auth.jwt',
    ])
    .where('organisation.id', '=', id)
    .where('organisation.status', '=', 'active')
    .executeTakeFirst();
  if (!row) return null;
  return {
    id: row.id,
    jwt: row.jwt === null ? null : decode(row.jwt),
    defaultWorkspaceId: row.default_jwt_workspace_id ?? row.default_workspace_id,
  };
}

async function readWorkspace(db: Db, organisationId: string, reference: string): Promise<string | null> {
  const row = await db
    .selectFrom('workspaces')
    .select('id')
    .where('organisation_id', '=', organisationId)
    .where('status', '=', 'active')
    .where((eb) => eb.or([eb('id', '=', reference), eb('slug', '=', reference)]))
    .executeTakeFirst();
  return row?.id ?? null;
}

async function readMember(
  db: Db,
  organisationId: string,
  workspaceId: string,
  email: string,
): Promise<TokenMember | null> {
  const row = await db
    .selectFrom('users as user')
    .innerJoin('organisation_members as member', 'member.user_id', 'user.id')
    .leftJoin('workspace_members as standing', (join) =>
      join
        .onRef('standing.user_id', '=', 'user.id')
        .on('standing.workspace_id', '=', workspaceId)
        .on('standing.status', '=', 'active'),
    )
    .select(['user.id', 'member.role', 'member.status', 'standing.role as standing_role'])
    .where('user.email', '=', email.toLowerCase())
    .where('member.organisation_id', '=', organisationId)
    .executeTakeFirst();
  if (!row) return null;
  const belongs = row.status === 'active' && (runsOrganisation(row.role) || row.standing_role !== null);
  return { userId: row.id, belongs };
}
