/** Public: the prices and abilities of the models that the program knows. */
import { z } from 'zod';
import { notFound } from '../../http/errors.ts';
import { lazy } from '../../lazy.ts';
import type { KnownModel, PriceTable } from '../../pricing/price-table.ts';
import { endpoint, type Resource } from '../kernel/endpoint.ts';
import { capabilities, capabilitiesOf } from './capabilities.ts';
import { pricingConfig, pricingConfigOf, unknownPricing } from './pricing-config.ts';

const tag = 'Model catalogue';
const oneModel = lazy(() =>
  z.object({
    provider: z.string().min(1).max(64).describe('A provider’s id, such as `openai`'),
    model: z.string().min(1).max(256).describe('A model’s id; it may hold slashes'),
  }),
);
const wholeProvider = lazy(() =>
  z.object({
    file: z
      .string()
      .max(69)
      .regex(/^[a-z0-9-]+\.json$/)
      .describe('A provider’s id and `.json`: `openai.json`'),
  }),
);

const readPricing = endpoint({
  method: 'GET',
  path: '/model-configs/pricing/:provider/*model',
  atRoot: true,
  tag,
  summary: 'Read the prices of a model',
  access: 'open',
  params: oneModel,
  reply: pricingConfig,
  handle: async ({ params, services }) => pricingConfigOf(knownModel(services.priceTable, params).prices),
});

const readCapabilities = endpoint({
  method: 'GET',
  path: '/model-configs/general/:provider/*model',
  atRoot: true,
  tag,
  summary: 'Read what a model can do and which parameters it takes',
  access: 'open',
  params: oneModel,
  reply: capabilities,
  handle: async ({ params, services }) => capabilitiesOf(knownModel(services.priceTable, params)),
});

const readProviderPricing = endpoint({
  method: 'GET',
  path: '/pricing/:file',
  atRoot: true,
  tag,
  summary: 'Read the prices of all models of a provider, by model',
  access: 'open',
  params: wholeProvider,
  reply: () => z.record(z.string(), z.object({ pricing_config: pricingConfig() })),
  handle: async ({ params, services }) => ({
    default: { pricing_config: unknownPricing },
    ...eachModel(services.priceTable, params.file, (model) => ({ pricing_config: pricingConfigOf(model.prices) })),
  }),
});

const readProviderCapabilities = endpoint({
  method: 'GET',
  path: '/general/:file',
  atRoot: true,
  tag,
  summary: 'Read what all models of a provider can do, by model',
  access: 'open',
  params: wholeProvider,
  reply: () => z.record(z.string(), capabilities()),
  handle: async ({ params, services }) => eachModel(services.priceTable, params.file, capabilitiesOf),
});

function knownModel(table: PriceTable, { provider, model }: z.output<ReturnType<typeof oneModel>>): KnownModel {
  const known = table.find(provider, model);
  if (!known) throw notFound('model');
  return known;
}

function eachModel<T>(table: PriceTable, file: string, describe: (model: KnownModel) => T): Record<string, T> {
  const provider = file.slice(0, -'.json'.length);
  const models = table.models(provider);
  if (models.length === 0) throw notFound('provider');
  return Object.fromEntries(
    models.flatMap((id) => {
      const known = table.find(provider, id);
      return known ? [[id, describe(known)]] : [];
    }),
  );
}

export const modelConfigsResource: Resource = {
  name: 'model-configs',
  endpoints: [readPricing, readCapabilities, readProviderPricing, readProviderCapabilities],
};
