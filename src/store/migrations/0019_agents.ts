/** The agent gateway: agents that were registered, their servers in workspaces, their skills, and who owns which task. */
import type { Db } from '../database.ts';

export async function agents(db: Db): Promise<void> {
  await integrations(db);
  await servers(db);
  await tasks(db);
}

async function integrations({ schema }: Db): Promise<void> {
  await schema
    .createTable('agent_integrations')
    .addColumn('id', 'text', (c) => c.primaryKey())
    .addColumn('organisation_id', 'text', (c) => c.notNull().references('organisations.id'))
    .addColumn('workspace_id', 'text', (c) => c.references('workspaces.id'))
    .addColumn('slug', 'text', (c) => c.notNull())
    .addColumn('name', 'text', (c) => c.notNull())
    .addColumn('description', 'text')
    .addColumn('status', 'text', (c) => c.notNull())
    .addColumn('url', 'text', (c) => c.notNull())
    .addColumn('protocol', 'text', (c) => c.notNull())
    .addColumn('auth_type', 'text', (c) => c.notNull())
    .addColumn('configurations_sealed', 'text')
    .addColumn('secret_mappings', 'text', (c) => c.notNull())
    .addColumn('global_workspace_access', 'text')
    .addColumn('agent_card', 'text')
    .addColumn('card_digest', 'text')
    .addColumn('card_status', 'text', (c) => c.notNull())
    .addColumn('card_fetched_at', 'text')
    .addColumn('card_error', 'text')
    .addColumn('created_by', 'text')
    .addColumn('created_at', 'text', (c) => c.notNull())
    .addColumn('last_updated_at', 'text', (c) => c.notNull())
    .addUniqueConstraint('agent_integrations_slug', ['organisation_id', 'slug'])
    .execute();
  await schema
    .createIndex('agent_integrations_list')
    .on('agent_integrations')
    .columns(['organisation_id', 'status', 'created_at', 'id'])
    .execute();
  await schema
    .createIndex('agent_integrations_cards')
    .on('agent_integrations')
    .columns(['card_status', 'status', 'last_updated_at'])
    .execute();
  await schema
    .createTable('agent_integration_workspaces')
    .addColumn('integration_id', 'text', (c) => c.notNull().references('agent_integrations.id'))
    .addColumn('workspace_id', 'text', (c) => c.notNull().references('workspaces.id'))
    .addColumn('enabled', 'integer', (c) => c.notNull())
    .addColumn('created_at', 'text', (c) => c.notNull())
    .addColumn('last_updated_at', 'text', (c) => c.notNull())
    .addPrimaryKeyConstraint('agent_integration_workspaces_pk', ['integration_id', 'workspace_id'])
    .execute();
  await schema
    .createIndex('agent_integration_workspaces_workspace')
    .on('agent_integration_workspaces')
    .columns(['workspace_id', 'enabled', 'integration_id'])
    .execute();
  await schema
    .createTable('agent_skills')
    .addColumn('integration_id', 'text', (c) => c.notNull().references('agent_integrations.id'))
    .addColumn('skill_id', 'text', (c) => c.notNull())
    .addColumn('definition', 'text', (c) => c.notNull())
    .addColumn('enabled', 'integer', (c) => c.notNull())
    .addColumn('missing_since', 'text')
    .addColumn('created_at', 'text', (c) => c.notNull())
    .addColumn('last_updated_at', 'text', (c) => c.notNull())
    .addPrimaryKeyConstraint('agent_skills_pk', ['integration_id', 'skill_id'])
    .execute();
}

async function servers({ schema }: Db): Promise<void> {
  await schema
    .createTable('agent_servers')
    .addColumn('id', 'text', (c) => c.primaryKey())
    .addColumn('organisation_id', 'text', (c) => c.notNull().references('organisations.id'))
    .addColumn('workspace_id', 'text', (c) => c.notNull().references('workspaces.id'))
    .addColumn('integration_id', 'text', (c) => c.notNull().references('agent_integrations.id'))
    .addColumn('slug', 'text', (c) => c.notNull())
    .addColumn('name', 'text', (c) => c.notNull())
    .addColumn('description', 'text')
    .addColumn('status', 'text', (c) => c.notNull())
    .addColumn('default_user_access', 'text', (c) => c.notNull())
    .addColumn('created_by', 'text')
    .addColumn('created_at', 'text', (c) => c.notNull())
    .addColumn('last_updated_at', 'text', (c) => c.notNull())
    .addUniqueConstraint('agent_servers_slug', ['organisation_id', 'slug'])
    .execute();
  await schema
    .createIndex('agent_servers_list')
    .on('agent_servers')
    .columns(['workspace_id', 'status', 'created_at', 'id'])
    .execute();
  await schema
    .createIndex('agent_servers_integration')
    .on('agent_servers')
    .columns(['integration_id', 'status'])
    .execute();
  await schema
    .createTable('agent_server_skills')
    .addColumn('server_id', 'text', (c) => c.notNull().references('agent_servers.id'))
    .addColumn('skill_id', 'text', (c) => c.notNull())
    .addColumn('enabled', 'integer', (c) => c.notNull())
    .addColumn('last_updated_at', 'text', (c) => c.notNull())
    .addPrimaryKeyConstraint('agent_server_skills_pk', ['server_id', 'skill_id'])
    .execute();
  await schema
    .createTable('agent_server_users')
    .addColumn('server_id', 'text', (c) => c.notNull().references('agent_servers.id'))
    .addColumn('user_id', 'text', (c) => c.notNull().references('users.id'))
    .addColumn('enabled', 'integer', (c) => c.notNull())
    .addColumn('last_updated_at', 'text', (c) => c.notNull())
    .addPrimaryKeyConstraint('agent_server_users_pk', ['server_id', 'user_id'])
    .execute();
}

/** The key is a digest: ids are the agent's own words, of any length. */
async function tasks({ schema }: Db): Promise<void> {
  await schema
    .createTable('agent_owners')
    .addColumn('key', 'text', (c) => c.primaryKey())
    .addColumn('workspace_id', 'text', (c) => c.notNull())
    .addColumn('owner', 'text', (c) => c.notNull())
    .addColumn('created_at', 'text', (c) => c.notNull())
    .execute();
  await schema.createIndex('agent_owners_age').on('agent_owners').columns(['created_at']).execute();
}
