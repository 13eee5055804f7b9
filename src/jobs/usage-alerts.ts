/** A limit that is reached, or nearly: people are mailed, webhooks are called, the audit trail keeps it. */
import { audiences } from '../admin/api-keys/audience.ts';
import { recordSystemEvent } from '../admin/kernel/audit/audit.ts';
import type { Services } from '../admin/kernel/services.ts';
import { queueNotice } from '../admin/notices/outbox.ts';
import { queueDeliveries } from '../admin/webhooks/queue.ts';
import type { LimitScope, LimitType } from '../limits/limit.ts';
import type { Db } from '../store/database.ts';
import { workspaceAudience } from './audience.ts';

export interface UsageAlert {
  scope: LimitScope;
  entityId: string;
  organisationId: string;
  workspaceId: string | null;
  /** The name of a key or policy, the slug of anything else. */
  name: string;
  level: 'threshold' | 'exhausted';
  type: LimitType;
  used: number;
  limit: number;
  threshold: number | null;
  /** The group of a policy. */
  valueKey: string | null;
}

const auditResource = {
  api_key: 'api_key',
  workspace: 'workspace',
  provider: 'provider',
  integration: 'integration',
  policy: 'policy',
} as const;

export async function raiseAlerts(db: Db, services: Services, now: Date, alert: UsageAlert): Promise<void> {
  if (services.settings.auditLogs) {
    await recordSystemEvent(db, now, {
      organisationId: alert.organisationId,
      workspaceId: alert.workspaceId,
      resource: auditResource[alert.scope],
      action: 'alert',
      resourceId: alert.entityId,
      details: {
        alert: alert.level === 'threshold' ? 'threshold_reached' : 'limit_exhausted',
        type: alert.type,
        used: alert.used,
        limit: alert.limit,
        ...(alert.threshold !== null && { threshold: alert.threshold }),
        ...(alert.valueKey !== null && { value_key: alert.valueKey }),
      },
    });
  }
  await (alert.scope === 'api_key'
    ? mailAboutKey(db, services, now, alert)
    : mailAboutEntity(db, services, now, alert));
  await queueDeliveries(db, now, {
    organisationId: alert.organisationId,
    workspaceId: alert.workspaceId,
    event: alert.level === 'threshold' ? 'usage.threshold_reached' : 'usage.exhausted',
    data: {
      scope: alert.scope,
      id: alert.entityId,
      name: alert.name,
      organisation_id: alert.organisationId,
      workspace_id: alert.workspaceId,
      type: alert.type,
      used: alert.used,
      limit: alert.limit,
      threshold: alert.threshold,
      value_key: alert.valueKey,
    },
  });
}

/** With its unit: dollars, tokens or requests. */
export const amountText = (type: LimitType, amount: number): string =>
  type === 'cost' ? `$${amount.toFixed(2)}` : `${amount.toLocaleString('en-US')} ${type}`;

async function mailAboutKey(db: Db, { vault }: Services, now: Date, alert: UsageAlert): Promise<void> {
  const key = await db.selectFrom('api_keys').selectAll().where('id', '=', alert.entityId).executeTakeFirst();
  if (!key) return;
  const { organisationName, masked, owner, creator, recipients } = (await audiences(db, [key]))(key);
  const person = owner ?? creator;
  const common = {
    userName: person?.name ?? '',
    apiKeyType: key.type,
    apiKey: masked,
    keyName: key.name,
    organisationName,
    creditLimit: amountText(alert.type, alert.limit),
  };
  const to = { organisationId: key.organisation_id, recipients: person ? [...recipients, person.email] : recipients };
  if (alert.level === 'exhausted') {
    await queueNotice(db, vault, now, { ...to, template: 'apikey-usage-exhausted-alert', fields: common });
    return;
  }
  const fields = { ...common, creditThreshold: amountText(alert.type, alert.threshold ?? 0) };
  await queueNotice(db, vault, now, { ...to, template: 'apikey-usage-threshold-alert', fields });
}

async function mailAboutEntity(db: Db, services: Services, now: Date, alert: UsageAlert): Promise<void> {
  const { organisationName, recipients } = await workspaceAudience(db, alert.organisationId, alert.workspaceId);
  const to = { organisationId: alert.organisationId, recipients };
  const creditLimit = amountText(alert.type, alert.limit);
  const creditThreshold = amountText(alert.type, alert.threshold ?? 0);
  const { vault } = services;
  if (alert.scope === 'provider') {
    const common = { virtualKeyName: alert.name, organisationName, creditLimit };
    await (alert.level === 'exhausted'
      ? queueNotice(db, vault, now, { ...to, template: 'virtualkey-usage-exhausted-alert', fields: common })
      : queueNotice(db, vault, now, {
          ...to,
          template: 'virtualkey-usage-threshold-alert',
          fields: { ...common, creditThreshold },
        }));
    return;
  }
  const common = {
    entityType: alert.scope,
    entityName: alert.valueKey === null ? alert.name : `${alert.name} (${alert.valueKey})`,
    entityUrl: `${services.settings.publicUrl ?? ''}/${alert.scope === 'workspace' ? 'workspaces' : 'policies'}`,
    organisationName,
    creditLimit,
  };
  await (alert.level === 'exhausted'
    ? queueNotice(db, vault, now, { ...to, template: 'entity-usage-exhausted-alert', fields: common })
    : queueNotice(db, vault, now, {
        ...to,
        template: 'entity-usage-threshold-alert',
        fields: { ...common, creditThreshold },
      }));
}
