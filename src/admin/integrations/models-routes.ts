/** The models of an integration: read, set, and taken back. */
import { z } from 'zod';
import { ApiError } from '../../http/errors.ts';
import { endpoint } from '../kernel/endpoint.ts';
import { commaList, empty, search } from '../kernel/fields.ts';
import { folded } from '../kernel/lists/list-queries.ts';
import { catalogChange, integrationAccess, reachIntegration } from './access.ts';
import {
  asModelRecord,
  builtInRecord,
  catalogueOf,
  modelRecord,
  modelSlug,
  modelsUpdate,
  mostModels,
  upsertModels,
} from './models.ts';
import { integrationPath, workspaceQuery } from './schema.ts';

const tag = 'Integrations';
const path = '/integrations/:integration/models';
const aliases = ['/integrations/:integration/integration-models'] as const;
const audit = { resource: 'integration', action: 'update' } as const;

const listModels = endpoint({
  method: 'GET',
  path,
  aliases,
  tag,
  summary: 'List the models of an integration: those of its provider’s catalogue, and those of one’s own',
  description:
    'What is set for a model stands in its row; a model for which nothing is set follows `allow_all_models`.',
  access: integrationAccess('read'),
  params: integrationPath,
  query: () => workspaceQuery().extend({ search: search('the slug or the name') }),
  paging: { size: mostModels, max: mostModels },
  reply: () => z.object({ total: z.number(), allow_all_models: z.boolean(), models: z.array(modelRecord()) }),
  async handle({ caller, params, query, page, db, services }) {
    const row = await reachIntegration(db, caller, params.integration, 'read');
    const rows = await db
      .selectFrom('integration_models')
      .selectAll()
      .where('integration_id', '=', row.id)
      .orderBy('created_at', 'desc')
      .orderBy('slug')
      .execute();
    const stored = new Set(rows.map((model) => model.slug));
    const catalogue = catalogueOf(services, row);
    const open = row.allow_all_models === 1;
    const models = [
      ...rows.map((model) => asModelRecord(services.vault, model)),
      ...(catalogue?.slugs ?? [])
        .filter((slug) => !stored.has(slug))
        .map((slug) => builtInRecord(slug, catalogue?.nameOf(slug) ?? slug, open)),
    ];
    const part = folded(query.search ?? '');
    const found = models.filter(({ slug, name }) => folded(slug).includes(part) || folded(name).includes(part));
    return {
      total: found.length,
      allow_all_models: open,
      models: found.slice(page.offset, page.offset + page.size),
    };
  },
});

const setModels = endpoint({
  method: 'PUT',
  path,
  aliases,
  tag,
  summary: 'Set which models of an integration may be used, where they are and what they cost',
  access: integrationAccess('update'),
  audit,
  params: integrationPath,
  query: workspaceQuery,
  body: modelsUpdate,
  reply: empty,
  async handle({ caller, params, body, db, now, services, changed, note }) {
    const row = await reachIntegration(db, caller, params.integration, 'update');
    const { models = [], allow_all_models } = body;
    await upsertModels(db, services, now, row, models);
    if (typeof allow_all_models === 'boolean') {
      await db
        .updateTable('integrations')
        .set({ allow_all_models: allow_all_models ? 1 : 0, last_updated_at: now.toISOString() })
        .where('id', '=', row.id)
        .execute();
    }
    changed(catalogChange(row));
    note({
      resourceId: row.id,
      ...(row.workspace_id !== null && { workspaceId: row.workspace_id }),
      details: {
        slug: row.slug,
        models: models.map((model) => model.slug),
        ...(typeof allow_all_models === 'boolean' && { allow_all_models }),
      },
    });
    return {};
  },
});

const removeModels = endpoint({
  method: 'DELETE',
  path,
  aliases,
  tag,
  summary: 'Remove custom models of an integration; others that are named are disabled',
  description:
    'Name the models in the query (slugs, separated by commas) or in the body (models). Unknown ones are ignored.',
  access: integrationAccess('update'),
  audit,
  params: integrationPath,
  query: () => workspaceQuery().extend({ slugs: commaList(modelSlug(), mostModels).optional() }),
  body: () => z.object({ models: z.array(modelSlug()).max(mostModels).optional() }),
  bodyRequired: false,
  reply: empty,
  async handle({ caller, params, query, body, db, now, services, changed, note }) {
    const row = await reachIntegration(db, caller, params.integration, 'update');
    const slugs = [...new Set([...(query.slugs ?? []), ...(body.models ?? [])])];
    if (slugs.length === 0) throw new ApiError('AB01', 'Name the models: slugs in the query, or models in the body');
    await db
      .deleteFrom('integration_models')
      .where('integration_id', '=', row.id)
      .where('slug', 'in', slugs)
      .where((eb) => eb.or([eb('is_custom', '=', 1), eb('is_finetune', '=', 1)]))
      .execute();
    await db
      .updateTable('integration_models')
      .set({ enabled: 0, last_updated_at: now.toISOString() })
      .where('integration_id', '=', row.id)
      .where('slug', 'in', slugs)
      .execute();
    const known = await db
      .selectFrom('integration_models')
      .select('slug')
      .where('integration_id', '=', row.id)
      .where('slug', 'in', slugs)
      .execute();
    const stored = new Set(known.map((model) => model.slug));
    const catalogue = catalogueOf(services, row);
    const builtIn = slugs.filter((slug) => !stored.has(slug) && catalogue?.has(slug));
    await upsertModels(
      db,
      services,
      now,
      row,
      builtIn.map((slug) => ({ slug, enabled: false })),
    );
    changed(catalogChange(row));
    note({
      resourceId: row.id,
      ...(row.workspace_id !== null && { workspaceId: row.workspace_id }),
      details: { slug: row.slug, removed_models: slugs },
    });
    return {};
  },
});

export const modelEndpoints = [listModels, setModels, removeModels];
