/** Saved providers as the data plane uses them: credentials opened, models and prices ready for look-up. */

import { entityLimits, grantEntity } from '../limits/entity-limits.ts';
import type { RateLimit, StoredUsageLimit } from '../limits/entries.ts';
import type { Limit } from '../limits/limit.ts';
import { type SecretUse, usesOf } from '../secrets/mapping.ts';
import { decode, type JsonText } from '../store/json.ts';
import type { Flag } from '../store/schema.ts';
import type { IntegrationModelTable, ProviderStatus } from '../store/tables/catalog.ts';
import type { Vault } from '../store/vault.ts';
import type { ModelRule, ModelRules, PricingAdjustments, SavedProvider } from './catalog.ts';
import type { SourcesFor } from './read-secrets.ts';
import {
  openConfigurations,
  openModelConfigurations,
  type PricingConfig,
  type SecretMapping,
  type StoredPricingAdjustments,
} from './saved.ts';

export interface ProviderRow {
  id: string;
  slug: string;
  status: ProviderStatus;
  expires_at: string | null;
  integration_id: string;
  integration_slug: string;
  integration_workspace_id: string | null;
  ai_provider_id: string;
  key_sealed: string | null;
  configurations_sealed: string | null;
  secret_mappings: JsonText<SecretMapping[]>;
  provider_secret_mappings: JsonText<SecretMapping[]>;
  allow_all_models: Flag;
  pricing_adjustments: JsonText<StoredPricingAdjustments> | null;
  grant_enabled: Flag | null;
  grant_status: 'active' | 'exhausted' | null;
  organisation_id: string;
  workspace_id: string;
  rate_limits: JsonText<RateLimit[]>;
  usage_limits: JsonText<StoredUsageLimit> | null;
  grant_rate_limits: JsonText<RateLimit[]> | null;
  grant_usage_limits: JsonText<StoredUsageLimit> | null;
}

/** A provider whose credentials cannot be opened is left out: calling without them would only fail elsewhere. */
export function savedProviders(
  rows: readonly ProviderRow[],
  models: readonly IntegrationModelTable[],
  vault: Vault,
  sources: SourcesFor,
  now: Date,
  warn: (message: string) => void,
): SavedProvider[] {
  const modelsOf = Map.groupBy(models, (model) => model.integration_id);
  return rows.flatMap((row) => {
    try {
      return [savedProvider(row, modelsOf.get(row.integration_id) ?? [], vault, sources, now)];
    } catch {
      warn(
        `The credentials of the provider @${row.slug} cannot be opened with the present master key; requests that name it are refused until its integration is saved again.`,
      );
      return [];
    }
  });
}

function savedProvider(
  row: ProviderRow,
  models: readonly IntegrationModelTable[],
  vault: Vault,
  sources: SourcesFor,
  now: Date,
): SavedProvider {
  const {
    custom_host,
    custom_headers,
    is_key_required: _,
    ...fields
  } = openConfigurations(vault, row.configurations_sealed);
  const secrets = secretsOf(row, sources);
  return {
    ...(secrets && { secrets }),
    id: row.id,
    slug: row.slug,
    integrationId: row.integration_id,
    integrationSlug: row.integration_slug,
    provider: row.ai_provider_id,
    credential: row.key_sealed === null ? null : vault.open(row.key_sealed, 'integration-key'),
    fields,
    customHost: typeof custom_host === 'string' ? custom_host : null,
    customHeaders: headersOf(custom_headers),
    status: statusOf(row, now),
    expiresAt: row.expires_at,
    enabled: row.integration_workspace_id !== null || row.grant_enabled === 1,
    models: modelRules(row, models, vault),
    pricingAdjustments: row.pricing_adjustments && adjustmentsOf(decode(row.pricing_adjustments)),
    limits: limitsOf(row),
  };
}

