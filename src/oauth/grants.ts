/** What people allowed clients to do, and the tokens that prove it: opaque, kept as digests, rotated at every refresh. */
import { randomBytes } from 'node:crypto';
import type { KeyCaller } from '../identity/caller.ts';
import { userKeyRights } from '../identity/rights.ts';
import { digestOf } from '../identity/secrets.ts';
import { settingsInForce } from '../identity/settings.ts';
import { type OauthIdentity, oauthTokenPrefix } from '../mcp/identify.ts';
import type { ChangeFeed } from '../store/changes.ts';
import type { Db, Store } from '../store/database.ts';
import { decode } from '../store/json.ts';
import { OauthError } from './errors.ts';

const accessMs = 3_600_000;
const refreshMs = 30 * 86_400_000;
const mostKept = 20_000;

export interface NewGrant {
  clientId: string;
  userId: string;
  organisationId: string;
  workspaceId: string;
  resource: string | null;
  scope: string;
  /** The client gets a refresh token too. */
  mayRefresh: boolean;
}

export interface IssuedTokens {
  access_token: string;
  token_type: 'Bearer';
  expires_in: number;
  refresh_token?: string;
  scope: string;
}

export function createGrants(store: Store, feed: ChangeFeed, now: () => Date) {
  const { db } = store;
  /** Access tokens seen before; forgotten when anything about their people, places or grants changes. */
  const known = new Map<string, { identity: OauthIdentity; until: string; about: ReadonlySet<string> }>();

  feed.subscribe((changes) => {
    if (changes === 'all') {
      known.clear();
      return;
    }
    const touched = new Set(changes.filter(({ topic }) => topic !== 'catalog').map(({ id }) => id));
    for (const [digest, { about }] of known) {
      if ([...about].some((id) => touched.has(id))) known.delete(digest);
    }
  });

  const issue = async (tx: Db, grantId: string, scope: string, mayRefresh = true): Promise<IssuedTokens> => {
    const at = now();
    const token = () => oauthTokenPrefix + randomBytes(32).toString('base64url');
    const access = token();
    const refresh = `gwr_${randomBytes(32).toString('base64url')}`;
    const row = (kind: 'access' | 'refresh', secret: string, lifeMs: number) => ({
      digest: digestOf(secret),
      grant_id: grantId,
      kind,
      scope,
      expires_at: new Date(at.getTime() + lifeMs).toISOString(),
      used_at: null,
      created_at: at.toISOString(),
    });
    await tx
      .insertInto('oauth_tokens')
      .values([row('access', access, accessMs), ...(mayRefresh ? [row('refresh', refresh, refreshMs)] : [])])
      .execute();
    return {
      access_token: access,
      token_type: 'Bearer',
      expires_in: accessMs / 1_000,
      ...(mayRefresh && { refresh_token: refresh }),
      scope,
    };
  };

  const revoke = async (grantId: string): Promise<void> => {
    await store.atomically(async (tx) => {
      const at = now().toISOString();
      await tx
        .updateTable('oauth_grants')
        .set({ revoked_at: at })
        .where('id', '=', grantId)
        .where('revoked_at', 'is', null)
        .execute();
      await tx.deleteFrom('oauth_tokens').where('grant_id', '=', grantId).where('kind', '=', 'access').execute();
      await feed.publish(tx, [{ topic: 'oauth_grant', id: grantId }]);
    });
    feed.announce([{ topic: 'oauth_grant', id: grantId }]);
  };

  const liveToken = (tx: Db, token: string) =>
    tx
      .selectFrom('oauth_tokens as token')
      .innerJoin('oauth_grants as grant', 'grant.id', 'token.grant_id')
      .selectAll('grant')
      .select([
        'token.kind',
        'token.scope as token_scope',
        'token.expires_at',
        'token.used_at',
        'token.digest',
        'token.created_at as issued_at',
      ])
      .where('token.digest', '=', digestOf(token))
      .where('grant.revoked_at', 'is', null)
      .executeTakeFirst();

  return {
    /** Makes a grant and its first tokens; `note` runs in the same transaction. */
    make: (grant: NewGrant, note: (tx: Db, grantId: string) => Promise<void>): Promise<IssuedTokens> =>
      store.atomically(async (tx) => {
        const id = Bun.randomUUIDv7();
        await tx
          .insertInto('oauth_grants')
          .values({
            id,
            client_id: grant.clientId,
            user_id: grant.userId,
            organisation_id: grant.organisationId,
            workspace_id: grant.workspaceId,
            resource: grant.resource,
            scope: grant.scope,
            created_at: now().toISOString(),
            revoked_at: null,
          })
          .execute();
        await note(tx, id);
        return issue(tx, id, grant.scope, grant.mayRefresh);
      }),
    /** New tokens for a refresh token, which is used up; one that was used before takes the whole grant with it. */
    async refresh(
      clientId: string,
      token: string,
      scope: string | null,
      resource: string | null,
    ): Promise<IssuedTokens> {
      const outcome = await store.atomically(async (tx) => {
        const row = await liveToken(tx, token);
        if (row?.kind !== 'refresh' || row.client_id !== clientId) return 'unknown' as const;
        if (row.used_at !== null) return { reused: row.id };
        if (row.expires_at <= now().toISOString()) return 'unknown' as const;
        if (resource !== null && row.resource !== null && resource !== row.resource) return 'target' as const;
        const held = row.token_scope.split(' ');
        const asked = scope === null ? held : scope.split(' ').filter(Boolean);
        if (asked.some((one) => !held.includes(one))) return 'scope' as const;
        const { numUpdatedRows } = await tx
          .updateTable('oauth_tokens')
          .set({ used_at: now().toISOString() })
          .where('digest', '=', row.digest)
          .where('used_at', 'is', null)
          .executeTakeFirst();
        if (numUpdatedRows === 0n) return { reused: row.id };
        return { issued: await issue(tx, row.id, asked.join(' ')) };
      });
      if (outcome === 'unknown')
        throw new OauthError('invalid_grant', 'the refresh token is unknown, expired or revoked');
      if (outcome === 'scope') throw new OauthError('invalid_scope', 'a refresh may narrow the scope, not widen it');
      if (outcome === 'target') throw new OauthError('invalid_target', 'the grant is for another resource');
      if ('reused' in outcome) {
        await revoke(outcome.reused);
        throw new OauthError('invalid_grant', 'the refresh token was used before; the grant is revoked');
      }
      return outcome.issued;
    },
    revoke,
    /** Whatever kind of token it is: its whole grant ends. */
    async revokeToken(clientId: string, token: string): Promise<void> {
      const row = await liveToken(db, token);
      if (row && row.client_id === clientId) await revoke(row.id);
    },
    /** Services are told of tokens of their own organisation alone. */
    async introspect(token: string, organisationId: string): Promise<object> {
      const identity = await this.find(token);
      const row = identity && (await liveToken(db, token));
      if (!identity || !row || row.organisation_id !== organisationId) return { active: false };
      const person = await db.selectFrom('users').selectAll().where('id', '=', row.user_id).executeTakeFirst();
      return {
        active: true,
        token_type: 'Bearer',
        scope: row.token_scope,
        client_id: row.client_id,
        sub: row.user_id,
        user_id: row.user_id,
        username: person?.email ?? null,
        email: person?.email ?? null,
        display_name: person ? `${person.first_name} ${person.last_name}`.trim() : null,
        organisation_id: row.organisation_id,
        workspace_id: row.workspace_id,
        ...(row.resource !== null && { aud: row.resource, resource: row.resource }),
        iat: Math.floor(Date.parse(row.issued_at) / 1_000),
        exp: Math.floor(Date.parse(row.expires_at) / 1_000),
      };
    },
    async find(token: string): Promise<OauthIdentity | null> {
      const digest = digestOf(token);
      const at = now().toISOString();
      const kept = feed.live ? known.get(digest) : undefined;
      if (kept) return kept.until > at ? kept.identity : null;
      const row = await liveToken(db, token);
      if (row?.kind !== 'access' || row.expires_at <= at) return null;
      const caller = await callerOf(db, row);
      if (!caller) return null;
      const identity: OauthIdentity = {
        grantId: row.id,
        caller,
        clientId: row.client_id,
        scopes: new Set(row.token_scope.split(' ')),
        resource: row.resource,
      };
      if (known.size >= mostKept) known.clear();
      const about = new Set([row.id, row.user_id, row.workspace_id, row.organisation_id]);
      if (feed.live) known.set(digest, { identity, until: row.expires_at, about });
      return identity;
    },
  };
}

