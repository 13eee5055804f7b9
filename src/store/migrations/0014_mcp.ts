/** The MCP gateway and its authorization server. */
import type { Db } from '../database.ts';

export async function mcp(db: Db): Promise<void> {
  await integrations(db);
  await servers(db);
  await connections(db);
  await oauth(db);
}

async function integrations({ schema }: Db): Promise<void> {
  await schema
    .createTable('mcp_integrations')
    .addColumn('id', 'text', (c) => c.primaryKey())
    .addColumn('organisation_id', 'text', (c) => c.notNull().references('organisations.id'))
    .addColumn('workspace_id', 'text', (c) => c.references('workspaces.id'))
    .addColumn('slug', 'text', (c) => c.notNull())
    .addColumn('name', 'text', (c) => c.notNull())
    .addColumn('description', 'text')
    .addColumn('status', 'text', (c) => c.notNull())
    .addColumn('url', 'text', (c) => c.notNull())
    .addColumn('transport', 'text', (c) => c.notNull())
    .addColumn('auth_type', 'text', (c) => c.notNull())
    .addColumn('configurations_sealed', 'text')
    .addColumn('secret_mappings', 'text', (c) => c.notNull())
    .addColumn('global_workspace_access', 'text')
    .addColumn('metadata', 'text', (c) => c.notNull())
    .addColumn('sync_status', 'text', (c) => c.notNull())
    .addColumn('last_synced_at', 'text')
    .addColumn('sync_error', 'text')
    .addColumn('created_by', 'text')
    .addColumn('created_at', 'text', (c) => c.notNull())
    .addColumn('last_updated_at', 'text', (c) => c.notNull())
    .addUniqueConstraint('mcp_integrations_slug', ['organisation_id', 'slug'])
    .execute();
  await schema
    .createIndex('mcp_integrations_list')
    .on('mcp_integrations')
    .columns(['organisation_id', 'status', 'created_at', 'id'])
    .execute();
  await schema
    .createTable('mcp_integration_workspaces')
    .addColumn('integration_id', 'text', (c) => c.notNull().references('mcp_integrations.id'))
    .addColumn('workspace_id', 'text', (c) => c.notNull().references('workspaces.id'))
    .addColumn('enabled', 'integer', (c) => c.notNull())
    .addColumn('created_at', 'text', (c) => c.notNull())
    .addColumn('last_updated_at', 'text', (c) => c.notNull())
    .addPrimaryKeyConstraint('mcp_integration_workspaces_pk', ['integration_id', 'workspace_id'])
    .execute();
  await schema
    .createIndex('mcp_integration_workspaces_workspace')
    .on('mcp_integration_workspaces')
    .columns(['workspace_id', 'enabled', 'integration_id'])
    .execute();
  await schema
    .createTable('mcp_capabilities')
    .addColumn('integration_id', 'text', (c) => c.notNull().references('mcp_integrations.id'))
    .addColumn('type', 'text', (c) => c.notNull())
    .addColumn('key', 'text', (c) => c.notNull())
    .addColumn('name', 'text', (c) => c.notNull())
    .addColumn('enabled', 'integer', (c) => c.notNull())
    .addColumn('definition', 'text', (c) => c.notNull())
    .addColumn('digest', 'text', (c) => c.notNull())
    .addColumn('pinned', 'text')
    .addColumn('pinned_digest', 'text')
    .addColumn('missing_since', 'text')
    .addColumn('created_at', 'text', (c) => c.notNull())
    .addColumn('last_updated_at', 'text', (c) => c.notNull())
    .addPrimaryKeyConstraint('mcp_capabilities_pk', ['integration_id', 'type', 'key'])
    .execute();
}

async function servers({ schema }: Db): Promise<void> {
  await schema
    .createTable('mcp_servers')
    .addColumn('id', 'text', (c) => c.primaryKey())
    .addColumn('organisation_id', 'text', (c) => c.notNull().references('organisations.id'))
    .addColumn('workspace_id', 'text', (c) => c.notNull().references('workspaces.id'))
    .addColumn('integration_id', 'text', (c) => c.notNull().references('mcp_integrations.id'))
    .addColumn('slug', 'text', (c) => c.notNull())
    .addColumn('name', 'text', (c) => c.notNull())
    .addColumn('description', 'text')
    .addColumn('status', 'text', (c) => c.notNull())
    .addColumn('default_user_access', 'text', (c) => c.notNull())
    .addColumn('created_by', 'text')
    .addColumn('created_at', 'text', (c) => c.notNull())
    .addColumn('last_updated_at', 'text', (c) => c.notNull())
    .addUniqueConstraint('mcp_servers_slug', ['organisation_id', 'slug'])
    .execute();
  await schema
    .createIndex('mcp_servers_list')
    .on('mcp_servers')
    .columns(['workspace_id', 'status', 'created_at', 'id'])
    .execute();
  await schema.createIndex('mcp_servers_integration').on('mcp_servers').columns(['integration_id', 'status']).execute();
  await schema
    .createTable('mcp_server_capabilities')
    .addColumn('server_id', 'text', (c) => c.notNull().references('mcp_servers.id'))
    .addColumn('type', 'text', (c) => c.notNull())
    .addColumn('key', 'text', (c) => c.notNull())
    .addColumn('enabled', 'integer', (c) => c.notNull())
    .addColumn('last_updated_at', 'text', (c) => c.notNull())
    .addPrimaryKeyConstraint('mcp_server_capabilities_pk', ['server_id', 'type', 'key'])
    .execute();
  await schema
    .createTable('mcp_server_users')
    .addColumn('server_id', 'text', (c) => c.notNull().references('mcp_servers.id'))
    .addColumn('user_id', 'text', (c) => c.notNull().references('users.id'))
    .addColumn('enabled', 'integer', (c) => c.notNull())
    .addColumn('last_updated_at', 'text', (c) => c.notNull())
    .addPrimaryKeyConstraint('mcp_server_users_pk', ['server_id', 'user_id'])
    .execute();
}

