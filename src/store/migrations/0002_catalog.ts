/** What the gateway may use: integrations with their models and grants, saved providers, routing configs. */
import type { Db } from '../database.ts';

export async function catalog(db: Db): Promise<void> {
  const schema = db.schema;

  await schema
    .createTable('integrations')
    .addColumn('id', 'text', (c) => c.primaryKey())
    .addColumn('organisation_id', 'text', (c) => c.notNull().references('organisations.id'))
    .addColumn('workspace_id', 'text', (c) => c.references('workspaces.id'))
    .addColumn('ai_provider_id', 'text', (c) => c.notNull())
    .addColumn('slug', 'text', (c) => c.notNull())
    .addColumn('name', 'text', (c) => c.notNull())
    .addColumn('description', 'text')
    .addColumn('status', 'text', (c) => c.notNull())
    .addColumn('key_sealed', 'text')
    .addColumn('configurations_sealed', 'text')
    .addColumn('secret_mappings', 'text', (c) => c.notNull())
    .addColumn('tags', 'text')
    .addColumn('pricing_adjustments', 'text')
    .addColumn('allow_all_models', 'integer', (c) => c.notNull())
    .addColumn('global_workspace_access', 'text')
    .addColumn('created_by', 'text')
    .addColumn('created_at', 'text', (c) => c.notNull())
    .addColumn('last_updated_at', 'text', (c) => c.notNull())
    .addUniqueConstraint('integrations_slug', ['organisation_id', 'slug'])
    .execute();
  await schema
    .createIndex('integrations_list')
    .on('integrations')
    .columns(['organisation_id', 'status', 'created_at', 'id'])
    .execute();
  await schema
    .createIndex('integrations_workspace')
    .on('integrations')
    .columns(['workspace_id', 'status', 'created_at', 'id'])
    .execute();

  await schema
    .createTable('integration_models')
    .addColumn('integration_id', 'text', (c) => c.notNull().references('integrations.id'))
    .addColumn('slug', 'text', (c) => c.notNull())
    .addColumn('name', 'text')
    .addColumn('description', 'text')
    .addColumn('enabled', 'integer', (c) => c.notNull())
    .addColumn('is_custom', 'integer', (c) => c.notNull())
    .addColumn('is_finetune', 'integer', (c) => c.notNull())
    .addColumn('base_model_slug', 'text')
    .addColumn('configurations_sealed', 'text')
    .addColumn('pricing_config', 'text')
    .addColumn('created_at', 'text', (c) => c.notNull())
    .addColumn('last_updated_at', 'text', (c) => c.notNull())
    .addPrimaryKeyConstraint('integration_models_pk', ['integration_id', 'slug'])
    .execute();

  await schema
    .createTable('integration_workspaces')
    .addColumn('integration_id', 'text', (c) => c.notNull().references('integrations.id'))
    .addColumn('workspace_id', 'text', (c) => c.notNull().references('workspaces.id'))
    .addColumn('enabled', 'integer', (c) => c.notNull())
    .addColumn('status', 'text', (c) => c.notNull())
    .addColumn('usage_limits', 'text')
    .addColumn('next_usage_reset_at', 'text')
    .addColumn('rate_limits', 'text', (c) => c.notNull())
    .addColumn('last_reset_at', 'text')
    .addColumn('created_at', 'text', (c) => c.notNull())
    .addColumn('last_updated_at', 'text', (c) => c.notNull())
    .addPrimaryKeyConstraint('integration_workspaces_pk', ['integration_id', 'workspace_id'])
    .execute();
  await schema
    .createIndex('integration_workspaces_workspace')
    .on('integration_workspaces')
    .columns(['workspace_id', 'enabled', 'integration_id'])
    .execute();
  await schema
    .createIndex('integration_workspaces_reset')
    .on('integration_workspaces')
    .column('next_usage_reset_at')
    .execute();

  await schema
    .createTable('providers')
    .addColumn('id', 'text', (c) => c.primaryKey())
    .addColumn('organisation_id', 'text', (c) => c.notNull().references('organisations.id'))
    .addColumn('workspace_id', 'text', (c) => c.notNull().references('workspaces.id'))
    .addColumn('integration_id', 'text', (c) => c.notNull().references('integrations.id'))
    .addColumn('slug', 'text', (c) => c.notNull())
    .addColumn('name', 'text', (c) => c.notNull())
    .addColumn('note', 'text')
    .addColumn('status', 'text', (c) => c.notNull())
    .addColumn('usage_limits', 'text')
    .addColumn('next_usage_reset_at', 'text')
    .addColumn('rate_limits', 'text', (c) => c.notNull())
    .addColumn('expires_at', 'text')
    .addColumn('tags', 'text')
    .addColumn('last_reset_at', 'text')
    .addColumn('created_by', 'text')
    .addColumn('created_at', 'text', (c) => c.notNull())
    .addColumn('last_updated_at', 'text', (c) => c.notNull())
    .addUniqueConstraint('providers_slug', ['workspace_id', 'slug'])
    .execute();
  await schema
    .createIndex('providers_list')
    .on('providers')
    // In the order of the list, whatever the states that it shows.
    .columns(['workspace_id', 'created_at', 'id', 'status'])
    .execute();
  await schema.createIndex('providers_integration').on('providers').columns(['integration_id', 'status']).execute();
  await schema.createIndex('providers_expiry').on('providers').columns(['status', 'expires_at']).execute();
  await schema.createIndex('providers_reset').on('providers').column('next_usage_reset_at').execute();

  await schema
    .createTable('configs')
    .addColumn('id', 'text', (c) => c.primaryKey())
    .addColumn('organisation_id', 'text', (c) => c.notNull().references('organisations.id'))
    .addColumn('workspace_id', 'text', (c) => c.notNull().references('workspaces.id'))
    .addColumn('slug', 'text', (c) => c.notNull())
    .addColumn('name', 'text', (c) => c.notNull())
    .addColumn('is_default', 'integer', (c) => c.notNull())
    .addColumn('status', 'text', (c) => c.notNull())
    .addColumn('owner_id', 'text')
    .addColumn('updated_by', 'text')
    // No foreign key: a config and its first version name each other.
    .addColumn('version_id', 'text', (c) => c.notNull())
    .addColumn('created_at', 'text', (c) => c.notNull())
    .addColumn('last_updated_at', 'text', (c) => c.notNull())
    .addUniqueConstraint('configs_slug', ['workspace_id', 'slug'])
    .execute();
  await schema
    .createIndex('configs_list')
    .on('configs')
    .columns(['workspace_id', 'status', 'created_at', 'id'])
    .execute();
  await schema
    .createIndex('configs_organisation')
    .on('configs')
    .columns(['organisation_id', 'status', 'created_at', 'id'])
    .execute();

  await schema.createIndex('configs_reference').on('configs').columns(['organisation_id', 'slug']).execute();

  await schema
    .createTable('config_versions')
    .addColumn('id', 'text', (c) => c.primaryKey())
    .addColumn('config_id', 'text', (c) => c.notNull().references('configs.id'))
    .addColumn('config_sealed', 'text', (c) => c.notNull())
    .addColumn('created_at', 'text', (c) => c.notNull())
    .addColumn('created_by', 'text')
    .execute();
  await schema
    .createIndex('config_versions_list')
    .on('config_versions')
    .columns(['config_id', 'created_at', 'id'])
    .execute();
}