/** The integration's own, under those of the provider. */
function secretsOf(row: ProviderRow, sources: SourcesFor): readonly SecretUse[] | undefined {
  const own = usesOf(decode(row.provider_secret_mappings), sources(row.workspace_id)) ?? [];
  const shared = usesOf(decode(row.secret_mappings), sources(row.integration_workspace_id)) ?? [];
  const uses = [...shared.filter(({ target }) => !own.some((use) => use.target === target)), ...own];
  return uses.length === 0 ? undefined : uses;
}

/** Every mapping that these rows have. */
export const mappingsOf = (rows: readonly ProviderRow[]): SecretMapping[] =>
  rows.flatMap((row) => [...decode(row.secret_mappings), ...decode(row.provider_secret_mappings)]);

function limitsOf(row: ProviderRow): Limit[] {
  const { organisation_id: organisationId, usage_limits: usage, grant_usage_limits: grantUsage } = row;
  return [
    ...entityLimits(
      { organisationId, scope: 'provider', entityId: row.id, name: row.slug },
      decode(row.rate_limits),
      usage === null ? [] : [decode(usage)],
    ),
    ...entityLimits(
      {
        organisationId,
        scope: 'integration',
        entityId: grantEntity(row.integration_id, row.workspace_id),
        name: row.integration_slug,
      },
      row.grant_rate_limits === null ? [] : decode(row.grant_rate_limits),
      grantUsage === null ? [] : [decode(grantUsage)],
    ),
  ];
}

const headersOf = (value: unknown): Record<string, string> =>
  typeof value === 'object' && value !== null
    ? Object.fromEntries(Object.entries(value).map(([name, text]) => [name, String(text)]))
    : {};

function statusOf({ status, expires_at, grant_status }: ProviderRow, now: Date): SavedProvider['status'] {
  if (status === 'expired' || status === 'archived') return 'expired';
  if (expires_at !== null && expires_at <= now.toISOString()) return 'expired';
  // The limit of the grant holds for every provider made from it.
  return status === 'exhausted' || grant_status === 'exhausted' ? 'exhausted' : 'active';
}

const modelRules = (row: ProviderRow, models: readonly IntegrationModelTable[], vault: Vault): ModelRules => ({
  allowAll: row.allow_all_models === 1,
  bySlug: new Map(models.map((model) => [model.slug, modelRule(model, vault)])),
});

function modelRule(model: IntegrationModelTable, vault: Vault): ModelRule {
  const { custom_host, custom_headers } = openModelConfigurations(vault, model.configurations_sealed);
  return {
    enabled: model.enabled === 1,
    baseModel: model.base_model_slug,
    customHost: custom_host ?? null,
    customHeaders: custom_headers ?? {},
    prices: model.pricing_config && pricesOf(decode(model.pricing_config)),
  };
}

/** Token prices under their keys, units under their names, images under `image.<quality>.<size>`. */
function pricesOf({ pay_as_you_go: { image = {}, additional_units = {}, ...tokens } }: PricingConfig) {
  const prices: Record<string, number> = {};
  // A price of tokens wins over a unit that has taken its name.
  for (const [key, value] of [...Object.entries(additional_units), ...Object.entries(tokens)]) {
    if (isPrice(value)) prices[key] = value.price;
  }
  for (const [quality, sizes] of Object.entries(image)) {
    for (const [size, { price }] of Object.entries(sizes)) prices[`image.${quality}.${size}`] = price;
  }
  return prices;
}

const isPrice = (value: unknown): value is { price: number } =>
  typeof value === 'object' && value !== null && 'price' in value && typeof value.price === 'number';

/** Factors under the same names as prices; the one of images under `image`. */
function adjustmentsOf({ multiplier }: StoredPricingAdjustments): PricingAdjustments {
  const { image, additional_units, ...keys } = multiplier;
  const factors: Record<string, number> = {};
  const units = Object.entries(additional_units ?? {}).filter(([unit]) => unit !== 'default');
  for (const [key, value] of [...units, ...Object.entries(keys)]) {
    if (typeof value === 'number') factors[key] = value;
  }
  if (typeof image?.default === 'number') factors.image = image.default;
  return factors;
}
