/** Finds the caller behind an API key or an organisation's JWT. One seen before is found in memory; a change notice makes it forgotten. */
import type { Clock } from '../clock.ts';
import { entityLimits } from '../limits/entity-limits.ts';
import type { Change, ChangeFeed } from '../store/changes.ts';
import type { Db } from '../store/database.ts';
import { decode } from '../store/json.ts';
import type { ApiKeyType } from '../store/schema.ts';
import { StaleCache } from '../store/stale-cache.ts';
import type { KeyCaller, KeyCallerKind, Rights } from './caller.ts';
import { jwtHeaderOf, type TokenGrant } from './jwt/claims.ts';
import type { TokenReader } from './jwt/open.ts';
import type { JwtRefused } from './jwt/refusal.ts';
import { adminKeyRights, userKeyRights, workspaceKeyRights } from './rights.ts';
import { digestOf } from './secrets.ts';
import { settingsInForce } from './settings.ts';

export interface Keyring {
  /** The caller, or null when the key is unknown, expired, rotated out, or belongs to someone who is gone. At once when the key is in memory. Who knows the secret's digest already hands it in. */
  find(secret: string, digest?: string): KeyCaller | null | Promise<KeyCaller | null>;
  /** Whether a key that was just not found has come to its end, as opposed to one that is unknown. */
  hasExpired(digest: string): boolean;
  /** Why a JWT that was just not found does not count; null for keys. */
  whyRefused(digest: string): JwtRefused | null;
  /** The caller that a key or a token makes, for work that it has ordered. Null when it no longer counts. */
  holder(by: OrderedBy): Promise<KeyCaller | null>;
}

/** Who has ordered work: a key, or a token whose grant was kept. */
export interface OrderedBy {
  keyId: string;
  grant: TokenGrant | null;
}

interface Entry {
  caller: KeyCaller;
  /** The moment from which the secret no longer counts. */
  validUntil: string | null;
  /** The moment from which the key itself no longer counts. */
  expiresAt: string | null;
}

const kinds: Record<ApiKeyType, KeyCallerKind> = {
  'organisation-service': 'admin-key',
  'workspace-service': 'workspace-key',
  'workspace-user': 'user-key',
};

const overKept = 1_000;

interface KeyringOptions {
  /** How many keys are kept in memory. */
  capacity?: number;
  /** How long keys in memory count while the database cannot be reached. */
  outageGraceMs?: number;
  /** Reads JWTs; without it they are credentials like any other that nobody knows. */
  tokens?: TokenReader;
}

export function createKeyring(
  db: Db,
  feed: ChangeFeed,
  clock: Clock,
  { capacity = 50_000, outageGraceMs = 0, tokens }: KeyringOptions = {},
): Keyring {
  const known = new Map<string, Entry>();
  const suspect = new StaleCache<Entry>(feed, () => performance.now(), outageGraceMs);
  /** Grows with every notice, so that a look-up that a change overtook is not kept. */
  let generation = 0;

  feed.subscribe((changes) => {
    generation++;
    if (changes === 'all') {
      suspect.markStale(known);
      known.clear();
    } else forget(known, changes);
  });

  const isOver = ({ expiresAt }: Pick<Entry, 'expiresAt'>): boolean =>
    expiresAt !== null && expiresAt <= clock.now().toISOString();
  const callerOf = ({ caller, validUntil }: Entry): KeyCaller | null =>
    validUntil !== null && validUntil <= clock.now().toISOString() ? null : caller;
  /** Digests of keys that were found to be over; the oldest one is evicted. */
  const over = new Set<string>();
  const noteOver = (digest: string): void => {
    over.delete(digest);
    over.add(digest);
    if (over.size > overKept) over.delete(over.values().next().value ?? '');
  };

  const entryOf = async (secret: string, digest: string): Promise<Entry | { expired: true } | undefined> => {
    const header = tokens ? jwtHeaderOf(secret) : null;
    if (!tokens || !header) return load(db, 'secret.digest', digest);
    const verified = await tokens.read(secret, header, digest);
    return verified && { caller: verified.caller, validUntil: verified.expiresAt, expiresAt: null };
  };

  const read = async (secret: string, digest: string): Promise<KeyCaller | null> => {
    const before = generation;
    const entry = await entryOf(secret, digest);
    if (!entry) return null;
    if ('expired' in entry || isOver(entry)) {
      noteOver(digest);
      return null;
    }
    over.delete(digest);
    if (before === generation && feed.live) remember(known, digest, entry, capacity);
    // A token within the clock tolerance after its end counts, and is read anew each time.
    return entry.caller.token ? entry.caller : callerOf(entry);
  };

  return {
    find(secret, digest = digestOf(secret)) {
      const entry = feed.live ? known.get(digest) : undefined;
      if (entry && isOver(entry)) noteOver(digest);
      const caller = entry && callerOf(entry);
      if (entry && (caller || !entry.caller.token)) return caller ?? null;
      if (entry) known.delete(digest);
      return suspect.read(digest, () => read(secret, digest), callerOf);
    },
    hasExpired: (digest) => over.has(digest),
    whyRefused: (digest) => tokens?.whyRefused(digest) ?? null,
    async holder({ keyId, grant }) {
      if (grant === null) return findHolder(db, clock.now(), keyId);
      return tokens ? tokens.holder(grant) : null;
    },
  };
}

