/** What the parts of SCIM share while they serve one call. */
import type { Change } from '../../store/changes.ts';
import type { Db } from '../../store/database.ts';
import { recordSystemEvents, type SystemActor } from '../kernel/audit/audit.ts';
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

export interface Effect {
  resource: AuditResource;
  action: AuditAction;
  resourceId: string;
  workspaceId?: string;
  details: Record<string, unknown>;
}

/** Audit rows for what a call brought about besides the thing it named. */
export async function recordEffect(
  { db, services, now, organisationId, actor }: ScimContext,
  ...effects: readonly Effect[]
): Promise<void> {
  if (!services.settings.auditLogs) return;
  const events = effects.map(({ details, ...what }) => ({
    organisationId,
    ...what,
    details: { ...details, source: 'scim' },
  }));
  await recordSystemEvents(db, now, events, actor);
}
