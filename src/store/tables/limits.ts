/** Rows of the ledger of limits, of policies, and of alert webhooks. */
import type { ColumnType } from 'kysely';
import type { RateUnit } from '../../limits/calendar.ts';
import type { LimitScope, LimitType } from '../../limits/limit.ts';
import type { PolicyCondition, PolicyGroupKey } from '../../limits/policy.ts';
import type { JsonText } from '../json.ts';

type Flag = 0 | 1;
type Timestamp = string;
type Defaulted<T> = ColumnType<T, T | undefined, T>;

/** What was spent in the running window of one counter. The truth: every other copy follows it. */
export interface LimitCounterTable {
  counter: string;
  /** What entities of a policy are called by. */
  id: string;
  organisation_id: string;
  scope: LimitScope;
  entity_id: string;
  kind: 'rate' | 'usage';
  type: LimitType;
  value_key: string | null;
  epoch: number;
  settled: number;
  /** The end of a rate window, in milliseconds. */
  ends_at: number | null;
  is_threshold_alerts_sent: Defaulted<Flag>;
  is_exhausted_alerts_sent: Defaulted<Flag>;
  last_reset_at: Timestamp | null;
  dirty: Flag;
  created_at: Timestamp;
  last_updated_at: Timestamp;
}

/** What was spent of a usage limit in one hour: the entries of an epoch add up to its counter. */
export interface LimitEntryTable {
  counter: string;
  epoch: number;
  /** `2026-03-18T15` */
  hour: string;
  amount: number;
  calls: number;
}

/** Segments of local journals that are in the ledger already. */
export interface LimitJournalSegmentTable {
  id: string;
  applied_at: Timestamp;
}

export interface PolicyTable {
  id: string;
  kind: 'rate' | 'usage';
  organisation_id: string;
  workspace_id: string;
  name: string | null;
  description: string | null;
  conditions: JsonText<PolicyCondition[]>;
  group_by: JsonText<PolicyGroupKey[]>;
  target: 'llm' | 'mcp_tools';
  type: LimitType;
  unit: RateUnit | null;
  value: number;
  alert_threshold: number | null;
  periodic_reset: 'weekly' | 'monthly' | null;
  periodic_reset_days: number | null;
  next_usage_reset_at: Timestamp | null;
  last_reset_at: Timestamp | null;
  /** The moment at which the running period began, in milliseconds. */
  epoch: number;
  mode: 'enforce' | 'shadow';
  clamp_max_tokens: Flag;
  status: 'active' | 'archived';
  created_by: string | null;
  created_at: Timestamp;
  last_updated_at: Timestamp;
}

export interface AlertWebhookTable {
  id: string;
  organisation_id: string;
  /** Null: alerts of the whole organisation. */
  workspace_id: string | null;
  url: string;
  secret_sealed: string;
  events: JsonText<string[]>;
  status: 'active' | 'paused';
  created_at: Timestamp;
  last_updated_at: Timestamp;
}

export interface WebhookDeliveryTable {
  id: string;
  webhook_id: string;
  event: string;
  payload: string;
  status: 'queued' | 'delivered' | 'failed';
  attempts: number;
  next_attempt_at: Timestamp | null;
  last_error: string | null;
  created_at: Timestamp;
  delivered_at: Timestamp | null;
}

export interface LimitTables {
  limit_counters: LimitCounterTable;
  limit_entries: LimitEntryTable;
  limit_journal_segments: LimitJournalSegmentTable;
  policies: PolicyTable;
  alert_webhooks: AlertWebhookTable;
  webhook_deliveries: WebhookDeliveryTable;
}
