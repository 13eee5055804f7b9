/** What happens to keys without a caller: its audit row, and the secret that waits for a reader. */
import type { Db } from '../../store/database.ts';
import type { ApiKeyTable } from '../../store/schema.ts';
import { type AuditAction, recordSystemEvent } from '../kernel/audit.ts';
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

/** A key's audit reference, from its row. */
export const keyReference = (row: Pick<ApiKeyTable, 'id' | 'organisation_id' | 'workspace_id'>) => ({
  id: row.id,
  organisationId: row.organisation_id,
  workspaceId: row.workspace_id,
});
