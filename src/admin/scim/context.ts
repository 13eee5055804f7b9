/** What the parts of SCIM share while they serve one call. */
import type { Change } from '../../store/changes.ts';
import type { Db } from '../../store/database.ts';
import { recordSystemEvent, type SystemActor } from '../kernel/audit/audit.ts';
import type { AuditAction, AuditResource } from '../kernel/audit/audit-vocabulary.ts';
import type { Services } from '../kernel/services.ts';
import type { ScimSettings } from './settings.ts';

export interface ScimContext {
  /** A transaction where the call writes. */
  db: Db;
  services: Services;
  now: Date;
  organisationId: string;
  settings: ScimSettings;
  /** Whom audit rows of effects name: the identity provider's token, or the program where an administrator made a mapping. */
  actor: SystemActor;
  changed(...changes: Change[]): void;
}

/** An audit row for what a call brought about besides the thing it named. */
export async function recordEffect(
  { db, services, now, organisationId, actor }: ScimContext,
  effect: {
    resource: AuditResource;
    action: AuditAction;
    resourceId: string;
    workspaceId?: string;
    details: Record<string, unknown>;
  },
): Promise<void> {
  if (!services.settings.auditLogs) return;
  const { details, ...what } = effect;
  await recordSystemEvent(db, now, { organisationId, ...what, details: { ...details, source: 'scim' } }, actor);
}
