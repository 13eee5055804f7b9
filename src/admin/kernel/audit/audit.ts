/** The audit trail: one row for every administrative action, written with the action itself, or queued when the action was refused. */
import type { RefusedToken } from '../../../identity/jwt/open.ts';
import type { Db } from '../../../store/database.ts';
import type { AuditLogTable } from '../../../store/schema.ts';
import type { AuditAction, AuditResource } from './audit-vocabulary.ts';

export type AuditRow = AuditLogTable;

/** Something that happened by itself, such as a key that expired. */
export interface SystemEvent {
  organisationId: string;
  workspaceId?: string | null;
  resource: AuditResource;
  action: AuditAction;
  resourceId: string | null;
  details: Record<string, unknown>;
  /** What the caller was answered, where somebody asked; 200 where it does not say. */
  status?: number;
}

/** Who stands behind it: the program itself, or an identity provider. */
export interface SystemActor {
  id: string;
  type: 'system' | 'scim';
}

const theProgram: SystemActor = { id: 'system', type: 'system' };

export async function recordSystemEvent(
  db: Db,
  now: Date,
  event: SystemEvent,
  actor: SystemActor = theProgram,
): Promise<void> {
  await insertAuditRow(db, systemRow(now, event, actor));
}

/** Some hundred of them in one statement. */
export async function recordSystemEvents(
  db: Db,
  now: Date,
  events: readonly SystemEvent[],
  actor: SystemActor = theProgram,
): Promise<void> {
  if (events.length === 0) return;
  await db
    .insertInto('audit_logs')
    .values(events.map((event) => systemRow(now, event, actor)))
    .execute();
}

function systemRow(now: Date, event: SystemEvent, actor: SystemActor): AuditRow {
  return {
    id: Bun.randomUUIDv7(),
    timestamp: now.toISOString(),
    method: '',
    uri: '',
    request_id: '',
    request_body: '',
    query_params: '',
    request_headers: '',
    user_id: actor.id,
    user_type: actor.type,
    organisation_id: event.organisationId,
    workspace_id: event.workspaceId ?? null,
    response_status_code: event.status ?? 200,
    resource_type: event.resource,
    resource_id: event.resourceId,
    action: event.action,
    client_ip: '',
    country: null,
    details: JSON.stringify(event.details),
  };
}

/** A person let a client act for them, or did not. */
export const consentRow = (
  { userId, organisationId }: { userId: string; organisationId: string },
  details: Record<string, unknown>,
  now: Date,
): AuditRow => ({
  id: Bun.randomUUIDv7(),
  timestamp: now.toISOString(),
  method: 'POST',
  uri: '/oauth/postAuthorizeConsent',
  request_id: '',
  request_body: '',
  query_params: '',
  request_headers: '',
  user_id: userId,
  user_type: 'user',
  organisation_id: organisationId,
  workspace_id: typeof details.workspace_id === 'string' ? details.workspace_id : null,
  response_status_code: 200,
  resource_type: 'mcp_server',
  resource_id: null,
  action: 'manage',
  client_ip: '',
  country: null,
  details: JSON.stringify(details),
});

/** A JWT that was refused, on either plane. */
export const refusedTokenRow = (now: Date, { organisationId, masked, reason, untold }: RefusedToken): AuditRow =>
  systemRow(
    now,
    {
      organisationId,
      resource: 'jwt',
      action: 'invoke',
      resourceId: null,
      status: reason.status,
      details: { jwtToken: masked, error: reason.message, code: reason.code, ...(untold > 0 && { untold }) },
    },
    theProgram,
  );

export const insertAuditRow = async (db: Db, row: AuditRow): Promise<void> => {
  await db.insertInto('audit_logs').values(row).execute();
};

export interface AuditTrail {
  /** Writes the row soon, without making anyone wait; tries again while the store is away. */
  queue(row: AuditRow): void;
  /** Resolves when everything queued is stored, or when the store has been away too long to wait for it. */
  flush(): Promise<void>;
}

const retryDelayMs = 1_000;
const rowsKept = 10_000;
/** A program that is told to end must end, store or no store. */
const flushPatienceMs = 5_000;

export function createAuditTrail(db: Db, warn: (message: string) => void): AuditTrail {
  const waiting: AuditRow[] = [];
  let draining: Promise<void> | null = null;

  const drain = async () => {
    while (waiting.length > 0) {
      const batch = waiting.slice(0, 100);
      try {
        await db.insertInto('audit_logs').values(batch).execute();
        waiting.splice(0, batch.length);
      } catch (error) {
        const reason = error instanceof Error ? error.message : String(error);
        warn(`${waiting.length} audit rows wait for the store (${reason}); trying again in ${retryDelayMs} ms.`);
        await Bun.sleep(retryDelayMs);
      }
    }
    draining = null;
  };

  return {
    queue(row) {
      if (waiting.length >= rowsKept) {
        waiting.shift();
        warn(`The store has been away so long that the oldest of ${rowsKept} queued audit rows was dropped.`);
      }
      waiting.push(row);
      draining ??= drain();
    },
    flush: async () => {
      if (!draining) return;
      await Promise.race([draining, Bun.sleep(flushPatienceMs)]);
      if (waiting.length > 0) warn(`The store stayed away, so ${waiting.length} queued audit rows were lost.`);
    },
  };
}
