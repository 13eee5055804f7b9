/** Events for webhooks, queued with the change that caused them. The delivery job calls the addresses. */
import type { Db } from '../../store/database.ts';
import { decode } from '../../store/json.ts';

export const webhookEvents = [
  'usage.threshold_reached',
  'usage.exhausted',
  'api_key.expired',
  'provider.expired',
] as const;
export type WebhookEvent = (typeof webhookEvents)[number];

interface Happening {
  organisationId: string;
  /** Null: it concerns no one workspace. */
  workspaceId: string | null;
  event: WebhookEvent;
  data: Record<string, unknown>;
}

export async function queueDeliveries(db: Db, now: Date, { organisationId, workspaceId, event, data }: Happening) {
  const hooks = await db
    .selectFrom('alert_webhooks')
    .select(['id', 'events', 'workspace_id'])
    .where('organisation_id', '=', organisationId)
    .where('status', '=', 'active')
    .execute();
  const at = now.toISOString();
  for (const hook of hooks) {
    if (hook.workspace_id !== null && hook.workspace_id !== workspaceId) continue;
    if (!decode(hook.events).includes(event)) continue;
    const id = Bun.randomUUIDv7();
    await db
      .insertInto('webhook_deliveries')
      .values({
        id,
        webhook_id: hook.id,
        event,
        payload: JSON.stringify({ id, type: event, created_at: at, data }),
        status: 'queued',
        attempts: 0,
        next_attempt_at: at,
        last_error: null,
        created_at: at,
        delivered_at: null,
      })
      .execute();
  }
}