export type Grants = ReturnType<typeof createGrants>;

/** The person behind a grant with the rights that they hold now; null where they hold none there. */
export async function callerOf(
  db: Db,
  grant: { id: string; client_id: string; user_id: string; organisation_id: string; workspace_id: string },
): Promise<KeyCaller | null> {
  const row = await db
    .selectFrom('organisation_members as member')
    .innerJoin('organisations as organisation', 'organisation.id', 'member.organisation_id')
    .innerJoin('workspaces as workspace', (join) =>
      join.onRef('workspace.organisation_id', '=', 'organisation.id').on('workspace.id', '=', grant.workspace_id),
    )
    .innerJoin('users as person', 'person.id', 'member.user_id')
    .leftJoin('workspace_members as standing', (join) =>
      join
        .onRef('standing.user_id', '=', 'member.user_id')
        .onRef('standing.workspace_id', '=', 'workspace.id')
        .on('standing.status', '=', 'active'),
    )
    .select([
      'member.role',
      'organisation.settings',
      'organisation.workspace_overrides',
      'workspace.settings as workspace_settings',
      'person.first_name',
      'person.last_name',
      'standing.role as standing',
    ])
    .where('member.user_id', '=', grant.user_id)
    .where('member.organisation_id', '=', grant.organisation_id)
    .where('member.status', '=', 'active')
    .where('organisation.status', '=', 'active')
    .where('workspace.status', '=', 'active')
    .executeTakeFirst();
  if (!row) return null;
  const settings = decode(row.settings);
  const inForce = settingsInForce(
    { settings, overrides: decode(row.workspace_overrides) },
    decode(row.workspace_settings),
  );
  const owner = { organisationRole: row.role, workspaceRole: row.standing };
  return {
    kind: 'user-key',
    organisationId: grant.organisation_id,
    rights: userKeyRights(grant.workspace_id, ['mcp.invoke'], owner, settings, inForce),
    keyId: grant.id,
    keyName: grant.client_id,
    workspaceId: grant.workspace_id,
    userId: grant.user_id,
    exhausted: false,
    defaults: {
      configId: null,
      allowConfigOverride: false,
      metadata: {},
      userName: `${row.first_name} ${row.last_name}`.trim(),
    },
  };
}
