/** SCIM: settings and token of an organisation, what its identity provider says about people and groups, and where groups lead. */
import type { Db, Store } from '../database.ts';
import { byteOrdered } from './engine.ts';

export async function scim(db: Db, engine: Store['engine']): Promise<void> {
  const ordered = byteOrdered(engine);
  await db.schema
    .createTable('scim_settings')
    .addColumn('organisation_id', 'text', (c) => c.primaryKey().references('organisations.id'))
    .addColumn('enabled', 'integer', (c) => c.notNull())
    .addColumn('organisation_management_only', 'integer', (c) => c.notNull())
    .addColumn('group_based_user_provisioning', 'integer', (c) => c.notNull())
    .addColumn('pattern_prefix', 'text', (c) => c.notNull())
    .addColumn('pattern_role_separator', 'text', (c) => c.notNull())
    .addColumn('token_id', 'text')
    .addColumn('token_digest', 'text', (c) => c.unique())
    .addColumn('token_masked', 'text')
    .addColumn('token_created_at', 'text')
    .addColumn('last_updated_at', 'text', (c) => c.notNull())
    .execute();

  await db.schema
    .createTable('scim_users')
    .addColumn('organisation_id', 'text', (c) => c.notNull().references('organisations.id'))
    .addColumn('user_id', 'text', (c) => c.notNull().references('users.id'))
    .addColumn('user_name', 'text', (c) => c.notNull())
    .addColumn('user_name_folded', ordered)
    .addColumn('external_id', ordered)
    .addColumn('display_name', 'text')
    .addColumn('title', 'text')
    .addColumn('roles_given', 'integer', (c) => c.notNull())
    .addColumn('deleted', 'integer', (c) => c.notNull())
    .addColumn('created_at', 'text', (c) => c.notNull())
    .addColumn('last_updated_at', 'text', (c) => c.notNull())
    .addPrimaryKeyConstraint('scim_users_pk', ['organisation_id', 'user_id'])
    .addUniqueConstraint('scim_users_name', ['organisation_id', 'user_name_folded'])
    .execute();
  await db.schema
    .createIndex('scim_users_external')
    .on('scim_users')
    .columns(['organisation_id', 'external_id'])
    .execute();

  await db.schema
    .createIndex('scim_users_deleted')
    .on('scim_users')
    .columns(['organisation_id', 'deleted', 'user_id'])
    .execute();

  await db.schema
    .createTable('scim_user_emails')
    .addColumn('organisation_id', 'text', (c) => c.notNull().references('organisations.id'))
    .addColumn('user_id', 'text', (c) => c.notNull().references('users.id'))
    .addColumn('position', 'integer', (c) => c.notNull())
    .addColumn('value', 'text', (c) => c.notNull())
    .addColumn('value_folded', 'text', (c) => c.notNull())
    .addColumn('type', 'text')
    .addColumn('is_primary', 'integer')
    .addPrimaryKeyConstraint('scim_user_emails_pk', ['organisation_id', 'user_id', 'position'])
    .execute();
  await db.schema
    .createIndex('scim_user_emails_value')
    .on('scim_user_emails')
    .columns(['organisation_id', 'value_folded'])
    .execute();

  await db.schema
    .createTable('scim_groups')
    .addColumn('id', 'text', (c) => c.primaryKey())
    .addColumn('organisation_id', 'text', (c) => c.notNull().references('organisations.id'))
    .addColumn('display_name', 'text', (c) => c.notNull())
    .addColumn('display_name_folded', ordered, (c) => c.notNull())
    .addColumn('external_id', ordered)
    .addColumn('pushed', 'integer', (c) => c.notNull())
    .addColumn('created_at', ordered, (c) => c.notNull())
    .addColumn('last_updated_at', 'text', (c) => c.notNull())
    .addUniqueConstraint('scim_groups_name', ['organisation_id', 'display_name_folded'])
    .execute();
  await db.schema
    .createIndex('scim_groups_list')
    .on('scim_groups')
    .columns(['organisation_id', 'created_at', 'id'])
    .execute();

  await db.schema
    .createTable('scim_group_members')
    .addColumn('group_id', 'text', (c) => c.notNull().references('scim_groups.id'))
    .addColumn('user_id', 'text', (c) => c.notNull().references('users.id'))
    .addColumn('created_at', 'text', (c) => c.notNull())
    .addPrimaryKeyConstraint('scim_group_members_pk', ['group_id', 'user_id'])
    .execute();
  await db.schema.createIndex('scim_group_members_user').on('scim_group_members').column('user_id').execute();

  // Archived mappings outlive their group, so they do not refer to it.
  await db.schema
    .createTable('scim_workspaces')
    .addColumn('id', 'text', (c) => c.primaryKey())
    .addColumn('organisation_id', 'text', (c) => c.notNull().references('organisations.id'))
    .addColumn('group_id', 'text', (c) => c.notNull())
    .addColumn('workspace_id', 'text', (c) => c.notNull().references('workspaces.id'))
    .addColumn('role', 'text', (c) => c.notNull())
    .addColumn('source', 'text', (c) => c.notNull())
    .addColumn('status', 'text', (c) => c.notNull())
    .addColumn('created_at', ordered, (c) => c.notNull())
    .addColumn('last_updated_at', 'text', (c) => c.notNull())
    .execute();
  await db.schema
    .createIndex('scim_workspaces_list')
    .on('scim_workspaces')
    .columns(['organisation_id', 'status', 'created_at', 'id'])
    .execute();
  await db.schema.createIndex('scim_workspaces_group').on('scim_workspaces').columns(['group_id', 'status']).execute();
  await db.schema
    .createIndex('scim_workspaces_workspace')
    .on('scim_workspaces')
    .columns(['workspace_id', 'status'])
    .execute();

  await db.schema
    .createTable('scim_grants')
    .addColumn('workspace_id', 'text', (c) => c.notNull().references('workspaces.id'))
    .addColumn('user_id', 'text', (c) => c.notNull().references('users.id'))
    .addColumn('organisation_id', 'text', (c) => c.notNull().references('organisations.id'))
    .addColumn('mapping_id', 'text', (c) => c.notNull())
    .addColumn('created_at', 'text', (c) => c.notNull())
    .addPrimaryKeyConstraint('scim_grants_pk', ['workspace_id', 'user_id'])
    .execute();
  await db.schema.createIndex('scim_grants_user').on('scim_grants').columns(['user_id', 'organisation_id']).execute();
}
