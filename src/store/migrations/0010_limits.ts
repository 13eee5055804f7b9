/** The ledger of limits, policies, alert webhooks, and what a notice needs to be mailed. */
import type { Db } from '../database.ts';

export async function limits(db: Db): Promise<void> {
  await db.schema
    .createTable('limit_counters')
    .addColumn('counter', 'text', (c) => c.primaryKey())
    .addColumn('id', 'text', (c) => c.notNull().unique())
    .addColumn('organisation_id', 'text', (c) => c.notNull())
    .addColumn('scope', 'text', (c) => c.notNull())
    .addColumn('entity_id', 'text', (c) => c.notNull())
    .addColumn('kind', 'text', (c) => c.notNull())
    .addColumn('type', 'text', (c) => c.notNull())
    .addColumn('value_key', 'text')
    // Whole numbers up to 2^53, which both engines hand over as numbers.
    .addColumn('epoch', 'double precision', (c) => c.notNull())
    .addColumn('settled', 'double precision', (c) => c.notNull())
    .addColumn('ends_at', 'double precision')
    .addColumn('is_threshold_alerts_sent', 'integer', (c) => c.notNull().defaultTo(0))
    .addColumn('is_exhausted_alerts_sent', 'integer', (c) => c.notNull().defaultTo(0))
    .addColumn('last_reset_at', 'text')
    // 1 until the key, workspace, provider or policy that is counted has been told.
    .addColumn('dirty', 'integer', (c) => c.notNull().defaultTo(0))
    .addColumn('created_at', 'text', (c) => c.notNull())
    .addColumn('last_updated_at', 'text', (c) => c.notNull())
    .execute();
  await db.schema
    .createIndex('limit_counters_entity')
    .on('limit_counters')
    .columns(['entity_id', 'created_at', 'id'])
    .execute();
  await db.schema
    .createIndex('limit_counters_organisation')
    .on('limit_counters')
    .columns(['organisation_id'])
    .execute();
  await db.schema
    .createIndex('limit_counters_dirty')
    .on('limit_counters')
    .columns(['dirty', 'last_updated_at'])
    .execute();
  await db.schema.createIndex('limit_counters_ended').on('limit_counters').column('ends_at').execute();
  await db.schema
    .createTable('limit_entries')
    .addColumn('counter', 'text', (c) => c.notNull())
    .addColumn('epoch', 'double precision', (c) => c.notNull())
    .addColumn('hour', 'text', (c) => c.notNull())
    .addColumn('amount', 'double precision', (c) => c.notNull())
    .addColumn('calls', 'integer', (c) => c.notNull())
    .addPrimaryKeyConstraint('limit_entries_key', ['counter', 'epoch', 'hour'])
    .execute();
  await db.schema
    .createTable('limit_journal_segments')
    .addColumn('id', 'text', (c) => c.primaryKey())
    .addColumn('applied_at', 'text', (c) => c.notNull())
    .execute();
  await db.schema
    .createTable('policies')
    .addColumn('id', 'text', (c) => c.primaryKey())
    .addColumn('kind', 'text', (c) => c.notNull())
    .addColumn('organisation_id', 'text', (c) => c.notNull().references('organisations.id'))
    .addColumn('workspace_id', 'text', (c) => c.notNull().references('workspaces.id'))
    .addColumn('name', 'text')
    .addColumn('description', 'text')
    .addColumn('conditions', 'text', (c) => c.notNull())
    .addColumn('group_by', 'text', (c) => c.notNull())
    .addColumn('target', 'text', (c) => c.notNull())
    .addColumn('type', 'text', (c) => c.notNull())
    .addColumn('unit', 'text')
    // The value of a rate limit, the credit limit of a usage limit.
    .addColumn('value', 'double precision', (c) => c.notNull())
    .addColumn('alert_threshold', 'double precision')
    .addColumn('periodic_reset', 'text')
    .addColumn('periodic_reset_days', 'integer')
    .addColumn('next_usage_reset_at', 'text')
    .addColumn('last_reset_at', 'text')
    .addColumn('epoch', 'double precision', (c) => c.notNull())
    .addColumn('mode', 'text', (c) => c.notNull())
    .addColumn('clamp_max_tokens', 'integer', (c) => c.notNull())
    .addColumn('status', 'text', (c) => c.notNull())
    .addColumn('created_by', 'text')
    .addColumn('created_at', 'text', (c) => c.notNull())
    .addColumn('last_updated_at', 'text', (c) => c.notNull())
    .execute();
  await db.schema
    .createIndex('policies_list')
    .on('policies')
    .columns(['workspace_id', 'kind', 'status', 'created_at', 'id'])
    .execute();
  await db.schema.createIndex('policies_reset').on('policies').columns(['next_usage_reset_at']).execute();
  await db.schema
    .createTable('alert_webhooks')
    .addColumn('id', 'text', (c) => c.primaryKey())
    .addColumn('organisation_id', 'text', (c) => c.notNull().references('organisations.id'))
    .addColumn('workspace_id', 'text', (c) => c.references('workspaces.id'))
    .addColumn('url', 'text', (c) => c.notNull())
    .addColumn('secret_sealed', 'text', (c) => c.notNull())
    .addColumn('events', 'text', (c) => c.notNull())
    .addColumn('status', 'text', (c) => c.notNull())
    .addColumn('created_at', 'text', (c) => c.notNull())
    .addColumn('last_updated_at', 'text', (c) => c.notNull())
    .execute();
  await db.schema
    .createIndex('alert_webhooks_list')
    .on('alert_webhooks')
    .columns(['organisation_id', 'created_at', 'id'])
    .execute();
  await db.schema
    .createTable('webhook_deliveries')
    .addColumn('id', 'text', (c) => c.primaryKey())
    .addColumn('webhook_id', 'text', (c) => c.notNull().references('alert_webhooks.id').onDelete('cascade'))
    .addColumn('event', 'text', (c) => c.notNull())
    .addColumn('payload', 'text', (c) => c.notNull())
    .addColumn('status', 'text', (c) => c.notNull())
    .addColumn('attempts', 'integer', (c) => c.notNull())
    .addColumn('next_attempt_at', 'text')
    .addColumn('last_error', 'text')
    .addColumn('created_at', 'text', (c) => c.notNull())
    .addColumn('delivered_at', 'text')
    .execute();
  await db.schema
    .createIndex('webhook_deliveries_due')
    .on('webhook_deliveries')
    .columns(['status', 'next_attempt_at'])
    .execute();
  await db.schema
    .createIndex('webhook_deliveries_list')
    .on('webhook_deliveries')
    .columns(['webhook_id', 'created_at', 'id'])
    .execute();
  await db.schema.alterTable('api_keys').addColumn('expiry_announced_for', 'text').execute();
  await db.schema
    .alterTable('notices')
    .addColumn('attempts', 'integer', (c) => c.notNull().defaultTo(0))
    .execute();
  await db.schema.alterTable('notices').addColumn('next_attempt_at', 'text').execute();
  await db.schema.alterTable('notices').addColumn('last_error', 'text').execute();
  await db.schema.createIndex('notices_due').on('notices').columns(['status', 'next_attempt_at']).execute();
}