/** The caller that a key makes now, by the key's id. */
export async function findHolder(db: Db, now: Date, keyId: string): Promise<KeyCaller | null> {
  const found = await load(db, 'key.id', keyId);
  const entry = found && 'expired' in found ? undefined : found;
  // Of two secrets in a rotation either speaks for the key; only the key's own end counts.
  return entry && (entry.expiresAt === null || entry.expiresAt > now.toISOString()) ? entry.caller : null;
}

function remember(known: Map<string, Entry>, digest: string, entry: Entry, capacity: number): void {
  if (known.size >= capacity) {
    const [oldest] = known.keys();
    if (oldest) known.delete(oldest);
  }
  known.set(digest, entry);
}

function forget(known: Map<string, Entry>, changes: readonly Change[]): void {
  // What a workspace may use is no part of who its callers are.
  const touched = new Set(changes.filter(({ topic }) => topic !== 'catalog').map((change) => change.id));
  if (touched.size === 0) return;
  for (const [digest, { caller }] of known) {
    const about = [caller.keyId, caller.organisationId, caller.workspaceId, caller.userId];
    if (about.some((id) => id !== null && touched.has(id))) known.delete(digest);
  }
}

async function load(
  db: Db,
  by: 'secret.digest' | 'key.id',
  value: string,
): Promise<Entry | { expired: true } | undefined> {
  const row = await db
    .selectFrom('api_key_secrets as secret')
    .innerJoin('api_keys as key', 'key.id', 'secret.api_key_id')
    .innerJoin('organisations as organisation', 'organisation.id', 'key.organisation_id')
    .leftJoin('workspaces as workspace', 'workspace.id', 'key.workspace_id')
    .leftJoin('organisation_members as owner', (join) =>
      join
        .onRef('owner.user_id', '=', 'key.user_id')
        .onRef('owner.organisation_id', '=', 'key.organisation_id')
        .on('owner.status', '=', 'active'),
    )
    .leftJoin('workspace_members as standing', (join) =>
      join
        .onRef('standing.user_id', '=', 'key.user_id')
        .onRef('standing.workspace_id', '=', 'key.workspace_id')
        .on('standing.status', '=', 'active'),
    )
    .leftJoin('users as person', 'person.id', 'key.user_id')
    .select([
      'key.id',
      'key.name',
      'key.type',
      'key.status',
      'key.scopes',
      'key.organisation_id',
      'key.workspace_id',
      'key.user_id',
      'key.expires_at',
      'key.config_id',
      'key.allow_config_override',
      'key.metadata',
      'key.rate_limits',
      'key.usage_limits',
      'person.first_name',
      'person.last_name',
      'secret.transition_expires_at',
      'organisation.settings as organisation_settings',
      'organisation.workspace_overrides',
      'workspace.status as workspace_status',
      'workspace.settings as workspace_settings',
      'owner.role as owner_role',
      'standing.role as standing_role',
    ])
    .where(by, '=', value)
    .where('secret.status', '=', 'ACTIVE')
    .where('organisation.status', '=', 'active')
    .executeTakeFirst();
  if (!row || row.status === 'archived') return undefined;
  if (row.status === 'expired') return { expired: true };
  if (row.workspace_id !== null && row.workspace_status !== 'active') return undefined;
  const scopes = decode(row.scopes);
  let rights: Rights;
  if (row.type === 'organisation-service') {
    rights = adminKeyRights(scopes);
  } else if (row.workspace_id === null || row.workspace_settings === null) {
    return undefined;
  } else if (row.type === 'workspace-service') {
    rights = workspaceKeyRights(row.workspace_id, scopes);
  } else {
    if (!row.owner_role) return undefined;
    const settings = decode(row.organisation_settings);
    const inForce = settingsInForce(
      { settings, overrides: decode(row.workspace_overrides) },
      decode(row.workspace_settings),
    );
    const owner = { organisationRole: row.owner_role, workspaceRole: row.standing_role };
    rights = userKeyRights(row.workspace_id, scopes, owner, settings, inForce);
  }
  const caller: KeyCaller = {
    kind: kinds[row.type],
    organisationId: row.organisation_id,
    keyId: row.id,
    keyName: row.name,
    workspaceId: row.workspace_id,
    userId: row.user_id,
    exhausted: row.status === 'exhausted',
    defaults: {
      configId: row.config_id,
      allowConfigOverride: row.allow_config_override !== 0,
      metadata: decode(row.metadata),
      userName: row.user_id === null ? null : `${row.first_name} ${row.last_name}`.trim(),
    },
    limits: entityLimits(
      { organisationId: row.organisation_id, scope: 'api_key', entityId: row.id, name: row.name },
      decode(row.rate_limits),
      row.usage_limits === null ? [] : [decode(row.usage_limits)],
    ),
    rights,
  };
  return { caller, validUntil: earlier(row.expires_at, row.transition_expires_at), expiresAt: row.expires_at };
}

const earlier = (a: string | null, b: string | null): string | null => (a === null ? b : b === null || a < b ? a : b);
