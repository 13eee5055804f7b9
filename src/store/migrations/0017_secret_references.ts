/** Secret references, the workspaces that may use them, mappings on providers and plugins, and the keys of a rotation. */
import type { Db } from '../database.ts';

export async function secretReferences({ schema }: Db): Promise<void> {
  await schema
    .createTable('master_keys')
    .addColumn('id', 'text', (c) => c.primaryKey())
    .addColumn('wrapped', 'text', (c) => c.notNull())
    .addColumn('role', 'text', (c) => c.notNull())
    .addColumn('created_at', 'text', (c) => c.notNull())
    .execute();
  await schema
    .createTable('secret_references')
    .addColumn('id', 'text', (c) => c.primaryKey())
    .addColumn('organisation_id', 'text', (c) => c.notNull().references('organisations.id'))
    .addColumn('slug', 'text', (c) => c.notNull())
    .addColumn('name', 'text', (c) => c.notNull())
    .addColumn('description', 'text')
    .addColumn('status', 'text', (c) => c.notNull())
    .addColumn('manager_type', 'text', (c) => c.notNull())
    .addColumn('auth_config_sealed', 'text', (c) => c.notNull())
    .addColumn('secret_path', 'text', (c) => c.notNull())
    .addColumn('secret_key', 'text')
    .addColumn('allow_all_workspaces', 'integer', (c) => c.notNull())
    .addColumn('tags', 'text')
    .addColumn('created_by', 'text')
    .addColumn('created_at', 'text', (c) => c.notNull())
    .addColumn('last_updated_at', 'text', (c) => c.notNull())
    .addUniqueConstraint('secret_references_slug', ['organisation_id', 'slug'])
    .execute();
  await schema
    .createIndex('secret_references_list')
    .on('secret_references')
    .columns(['organisation_id', 'status', 'created_at', 'id'])
    .execute();
  await schema
    .createTable('secret_reference_workspaces')
    .addColumn('reference_id', 'text', (c) => c.notNull().references('secret_references.id'))
    .addColumn('workspace_id', 'text', (c) => c.notNull().references('workspaces.id'))
    .addPrimaryKeyConstraint('secret_reference_workspaces_pk', ['reference_id', 'workspace_id'])
    .execute();
  await schema
    .createIndex('secret_reference_workspaces_workspace')
    .on('secret_reference_workspaces')
    .columns(['workspace_id'])
    .execute();
  await schema
    .alterTable('providers')
    .addColumn('secret_mappings', 'text', (c) => c.notNull().defaultTo('[]'))
    .execute();
  await schema
    .alterTable('plugins')
    .addColumn('secret_mappings', 'text', (c) => c.notNull().defaultTo('[]'))
    .execute();
}
