/** Prompts with their versions, labels, partials, collections and shares. Every workspace gets its default collection. */
import type { Db } from '../database.ts';

export async function prompts(db: Db): Promise<void> {
  await collections(db);
  await versioned(db, 'prompts', 'prompt_versions', 'prompt_id');
  await versioned(db, 'prompt_partials', 'prompt_partial_versions', 'partial_id');
  await labels(db);
  await shares(db);
}

async function collections(db: Db): Promise<void> {
  await db.schema
    .createTable('collections')
    .addColumn('id', 'text', (c) => c.primaryKey())
    .addColumn('organisation_id', 'text', (c) => c.notNull().references('organisations.id'))
    .addColumn('workspace_id', 'text', (c) => c.notNull().references('workspaces.id'))
    .addColumn('slug', 'text', (c) => c.notNull())
    .addColumn('name', 'text', (c) => c.notNull())
    .addColumn('parent_collection_id', 'text', (c) => c.references('collections.id'))
    .addColumn('depth', 'integer', (c) => c.notNull())
    .addColumn('is_default', 'integer', (c) => c.notNull())
    .addColumn('status', 'text', (c) => c.notNull())
    .addColumn('created_at', 'text', (c) => c.notNull())
    .addColumn('last_updated_at', 'text', (c) => c.notNull())
    .addUniqueConstraint('collections_slug', ['organisation_id', 'slug'])
    .execute();
  await db.schema
    .createIndex('collections_list')
    .on('collections')
    .columns(['workspace_id', 'status', 'created_at', 'id'])
    .execute();
  await db.schema
    .createIndex('collections_children')
    .on('collections')
    .columns(['parent_collection_id', 'status'])
    .execute();
  const workspaces = await db
    .selectFrom('workspaces')
    .select(['id', 'organisation_id', 'created_at', 'slug'])
    .orderBy('id')
    .execute();
  for (const { id, organisation_id, created_at, slug } of workspaces) {
    await db
      .insertInto('collections')
      .values({
        id: Bun.randomUUIDv7(),
        organisation_id,
        workspace_id: id,
        slug: `collection-${slug}`,
        name: 'Default',
        parent_collection_id: null,
        depth: 0,
        is_default: 1,
        status: 'active',
        created_at,
        last_updated_at: created_at,
      })
      .execute();
  }
}

async function versioned(db: Db, table: string, versions: string, owner: string): Promise<void> {
  await db.schema
    .createTable(table)
    .addColumn('id', 'text', (c) => c.primaryKey())
    .addColumn('organisation_id', 'text', (c) => c.notNull().references('organisations.id'))
    .addColumn('workspace_id', 'text', (c) => c.notNull().references('workspaces.id'))
    .addColumn('collection_id', 'text', (c) => c.notNull().references('collections.id'))
    .addColumn('slug', 'text', (c) => c.notNull())
    .addColumn('name', 'text', (c) => c.notNull())
    .addColumn('status', 'text', (c) => c.notNull())
    .addColumn('default_version_id', 'text', (c) => c.notNull())
    .addColumn('latest_version_id', 'text', (c) => c.notNull())
    .addColumn('latest_version', 'integer', (c) => c.notNull())
    .addColumn('created_at', 'text', (c) => c.notNull())
    .addColumn('last_updated_at', 'text', (c) => c.notNull())
    .addUniqueConstraint(`${table}_slug`, ['organisation_id', 'slug'])
    .execute();
  await db.schema
    .createIndex(`${table}_list`)
    .on(table)
    .columns(['workspace_id', 'status', 'created_at', 'id'])
    .execute();
  await db.schema
    .createIndex(`${table}_whole`)
    .on(table)
    .columns(['organisation_id', 'status', 'created_at', 'id'])
    .execute();
  await db.schema.createIndex(`${table}_collection`).on(table).columns(['collection_id', 'status']).execute();

  const rows = db.schema
    .createTable(versions)
    .addColumn('id', 'text', (c) => c.primaryKey())
    .addColumn(owner, 'text', (c) => c.notNull().references(`${table}.id`))
    .addColumn('version', 'integer', (c) => c.notNull())
    .addColumn('description', 'text', (c) => c.notNull())
    .addColumn('created_by', 'text', (c) => c.notNull())
    .addColumn('created_at', 'text', (c) => c.notNull())
    .addUniqueConstraint(`${versions}_number`, [owner, 'version']);
  await (table === 'prompts'
    ? rows
        .addColumn('model', 'text')
        .addColumn('virtual_key', 'text', (c) => c.notNull())
        .addColumn('metadata', 'text', (c) => c.notNull())
        .addColumn('content_sealed', 'text', (c) => c.notNull())
    : rows.addColumn('string_sealed', 'text', (c) => c.notNull())
  ).execute();
}

async function labels(db: Db): Promise<void> {
  await db.schema
    .createTable('prompt_labels')
    .addColumn('id', 'text', (c) => c.primaryKey())
    .addColumn('organisation_id', 'text', (c) => c.notNull().references('organisations.id'))
    .addColumn('workspace_id', 'text', (c) => c.references('workspaces.id'))
    .addColumn('name', 'text', (c) => c.notNull())
    .addColumn('description', 'text', (c) => c.notNull())
    .addColumn('color_code', 'text', (c) => c.notNull())
    .addColumn('created_at', 'text', (c) => c.notNull())
    .addColumn('last_updated_at', 'text', (c) => c.notNull())
    .addUniqueConstraint('prompt_labels_name', ['organisation_id', 'workspace_id', 'name'])
    .execute();
  await db.schema
    .createTable('prompt_version_labels')
    .addColumn('prompt_id', 'text', (c) => c.notNull().references('prompts.id'))
    .addColumn('label_id', 'text', (c) => c.notNull())
    .addColumn('version_id', 'text', (c) => c.notNull().references('prompt_versions.id'))
    .addColumn('created_at', 'text', (c) => c.notNull())
    .addPrimaryKeyConstraint('prompt_version_labels_pk', ['prompt_id', 'label_id'])
    .execute();
  await db.schema.createIndex('prompt_version_labels_label').on('prompt_version_labels').column('label_id').execute();
}

async function shares(db: Db): Promise<void> {
  await db.schema
    .createTable('prompt_shares')
    .addColumn('id', 'text', (c) => c.primaryKey())
    .addColumn('item_type', 'text', (c) => c.notNull())
    .addColumn('item_id', 'text', (c) => c.notNull().unique())
    .addColumn('organisation_id', 'text', (c) => c.notNull().references('organisations.id'))
    .addColumn('workspace_id', 'text', (c) => c.notNull().references('workspaces.id'))
    .addColumn('audience', 'text', (c) => c.notNull())
    .addColumn('created_at', 'text', (c) => c.notNull())
    .execute();
  await db.schema
    .createIndex('prompt_shares_organisation')
    .on('prompt_shares')
    .columns(['organisation_id', 'audience'])
    .execute();
  await db.schema
    .createTable('prompt_share_workspaces')
    .addColumn('share_id', 'text', (c) => c.notNull().references('prompt_shares.id'))
    .addColumn('workspace_id', 'text', (c) => c.notNull().references('workspaces.id'))
    .addPrimaryKeyConstraint('prompt_share_workspaces_pk', ['share_id', 'workspace_id'])
    .execute();
  await db.schema
    .createIndex('prompt_share_workspaces_workspace')
    .on('prompt_share_workspaces')
    .column('workspace_id')
    .execute();
}
