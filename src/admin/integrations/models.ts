/** What is set for single models of an integration: whether they may be used, where they are, what they cost. */
import { z } from 'zod';
import {
  type ModelConfigurations,
  openConfigurations,
  openModelConfigurations,
  sealJson,
} from '../../catalog/saved.ts';
import { faultOfCustomHost, type TrustedHosts } from '../../http/custom-host.ts';
import { invalid } from '../../http/errors.ts';
import { lazy } from '../../lazy.ts';
import type { Db } from '../../store/database.ts';
import { decode, encode } from '../../store/json.ts';
import type { IntegrationModelTable, IntegrationTable } from '../../store/tables/catalog.ts';
import type { Vault } from '../../store/vault.ts';
import { flag } from '../kernel/fields.ts';
import type { Services } from '../kernel/services.ts';
import { maskedModelConfigurations } from './masking.ts';
import { pricingConfig } from './pricing.ts';
import { customHeaders, customHost } from './upstream-overrides.ts';

/** How many models of one integration may have something set. */
export const mostModels = 1_000;

export const modelSlug = lazy(() =>
  z
    .string()
    .trim()
    .min(1)
    .max(512)
    .meta({ examples: ['gpt-4o'] }),
);

const modelConfigurations = () =>
  z
    .strictObject({
      custom_host: customHost().nullable(),
      custom_headers: customHeaders().nullable(),
      masked_custom_headers: z.record(z.string().max(128), z.string().max(8_192)).describe('Ignored'),
    })
    .partial()
    .refine((fields) => Object.keys(fields).length > 0, { message: 'must not be empty' });

const modelUpdate = () =>
  z.object({
    slug: modelSlug().describe('The model as the provider knows it'),
    enabled: flag,
    name: z.string().trim().min(1).max(255).nullish(),
    description: z.string().trim().max(1_024).nullish(),
    is_custom: flag.nullish(),
    is_finetune: flag.nullish(),
    base_model_slug: modelSlug()
      .nullish()
      .describe('The model whose format and price it has; required for custom and fine-tuned models'),
    configurations: modelConfigurations().nullish(),
    pricing_config: pricingConfig().nullish().describe('Null goes back to the known price'),
  });
type ModelUpdate = z.output<ReturnType<typeof modelUpdate>>;

export const modelsUpdate = lazy(() =>
  z
    .object({
      models: z
        .array(modelUpdate())
        .max(mostModels)
        .refine((models) => new Set(models.map((model) => model.slug)).size === models.length, {
          message: 'each model may be named once',
        })
        .optional()
        .describe('Models that are not listed stay as they are'),
      allow_all_models: flag
        .nullish()
        .describe('True: every model may be used that is not disabled here; false: only those enabled here'),
    })
    .refine((update) => (update.models?.length ?? 0) > 0 || typeof update.allow_all_models === 'boolean', {
      path: ['models'],
      message: 'name at least one model, or send allow_all_models',
    }),
);

export const modelRecord = lazy(() =>
  z.object({
    slug: z.string(),
    name: z.string(),
    description: z.string().nullable(),
    enabled: z.boolean(),
    is_custom: z.boolean(),
    is_finetune: z.boolean(),
    base_model_slug: z.string().nullable(),
    configurations: z.record(z.string(), z.unknown()),
    pricing_config: z.looseObject({ type: z.literal('static') }).nullable(),
  }),
);

export const asModelRecord = (vault: Vault, row: IntegrationModelTable): z.output<ReturnType<typeof modelRecord>> => ({
  slug: row.slug,
  name: row.name ?? row.slug,
  description: row.description,
  enabled: row.enabled === 1,
  is_custom: row.is_custom === 1,
  is_finetune: row.is_finetune === 1,
  base_model_slug: row.base_model_slug,
  configurations: maskedModelConfigurations(openModelConfigurations(vault, row.configurations_sealed)),
  pricing_config: row.pricing_config && { ...decode(row.pricing_config) },
});

/** Makes or changes these models; a field that is left out stays as it is. */
export async function upsertModels(
  db: Db,
  services: Services,
  now: Date,
  integration: IntegrationTable,
  models: readonly ModelUpdate[],
): Promise<void> {
  const { vault, settings } = services;
  const { id: integrationId } = integration;
  const catalogue = catalogueOf(services, integration);
  const stored = new Map((await modelRows(db, integrationId)).map((row) => [row.slug, row]));
  const added = models.filter((model) => !stored.has(model.slug)).length;
  if (stored.size + added > mostModels) {
    throw invalid('models', `an integration may have something set for ${mostModels} models; remove some first`);
  }
  for (const [index, model] of models.entries()) {
    const before = stored.get(model.slug) ?? null;
    const path = `models.${index}`;
    const row = changedRow(integrationId, model, before, now, { vault, trustedHosts: settings.trustedHosts, path });
    requireCatalogued(integration, catalogue, row, path, before !== null);
    if (before) {
      await db
        .updateTable('integration_models')
        .set(row)
        .where('integration_id', '=', integrationId)
        .where('slug', '=', model.slug)
        .execute();
    } else await db.insertInto('integration_models').values(row).execute();
  }
}

