/** What a person let MCP clients do, and where they signed in through the gateway: both end when the person leaves. */
import type { Change } from '../store/changes.ts';
import type { Db } from '../store/database.ts';

export async function endMcpSignIns(
  db: Db,
  now: Date,
  { organisationId, userId }: { organisationId: string; userId: string },
): Promise<Change[]> {
  const grants = await db
    .selectFrom('oauth_grants')
    .select('id')
    .where('organisation_id', '=', organisationId)
    .where('user_id', '=', userId)
    .where('revoked_at', 'is', null)
    .execute();
  const connections = await db
    .selectFrom('mcp_connections')
    .select('server_id')
    .where('organisation_id', '=', organisationId)
    .where('user_id', '=', userId)
    .execute();
  if (grants.length > 0) {
    const ids = grants.map(({ id }) => id);
    await db.updateTable('oauth_grants').set({ revoked_at: now.toISOString() }).where('id', 'in', ids).execute();
    await db.deleteFrom('oauth_tokens').where('grant_id', 'in', ids).where('kind', '=', 'access').execute();
  }
  await db
    .deleteFrom('mcp_connections')
    .where('organisation_id', '=', organisationId)
    .where('user_id', '=', userId)
    .execute();
  return [
    ...grants.map(({ id }): Change => ({ topic: 'oauth_grant', id })),
    ...connections.map(({ server_id }): Change => ({ topic: 'mcp_connection', id: `${server_id} ${userId}` })),
  ];
}
