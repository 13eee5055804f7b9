/** What happens to keys without a caller: its audit row, and the secret that waits for a reader. */
import type { Change } from '../../store/changes.ts';
import type { Db } from '../../store/database.ts';
import type { ApiKeyTable } from '../../store/schema.ts';
import { recordSystemEvent, recordSystemEvents } from '../kernel/audit/audit.ts';
import type { AuditAction } from '../kernel/audit/audit-vocabulary.ts';
import type { Services } from '../kernel/services.ts';

const purpose = 'api-key-secret';

/** Keeps a secret that nobody sees now, for the one who may reveal it. */
export const sealSecret =
  ({ vault }: Services) =>
  (secret: string): string =>
    vault.seal(secret, purpose);

export const openSecret = ({ vault }: Services, sealed: string): string => vault.open(sealed, purpose);

export async function recordKeyEvent(
  db: Db,
  services: Services,
  now: Date,
  key: { id: string; organisationId: string; workspaceId: string | null },
  event: { action: AuditAction; details: Record<string, unknown> },
): Promise<void> {
  if (!services.settings.auditLogs) return;
  await recordSystemEvent(db, now, {
    organisationId: key.organisationId,
    workspaceId: key.workspaceId,
    resource: 'api_key',
    resourceId: key.id,
    ...event,
  });
}

/** The rows of keys that went because their owner did, of what the leaving changed. */
export async function recordKeysGone(db: Db, services: Services, now: Date, changes: readonly Change[]): Promise<void> {
  const ids = changes.filter(({ topic }) => topic === 'api_key').map(({ id }) => id);
  if (!services.settings.auditLogs) return;
  for (let start = 0; start < ids.length; start += atOnce) {
    const keys = await db
      .selectFrom('api_keys')
      .select(['id', 'organisation_id', 'workspace_id', 'user_id', 'type', 'name'])
      .where('id', 'in', ids.slice(start, start + atOnce))
      .execute();
    const events = keys.map((key) => ({
      organisationId: key.organisation_id,
      workspaceId: key.workspace_id,
      resource: 'api_key' as const,
      resourceId: key.id,
      action: 'delete' as const,
      details: { type: key.type, name: key.name, user_id: key.user_id, reason: 'owner removed' },
    }));
    await recordSystemEvents(db, now, events);
  }
}

/** Parameters of one statement are limited. */
const atOnce = 500;

/** A key's audit reference, from its row. */
export const keyReference = (row: Pick<ApiKeyTable, 'id' | 'organisation_id' | 'workspace_id'>) => ({
  id: row.id,
  organisationId: row.organisation_id,
  workspaceId: row.workspace_id,
});
