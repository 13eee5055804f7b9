/** Organisations, people, workspaces, keys, sessions, audit: the ground that every other table refers to. */
import { type ColumnDefinitionBuilder, sql } from 'kysely';
import type { Db, Store } from '../database.ts';
import { byteOrdered, indexText } from './engine.ts';

export async function identity(db: Db, engine: Store['engine']): Promise<void> {
  const schema = db.schema;
  const ordered = byteOrdered(engine);

  await schema
    .createTable('organisations')
    .addColumn('id', 'text', (c) => c.primaryKey())
    .addColumn('name', 'text', (c) => c.notNull())
    .addColumn('slug', 'text', (c) => c.notNull().unique())
    .addColumn('default_workspace_id', 'text')
    .addColumn('default_jwt_workspace_id', 'text')
    .addColumn('gateway_url', 'text')
    .addColumn('mcp_gateway_url', 'text')
    .addColumn('kms_key_arn', 'text')
    .addColumn('settings', 'text', (c) => c.notNull())
    .addColumn('workspace_overrides', 'text', (c) => c.notNull())
    .addColumn('properties', 'text', (c) => c.notNull())
    .addColumn('defaults', 'text', (c) => c.notNull())
    .addColumn('status', 'text', (c) => c.notNull())
    .addColumn('created_at', 'text', (c) => c.notNull())
    .addColumn('last_updated_at', 'text', (c) => c.notNull())
    .execute();

  await schema
    .createTable('users')
    .addColumn('id', 'text', (c) => c.primaryKey())
    .addColumn('email', 'text', (c) => c.notNull().unique())
    .addColumn('first_name', 'text', (c) => c.notNull())
    .addColumn('last_name', 'text', (c) => c.notNull())
    .addColumn('password_hash', 'text')
    .addColumn('last_organisation_id', 'text')
    .addColumn('created_at', 'text', (c) => c.notNull())
    .addColumn('last_updated_at', 'text', (c) => c.notNull())
    .addColumn('folded', 'text', (c) =>
      c.generatedAlwaysAs(sql`lower(first_name || ' ' || last_name || ' ' || email)`).stored(),
    )
    .execute();
  await indexText(db, engine, { name: 'users_search', table: 'users', column: 'folded' });

  await schema
    .createTable('organisation_members')
    .addColumn('organisation_id', 'text', (c) => c.notNull().references('organisations.id'))
    .addColumn('user_id', 'text', (c) => c.notNull().references('users.id'))
    .addColumn('role', 'text', (c) => c.notNull())
    .addColumn('status', 'text', (c) => c.notNull())
    .addColumn('provisioned_by', 'text', (c) => c.notNull())
    .addColumn('last_login_at', 'text')
    .addColumn('created_at', ordered, (c) => c.notNull())
    .addColumn('last_updated_at', 'text', (c) => c.notNull())
    .addPrimaryKeyConstraint('organisation_members_pk', ['organisation_id', 'user_id'])
    .execute();
  await schema
    .createIndex('organisation_members_list')
    .on('organisation_members')
    .columns(['organisation_id', 'status', 'created_at', 'user_id'])
    .execute();
  await schema
    .createIndex('organisation_members_role')
    .on('organisation_members')
    .columns(['organisation_id', 'role', 'status', 'created_at', 'user_id'])
    .execute();
  await schema.createIndex('organisation_members_user').on('organisation_members').column('user_id').execute();

  await schema
    .createTable('workspaces')
    .addColumn('id', 'text', (c) => c.primaryKey())
    .addColumn('organisation_id', 'text', (c) => c.notNull().references('organisations.id'))
    .addColumn('slug', 'text', (c) => c.notNull())
    .addColumn('name', 'text', (c) => c.notNull())
    .addColumn('icon', 'text')
    .addColumn('description', 'text')
    .addColumn('is_default', 'integer', (c) => c.notNull())
    .addColumn('status', 'text', (c) => c.notNull())
    .addColumn('defaults', 'text', (c) => c.notNull())
    .addColumn('usage_limits', 'text', (c) => c.notNull())
    .addColumn('rate_limits', 'text', (c) => c.notNull())
    .addColumn('settings', 'text', (c) => c.notNull())
    .addColumn('last_reset_at', 'text')
    .addColumn('created_by', 'text')
    .addColumn('created_at', 'text', (c) => c.notNull())
    .addColumn('last_updated_at', 'text', (c) => c.notNull())
    .addUniqueConstraint('workspaces_slug', ['organisation_id', 'slug'])
    .execute();
  await schema
    .createIndex('workspaces_list')
    .on('workspaces')
    .columns(['organisation_id', 'status', 'created_at', 'id'])
    .execute();

  await schema
    .createTable('workspace_members')
    .addColumn('workspace_id', 'text', (c) => c.notNull().references('workspaces.id'))
    .addColumn('user_id', 'text', (c) => c.notNull().references('users.id'))
    .addColumn('organisation_id', 'text', (c) => c.notNull().references('organisations.id'))
    .addColumn('role', 'text', (c) => c.notNull())
    .addColumn('status', 'text', (c) => c.notNull())
    .addColumn('created_at', ordered, (c) => c.notNull())
    .addColumn('last_updated_at', 'text', (c) => c.notNull())
    .addPrimaryKeyConstraint('workspace_members_pk', ['workspace_id', 'user_id'])
    .execute();
  await schema
    .createIndex('workspace_members_list')
    .on('workspace_members')
    .columns(['workspace_id', 'status', 'created_at', 'user_id'])
    .execute();
  await schema
    .createIndex('workspace_members_user')
    .on('workspace_members')
    .columns(['user_id', 'organisation_id'])
    .execute();

  await schema
    .createTable('guardrail_exclusions')
    .addColumn('organisation_id', 'text', (c) => c.notNull().references('organisations.id'))
    .addColumn('workspace_id', 'text', (c) => c.notNull().references('workspaces.id'))
    .addColumn('direction', 'text', (c) => c.notNull())
    .addColumn('created_at', 'text', (c) => c.notNull())
    .addPrimaryKeyConstraint('guardrail_exclusions_pk', ['workspace_id', 'direction'])
    .execute();
  await schema
    .createIndex('guardrail_exclusions_list')
    .on('guardrail_exclusions')
    .columns(['organisation_id', 'direction', 'created_at', 'workspace_id'])
    .execute();

  await schema
    .createTable('invites')
    .addColumn('id', 'text', (c) => c.primaryKey())
    .addColumn('organisation_id', 'text', (c) => c.notNull().references('organisations.id'))
    .addColumn('email', 'text', (c) => c.notNull())
    .addColumn('role', 'text', (c) => c.notNull())
    .addColumn('status', 'text', (c) => c.notNull())
    .addColumn('workspaces', 'text', (c) => c.notNull())
    .addColumn('api_key_scopes', 'text')
    .addColumn('invited_by', 'text', (c) => c.notNull())
    .addColumn('token_digest', 'text', (c) => c.notNull().unique())
    .addColumn('created_at', ordered, (c) => c.notNull())
    .addColumn('expires_at', 'text', (c) => c.notNull())
    .addColumn('accepted_at', 'text')
    .execute();
  await schema.createIndex('invites_list').on('invites').columns(['organisation_id', 'created_at', 'id']).execute();
  await schema.createIndex('invites_email').on('invites').columns(['email', 'organisation_id', 'status']).execute();
  await schema.createIndex('invites_expiry').on('invites').columns(['status', 'expires_at']).execute();

  await schema
    .createTable('api_keys')
    .addColumn('id', 'text', (c) => c.primaryKey())
    .addColumn('organisation_id', 'text', (c) => c.notNull().references('organisations.id'))
    .addColumn('workspace_id', 'text', (c) => c.references('workspaces.id'))
    .addColumn('user_id', 'text', (c) => c.references('users.id'))
    .addColumn('type', 'text', (c) => c.notNull())
    .addColumn('name', 'text', (c) => c.notNull())
    .addColumn('name_folded', ordered, (c) => c.notNull())
    .addColumn('description', 'text')
    .addColumn('status', 'text', (c) => c.notNull())
    .addColumn('creation_mode', 'text', (c) => c.notNull())
    .addColumn('scopes', 'text', (c) => c.notNull())
    .addColumn('rate_limits', 'text', (c) => c.notNull())
    .addColumn('usage_limits', 'text')
    .addColumn('next_usage_reset_at', 'text')
    .addColumn('metadata', 'text', (c) => c.notNull())
    .addColumn('config_id', 'text')
    .addColumn('allow_config_override', 'integer')
    .addColumn('alert_emails', 'text', (c) => c.notNull())
    .addColumn('expires_at', ordered)
    .addColumn('rotation_policy', 'text')
    .addColumn('next_rotation_at', 'text')
    .addColumn('rotation_announced_for', 'text')
    .addColumn('last_rotated_at', 'text')
    .addColumn('last_reset_at', 'text')
    .addColumn('created_by', 'text')
    .addColumn('last_updated_by', 'text')
    .addColumn('created_at', ordered, (c) => c.notNull())
    .addColumn('last_updated_at', ordered, (c) => c.notNull())
    // A key that never expires comes after every one that does. As a column, because SQLite enters no index at a pair with an expression in it.
    .addColumn('ends_at', ordered, (c) => generated(c.generatedAlwaysAs(sql`coalesce(expires_at, '9999')`), engine))
    .execute();
  for (const [place, columns] of Object.entries(keyPlaces)) {
    for (const order of keyOrders) {
      await sql`create index ${sql.ref(`api_keys_${place}_${order}`)} on api_keys
        (${sql.join([...columns, order, 'id', 'type', 'status', 'workspace_id', 'user_id', 'name_folded'].filter(unique).map((name) => sql.ref(name)))})
        where status != 'archived'`.execute(db);
    }
  }
  await schema
    .createIndex('api_keys_owner')
    .on('api_keys')
    .columns(['user_id', 'organisation_id', 'created_at', 'id'])
    .execute();
  await indexText(db, engine, { name: 'api_keys_search', table: 'api_keys', column: 'name_folded' });
  await schema.createIndex('api_keys_expiry').on('api_keys').columns(['status', 'expires_at']).execute();
  await schema.createIndex('api_keys_rotation').on('api_keys').columns(['status', 'next_rotation_at']).execute();
  await schema.createIndex('api_keys_usage_reset').on('api_keys').columns(['next_usage_reset_at']).execute();

  await schema
    .createTable('api_key_secrets')
    .addColumn('digest', 'text', (c) => c.primaryKey())
    .addColumn('api_key_id', 'text', (c) => c.notNull().references('api_keys.id'))
    .addColumn('masked', 'text', (c) => c.notNull())
    .addColumn('status', 'text', (c) => c.notNull())
    .addColumn('transition_expires_at', 'text')
    .addColumn('sealed', 'text')
    .addColumn('ending_announced', 'integer', (c) => c.notNull())
    .addColumn('created_at', 'text', (c) => c.notNull())
    .execute();
  await schema.createIndex('api_key_secrets_key').on('api_key_secrets').column('api_key_id').execute();
  await schema
    .createIndex('api_key_secrets_transition')
    .on('api_key_secrets')
    .columns(['status', 'transition_expires_at'])
    .execute();

  await schema
    .createTable('sessions')
    .addColumn('id', 'text', (c) => c.primaryKey())
    .addColumn('token_digest', 'text', (c) => c.notNull().unique())
    .addColumn('user_id', 'text', (c) => c.notNull().references('users.id'))
    .addColumn('organisation_id', 'text', (c) => c.notNull().references('organisations.id'))
    .addColumn('csrf_token', 'text', (c) => c.notNull())
    .addColumn('auth_time', 'text', (c) => c.notNull())
    .addColumn('expires_at', 'text', (c) => c.notNull())
    .addColumn('client_ip', 'text', (c) => c.notNull())
    .addColumn('user_agent', 'text', (c) => c.notNull())
    .execute();
  await schema.createIndex('sessions_user').on('sessions').columns(['user_id', 'organisation_id']).execute();
  await schema.createIndex('sessions_expiry').on('sessions').column('expires_at').execute();

  await schema
    .createTable('email_domains')
    .addColumn('id', 'text', (c) => c.primaryKey())
    .addColumn('organisation_id', 'text', (c) => c.notNull().references('organisations.id'))
    .addColumn('domain', 'text', (c) => c.notNull())
    .addColumn('allow_subdomains', 'integer', (c) => c.notNull())
    .addColumn('status', 'text', (c) => c.notNull())
    .addColumn('verification_code', 'text', (c) => c.notNull())
    .addColumn('mailed_code_digest', 'text', (c) => c.notNull())
    .addColumn('verified_at', 'text')
    .addColumn('created_at', 'text', (c) => c.notNull())
    .addColumn('last_updated_at', 'text', (c) => c.notNull())
    .addUniqueConstraint('email_domains_own', ['organisation_id', 'domain'])
    .execute();
  await schema
    .createIndex('email_domains_list')
    .on('email_domains')
    .columns(['organisation_id', 'created_at', 'id'])
    .execute();
  await schema
    .createIndex('email_domains_verified')
    .on('email_domains')
    .column('domain')
    .unique()
    .where(sql.ref('status'), '=', 'verified')
    .execute();

  await schema
    .createTable('audit_logs')
    .addColumn('id', 'text', (c) => c.primaryKey())
    .addColumn('timestamp', ordered, (c) => c.notNull())
    .addColumn('method', 'text', (c) => c.notNull())
    .addColumn('uri', 'text', (c) => c.notNull())
    .addColumn('request_id', 'text', (c) => c.notNull())
    .addColumn('request_body', 'text', (c) => c.notNull())
    .addColumn('query_params', 'text', (c) => c.notNull())
    .addColumn('request_headers', 'text', (c) => c.notNull())
    .addColumn('user_id', 'text', (c) => c.notNull())
    .addColumn('user_type', 'text', (c) => c.notNull())
    .addColumn('organisation_id', 'text', (c) => c.notNull())
    .addColumn('workspace_id', 'text')
    .addColumn('response_status_code', 'integer', (c) => c.notNull())
    .addColumn('resource_type', 'text', (c) => c.notNull())
    .addColumn('resource_id', 'text')
    .addColumn('action', 'text', (c) => c.notNull())
    .addColumn('client_ip', 'text', (c) => c.notNull())
    .addColumn('country', 'text')
    .addColumn('details', 'text')
    .execute();
  // What a list may ask of many rows at once; paths are left out, as they may be longer than an index entry of PostgreSQL.
  await schema
    .createIndex('audit_logs_kind')
    .on('audit_logs')
    .columns([
      'organisation_id',
      'timestamp',
      'id',
      'resource_type',
      'action',
      'method',
      'response_status_code',
      'user_type',
    ])
    .execute();
  for (const whose of ['user', 'workspace', 'request']) {
    await schema
      .createIndex(`audit_logs_${whose}`)
      .on('audit_logs')
      .columns(['organisation_id', `${whose}_id`, 'timestamp', 'id'])
      .execute();
  }
  await indexText(db, engine, { name: 'audit_logs_paths', table: 'audit_logs', column: 'uri' });
  // Last of all, because SQLite takes the youngest of those that will do, and this is the smallest.
  await schema
    .createIndex('audit_logs_list')
    .on('audit_logs')
    .columns(['organisation_id', 'timestamp', 'id'])
    .execute();

  await schema
    .createTable('notices')
    .addColumn('id', 'text', (c) => c.primaryKey())
    .addColumn('organisation_id', 'text', (c) => c.notNull())
    .addColumn('template', 'text', (c) => c.notNull())
    .addColumn('recipients', 'text', (c) => c.notNull())
    .addColumn('fields_sealed', 'text', (c) => c.notNull())
    .addColumn('status', 'text', (c) => c.notNull())
    .addColumn('created_at', 'text', (c) => c.notNull())
    .addColumn('sent_at', 'text')
    .execute();
  await schema
    .createIndex('notices_list')
    .on('notices')
    .columns(['organisation_id', 'status', 'created_at', 'id'])
    .execute();
  await schema.createIndex('notices_queue').on('notices').columns(['status', 'created_at']).execute();

  await schema
    .createTable('leases')
    .addColumn('name', 'text', (c) => c.primaryKey())
    .addColumn('holder', 'text', (c) => c.notNull())
    .addColumn('expires_at', 'text', (c) => c.notNull())
    .execute();

  await schema
    .createTable('master_key_proof')
    .addColumn('id', 'integer', (c) => c.primaryKey())
    .addColumn('sealed', 'text', (c) => c.notNull())
    .execute();
}

/** Where keys are looked for, and the orders that their list offers. Deleted keys are in no list and in none of these indexes. */
const keyPlaces = { organisation: ['organisation_id'], workspace: ['workspace_id'] };
const keyOrders = ['created_at', 'last_updated_at', 'ends_at', 'name_folded'];

const unique = (name: string, at: number, all: readonly string[]): boolean => all.indexOf(name) === at;

/** PostgreSQL keeps generated columns, SQLite works them out. */
const generated = (column: ColumnDefinitionBuilder, engine: Store['engine']) =>
  engine === 'postgres' ? column.stored() : column;
