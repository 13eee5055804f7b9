/** What this release knows of providers and models; the same for everyone, so that no key is needed. */
import { z } from 'zod';
import { allProviders, providers } from '../../providers/index.ts';
import type { Provider } from '../../providers/provider.ts';
import { referenceOf } from '../../providers/reference.ts';
import { endpoint, type Resource } from '../kernel/endpoint.ts';
import { search } from '../kernel/fields.ts';
import { heldList } from '../kernel/lists/held-lists.ts';
import { listOf } from '../kernel/lists/paging.ts';

const tag = 'Reference';

const providerRecord = () =>
  z.object({
    object: z.literal('provider'),
    id: z.string(),
    name: z.string(),
    aliases: z.array(z.string()),
    address: z.string().nullable().describe('With the names of settings in braces where it holds them'),
    endpoints: z.array(z.string()).describe('The operations it offers, by the names that logs and policies use'),
    needs_credential: z.boolean(),
    fields: z.array(z.object({ name: z.string(), required: z.boolean(), about: z.string() })),
  });

const asRecord = (provider: Provider) => {
  const { id, name, aliases, address, needsCredential, fields, endpoints } = referenceOf(provider);
  return {
    object: 'provider' as const,
    id,
    name,
    aliases: [...aliases],
    address,
    endpoints: [...endpoints],
    needs_credential: needsCredential,
    fields: fields.map(({ name, required, about }) => ({ name, required: required ?? false, about })),
  };
};

const listProviders = endpoint({
  method: 'GET',
  path: '/reference/providers',
  tag,
  summary: 'List the providers that the gateway can call, by name',
  access: 'open',
  query: () => z.object({ search: search('the id, the name or another name') }),
  paging: { size: 200, max: 1000 },
  reply: () => listOf(providerRecord()),
  handle: async ({ page, query }) =>
    heldList(
      allProviders,
      { page, search: query.search, textsOf: ({ id, name, aliases = [] }) => [id, name, ...aliases] },
      asRecord,
    ),
});

const modelRecord = () => z.object({ object: z.literal('model'), id: z.string(), provider: z.string() });

const listModels = endpoint({
  method: 'GET',
  path: '/reference/models',
  tag,
  summary: 'List the models that the price table knows',
  access: 'open',
  query: () =>
    z.object({
      provider: z.string().max(100).optional().describe('A provider by its id or another name'),
      search: search('the id'),
    }),
  paging: { size: 100, max: 1000 },
  reply: () => listOf(modelRecord()),
  async handle({ query, page, services: { priceTable } }) {
    const named = query.provider === undefined ? null : providers.get(query.provider);
    const asked = query.provider === undefined ? allProviders : named ? [named] : [];
    const models = asked.flatMap(({ id: provider }) => priceTable.models(provider).map((id) => ({ id, provider })));
    return heldList(models, { page, search: query.search, textsOf: ({ id }) => [id] }, (model) => ({
      object: 'model' as const,
      ...model,
    }));
  },
});

export const referenceResource: Resource = { name: 'reference', endpoints: [listProviders, listModels] };
