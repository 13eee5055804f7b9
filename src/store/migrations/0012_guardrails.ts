/** Guardrails with their versions, and the credentials of the plugins that their checks ask. */
import type { Db } from '../database.ts';

export async function guardrails(db: Db): Promise<void> {
  const { schema } = db;
  await schema
    .createTable('guardrails')
    .addColumn('id', 'text', (c) => c.primaryKey())
    .addColumn('organisation_id', 'text', (c) => c.notNull().references('organisations.id'))
    .addColumn('workspace_id', 'text', (c) => c.references('workspaces.id'))
    .addColumn('slug', 'text', (c) => c.notNull())
    .addColumn('name', 'text', (c) => c.notNull())
    .addColumn('status', 'text', (c) => c.notNull())
    .addColumn('version_id', 'text', (c) => c.notNull())
    .addColumn('owner_id', 'text')
    .addColumn('updated_by', 'text')
    .addColumn('created_at', 'text', (c) => c.notNull())
    .addColumn('last_updated_at', 'text', (c) => c.notNull())
    .addUniqueConstraint('guardrails_slug', ['organisation_id', 'slug'])
    .execute();
  await schema
    .createIndex('guardrails_list')
    .on('guardrails')
    .columns(['organisation_id', 'status', 'created_at', 'id'])
    .execute();
  await schema.createIndex('guardrails_workspace').on('guardrails').columns(['workspace_id', 'status']).execute();

  await schema
    .createTable('guardrail_versions')
    .addColumn('id', 'text', (c) => c.primaryKey())
    .addColumn('guardrail_id', 'text', (c) => c.notNull().references('guardrails.id'))
    .addColumn('content_sealed', 'text', (c) => c.notNull())
    .addColumn('created_at', 'text', (c) => c.notNull())
    .addColumn('created_by', 'text')
    .execute();
  await schema
    .createIndex('guardrail_versions_list')
    .on('guardrail_versions')
    .columns(['guardrail_id', 'created_at', 'id'])
    .execute();

  await schema
    .createTable('plugins')
    .addColumn('organisation_id', 'text', (c) => c.notNull().references('organisations.id'))
    .addColumn('plugin', 'text', (c) => c.notNull())
    .addColumn('enabled', 'integer', (c) => c.notNull())
    .addColumn('credentials_sealed', 'text', (c) => c.notNull())
    .addColumn('created_at', 'text', (c) => c.notNull())
    .addColumn('last_updated_at', 'text', (c) => c.notNull())
    .addPrimaryKeyConstraint('plugins_pk', ['organisation_id', 'plugin'])
    .execute();
}