async function connections({ schema }: Db): Promise<void> {
  await schema
    .createTable('mcp_connections')
    .addColumn('server_id', 'text', (c) => c.notNull().references('mcp_servers.id'))
    .addColumn('user_id', 'text', (c) => c.notNull().references('users.id'))
    .addColumn('organisation_id', 'text', (c) => c.notNull().references('organisations.id'))
    .addColumn('status', 'text', (c) => c.notNull())
    .addColumn('issuer', 'text', (c) => c.notNull())
    .addColumn('tokens_sealed', 'text')
    .addColumn('created_at', 'text', (c) => c.notNull())
    .addColumn('last_updated_at', 'text', (c) => c.notNull())
    .addPrimaryKeyConstraint('mcp_connections_pk', ['server_id', 'user_id'])
    .execute();
  await schema
    .createIndex('mcp_connections_user')
    .on('mcp_connections')
    .columns(['user_id', 'organisation_id'])
    .execute();
  await schema
    .createTable('mcp_upstream_clients')
    .addColumn('server_id', 'text', (c) => c.notNull().references('mcp_servers.id'))
    .addColumn('issuer', 'text', (c) => c.notNull())
    .addColumn('client_sealed', 'text', (c) => c.notNull())
    .addColumn('created_at', 'text', (c) => c.notNull())
    .addPrimaryKeyConstraint('mcp_upstream_clients_pk', ['server_id', 'issuer'])
    .execute();
}

async function oauth({ schema }: Db): Promise<void> {
  await schema
    .createTable('oauth_clients')
    .addColumn('id', 'text', (c) => c.primaryKey())
    .addColumn('secret_digest', 'text')
    .addColumn('metadata', 'text', (c) => c.notNull())
    .addColumn('created_at', 'text', (c) => c.notNull())
    .addColumn('last_used_at', 'text', (c) => c.notNull())
    .execute();
  await schema.createIndex('oauth_clients_used').on('oauth_clients').column('last_used_at').execute();
  await schema
    .createTable('oauth_flows')
    .addColumn('digest', 'text', (c) => c.primaryKey())
    .addColumn('kind', 'text', (c) => c.notNull())
    .addColumn('payload_sealed', 'text', (c) => c.notNull())
    .addColumn('expires_at', 'text', (c) => c.notNull())
    .addColumn('used_at', 'text')
    .addColumn('grant_id', 'text')
    .execute();
  await schema.createIndex('oauth_flows_expiry').on('oauth_flows').column('expires_at').execute();
  await schema
    .createTable('oauth_grants')
    .addColumn('id', 'text', (c) => c.primaryKey())
    .addColumn('client_id', 'text', (c) => c.notNull().references('oauth_clients.id'))
    .addColumn('user_id', 'text', (c) => c.notNull().references('users.id'))
    .addColumn('organisation_id', 'text', (c) => c.notNull().references('organisations.id'))
    .addColumn('workspace_id', 'text', (c) => c.notNull().references('workspaces.id'))
    .addColumn('resource', 'text')
    .addColumn('scope', 'text', (c) => c.notNull())
    .addColumn('created_at', 'text', (c) => c.notNull())
    .addColumn('revoked_at', 'text')
    .execute();
  await schema.createIndex('oauth_grants_user').on('oauth_grants').columns(['user_id', 'organisation_id']).execute();
  await schema
    .createTable('oauth_tokens')
    .addColumn('digest', 'text', (c) => c.primaryKey())
    .addColumn('grant_id', 'text', (c) => c.notNull().references('oauth_grants.id'))
    .addColumn('kind', 'text', (c) => c.notNull())
    .addColumn('scope', 'text', (c) => c.notNull())
    .addColumn('expires_at', 'text', (c) => c.notNull())
    .addColumn('used_at', 'text')
    .addColumn('created_at', 'text', (c) => c.notNull())
    .execute();
  await schema.createIndex('oauth_tokens_grant').on('oauth_tokens').column('grant_id').execute();
  await schema.createIndex('oauth_tokens_expiry').on('oauth_tokens').column('expires_at').execute();
  await schema
    .createTable('signing_keys')
    .addColumn('kid', 'text', (c) => c.primaryKey())
    .addColumn('private_sealed', 'text', (c) => c.notNull())
    .addColumn('public_jwk', 'text', (c) => c.notNull())
    .addColumn('created_at', 'text', (c) => c.notNull())
    .execute();
}