/** The models that the provider of an integration is known to have; null where nobody knows, as behind a host of the customer's own. */
export function catalogueOf({ vault, priceTable }: Services, integration: IntegrationTable): Catalogue | null {
  const { ai_provider_id: provider } = integration;
  const slugs = priceTable.models(provider);
  if (slugs.length === 0) return null;
  if (openConfigurations(vault, integration.configurations_sealed).custom_host !== undefined) return null;
  return {
    slugs,
    has: (model) => priceTable.find(provider, model) !== null,
    nameOf: (model) => priceTable.find(provider, model)?.name ?? model,
  };
}

interface Catalogue {
  slugs: readonly string[];
  has(model: string): boolean;
  nameOf(model: string): string;
}

/** A model of the catalogue for which nothing is set. */
export const builtInRecord = (slug: string, name: string, enabled: boolean) => ({
  slug,
  name,
  description: null,
  enabled,
  is_custom: false,
  is_finetune: false,
  base_model_slug: null,
  configurations: {},
  pricing_config: null,
});

const modelRows = (db: Db, integrationId: string): Promise<IntegrationModelTable[]> =>
  db.selectFrom('integration_models').selectAll().where('integration_id', '=', integrationId).execute();

/** A model that the provider is not known to have is the customer's own; a base model lends its format and price, so it must be known. */
function requireCatalogued(
  { ai_provider_id: provider }: IntegrationTable,
  catalogue: Catalogue | null,
  row: IntegrationModelTable,
  path: string,
  isStored: boolean,
): void {
  if (!catalogue) return;
  const own = row.is_custom === 1 || row.is_finetune === 1;
  if (!own && !isStored && !catalogue.has(row.slug)) {
    throw invalid(`${path}.is_custom`, `must be true: ${row.slug} is no known model of ${provider}`);
  }
  if (row.base_model_slug !== null && !catalogue.has(row.base_model_slug)) {
    throw invalid(`${path}.base_model_slug`, `is no known model of ${provider}: ${row.base_model_slug}`);
  }
}

interface Surroundings {
  vault: Vault;
  trustedHosts: TrustedHosts;
  path: string;
}

function changedRow(
  integrationId: string,
  model: ModelUpdate,
  before: IntegrationModelTable | null,
  now: Date,
  around: Surroundings,
): IntegrationModelTable {
  const at = now.toISOString();
  const row: IntegrationModelTable = {
    integration_id: integrationId,
    slug: model.slug,
    enabled: model.enabled ? 1 : 0,
    name: kept(model.name, before?.name),
    description: kept(model.description, before?.description),
    is_custom: (model.is_custom ?? before?.is_custom === 1) ? 1 : 0,
    is_finetune: (model.is_finetune ?? before?.is_finetune === 1) ? 1 : 0,
    base_model_slug: kept(model.base_model_slug, before?.base_model_slug),
    configurations_sealed: sealedConfigurations(model, before, around),
    pricing_config:
      model.pricing_config === undefined
        ? (before?.pricing_config ?? null)
        : model.pricing_config && encode(model.pricing_config),
    created_at: before?.created_at ?? at,
    last_updated_at: at,
  };
  if ((row.is_custom || row.is_finetune) && row.base_model_slug === null) {
    throw invalid(`${around.path}.base_model_slug`, 'is required for a custom or fine-tuned model');
  }
  return row;
}

/** Left out: as it was; null: nothing. */
const kept = (sent: string | null | undefined, before: string | null | undefined): string | null =>
  sent === undefined ? (before ?? null) : sent || null;

function sealedConfigurations(
  { configurations: sent }: ModelUpdate,
  before: IntegrationModelTable | null,
  { vault, trustedHosts, path }: Surroundings,
): string | null {
  const stored = before?.configurations_sealed ?? null;
  if (sent === undefined) return stored;
  if (sent === null) return null;
  const fault = sent.custom_host ? faultOfCustomHost(sent.custom_host, trustedHosts) : null;
  if (fault) throw invalid(`${path}.configurations.custom_host`, fault);
  const old = openModelConfigurations(vault, stored);
  const host = sent.custom_host === undefined ? old.custom_host : sent.custom_host;
  const headers = sent.custom_headers === undefined ? old.custom_headers : sent.custom_headers;
  const merged: ModelConfigurations = {
    ...(host && { custom_host: host }),
    ...(headers && { custom_headers: headers }),
  };
  return Object.keys(merged).length === 0 ? null : sealJson(vault, merged, 'model-configurations');
}
