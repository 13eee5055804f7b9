/** Plugins: what an organisation authenticates with at the services that its guardrails ask. */
import { z } from 'zod';
import type { SecretMapping } from '../../catalog/saved.ts';
import { checks } from '../../guardrails/catalogue.ts';
import { pluginOf } from '../../guardrails/compile.ts';
import { faultOfCustomHost, type TrustedHosts } from '../../http/custom-host.ts';
import { conflict, type FieldError, invalid, invalidFields, notFound } from '../../http/errors.ts';
import { lazy } from '../../lazy.ts';
import { decode, encode } from '../../store/json.ts';
import type { PluginTable } from '../../store/tables/guardrails.ts';
import type { Vault } from '../../store/vault.ts';
import { masked } from '../integrations/masking.ts';
import { pluginSecretMappings, secretMappingRecord, storedMappings } from '../integrations/secret-mappings.ts';
import { endpoint, type Resource } from '../kernel/endpoint.ts';
import { empty, reference, search, timestamp } from '../kernel/fields.ts';
import { heldList } from '../kernel/lists/held-lists.ts';
import { listOf } from '../kernel/lists/paging.ts';
import { findPlugin, openCredentials, type PluginCredentials, sealCredentials } from './store.ts';

const tag = 'Plugins';
const callers = ['admin-key', 'session'] as const;
const access = <A extends 'create' | 'update' | 'list'>(action: A) => ({
  callers,
  scope: `plugins.${action}` as const,
  level: 'organisation' as const,
});

/** The plugins of this release that take credentials, with the form of them. */
const known = lazy(() => {
  const schemas = new Map<string, z.ZodObject>();
  for (const check of checks) {
    const credentials = check.network?.credentials;
    if (credentials) schemas.set(pluginOf(check.id), credentials());
  }
  return schemas;
});

const text = () => z.string().max(16_384);
const single = () => z.union([text(), z.number(), z.boolean(), z.null()]);
const credentials = lazy(() =>
  z.record(z.string().max(64), z.union([single(), z.record(z.string().max(64), single())])),
);

const record = lazy(() =>
  z
    .object({
      object: z.literal('plugin'),
      id: z.string(),
      enabled: z.boolean(),
      credentials: z.record(z.string(), z.unknown()).describe('Masked'),
      secret_mappings: z.array(secretMappingRecord()),
      created_at: timestamp,
      last_updated_at: timestamp,
    })
    .meta({ id: 'Plugin' }),
);

const pluginPath = lazy(() =>
  z.object({ plugin: reference.describe('The part of a check’s id before the dot: lakera') }),
);

const maskedAll = (value: unknown): unknown => {
  if (typeof value === 'string') return masked(value);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, maskedAll(inner)]));
};

const asRecord = (row: PluginTable, vault: Vault) => ({
  object: 'plugin' as const,
  id: row.plugin,
  enabled: row.enabled === 1,
  credentials: maskedAll(openCredentials(vault, row.credentials_sealed)) as Record<string, unknown>,
  secret_mappings: decode(row.secret_mappings),
  created_at: row.created_at,
  last_updated_at: row.last_updated_at,
});

const listPlugins = endpoint({
  method: 'GET',
  path: '/plugins',
  tag,
  summary: 'List the plugins that have credentials',
  access: access('list'),
  query: () => z.object({ search: search() }),
  paging: { size: 100, max: 1000 },
  reply: () => listOf(record()),
  async handle({ caller, query, page, db, services }) {
    const all = await db
      .selectFrom('plugins')
      .selectAll()
      .where('organisation_id', '=', caller.organisationId)
      .orderBy('plugin')
      .execute();
    const { search } = query;
    return heldList(all, { page, search, textsOf: ({ plugin }) => [plugin] }, (row) => asRecord(row, services.vault));
  },
});

const readPlugin = endpoint({
  method: 'GET',
  path: '/plugins/:plugin',
  tag,
  summary: 'Read a plugin; its credentials are masked',
  access: access('list'),
  params: pluginPath,
  reply: record,
  async handle({ caller, params, db, services }) {
    const row = await findPlugin(db, caller.organisationId, params.plugin);
    if (!row) throw notFound('plugin');
    return asRecord(row, services.vault);
  },
});

const createPlugin = endpoint({
  method: 'POST',
  path: '/plugins',
  tag,
  summary: 'Give a plugin its credentials',
  access: access('create'),
  audit: { resource: 'plugin', action: 'create' },
  body: () =>
    z.object({
      id: reference,
      credentials: credentials().default({}),
      secret_mappings: pluginSecretMappings().nullish(),
      enabled: z.boolean().optional(),
    }),
  reply: record,
  async handle({ caller, body, db, now, services, changed, note }) {
    const owner = { organisationId: caller.organisationId, workspaceId: null };
    const mappings = await storedMappings(db, owner, body.secret_mappings ?? []);
    requireFit(body.id, body.credentials, mappings, services.settings.trustedHosts);
    if (await findPlugin(db, caller.organisationId, body.id))
      throw conflict(`The plugin ${body.id} has credentials already; change them with PUT`);
    const at = now.toISOString();
    const row: PluginTable = {
      organisation_id: caller.organisationId,
      plugin: body.id,
      enabled: body.enabled === false ? 0 : 1,
      credentials_sealed: sealCredentials(services.vault, body.credentials),
      secret_mappings: encode(mappings),
      created_at: at,
      last_updated_at: at,
    };
    await db.insertInto('plugins').values(row).execute();
    changed({ topic: 'catalog', id: caller.organisationId });
    note({ resourceId: body.id, details: { plugin: body.id } });
    return asRecord(row, services.vault);
  },
});

const updatePlugin = endpoint({
  method: 'PUT',
  path: '/plugins/:plugin',
  tag,
  summary: 'Change credentials of a plugin: what is sent is merged into what is there',
  access: access('update'),
  audit: { resource: 'plugin', action: 'update' },
  params: pluginPath,
  body: () =>
    z.object({
      credentials: credentials().optional(),
      secret_mappings: pluginSecretMappings().nullish().describe('Replaces the stored ones'),
      enabled: z.boolean().optional(),
    }),
  reply: record,
  async handle({ caller, params, body, db, now, services, changed, note }) {
    const at = now.toISOString();
    const before = await findPlugin(db, caller.organisationId, params.plugin);
    const saved = before ? openCredentials(services.vault, before.credentials_sealed) : {};
    const merged = merge(saved, body.credentials ?? {});
    const owner = { organisationId: caller.organisationId, workspaceId: null };
    const mappings =
      body.secret_mappings === undefined
        ? decode(before?.secret_mappings ?? encode([]))
        : await storedMappings(db, owner, body.secret_mappings ?? []);
    requireFit(params.plugin, merged, mappings, services.settings.trustedHosts);
    const row: PluginTable = {
      organisation_id: caller.organisationId,
      plugin: params.plugin,
      enabled: (body.enabled ?? before?.enabled !== 0) ? 1 : 0,
      credentials_sealed: sealCredentials(services.vault, merged),
      secret_mappings: encode(mappings),
      created_at: before?.created_at ?? at,
      last_updated_at: at,
    };
    if (before) {
      await db
        .updateTable('plugins')
        .set({
          enabled: row.enabled,
          credentials_sealed: row.credentials_sealed,
          secret_mappings: row.secret_mappings,
          last_updated_at: at,
        })
        .where('organisation_id', '=', caller.organisationId)
        .where('plugin', '=', params.plugin)
        .execute();
    } else await db.insertInto('plugins').values(row).execute();
    changed({ topic: 'catalog', id: caller.organisationId });
    note({ resourceId: params.plugin, details: { plugin: params.plugin } });
    return asRecord(row, services.vault);
  },
});

const deletePlugin = endpoint({
  method: 'DELETE',
  path: '/plugins/:plugin',
  tag,
  summary: 'Remove the credentials of a plugin; its checks report an error from then on',
  access: access('update'),
  audit: { resource: 'plugin', action: 'delete' },
  params: pluginPath,
  reply: empty,
  async handle({ caller, params, db, changed, note }) {
    const removed = await db
      .deleteFrom('plugins')
      .where('organisation_id', '=', caller.organisationId)
      .where('plugin', '=', params.plugin)
      .returning('plugin')
      .executeTakeFirst();
    if (!removed) throw notFound('plugin');
    changed({ topic: 'catalog', id: caller.organisationId });
    note({ resourceId: params.plugin, details: { plugin: params.plugin } });
    return {};
  },
});

/** A mask that is sent back leaves what it stands for; null takes a field away. */
function merge(saved: PluginCredentials, sent: PluginCredentials): PluginCredentials {
  const merged: PluginCredentials = { ...saved };
  for (const [name, value] of Object.entries(sent)) {
    const before = saved[name];
    if (value === null) delete merged[name];
    else if (typeof value === 'string' && typeof before === 'string' && masked(before) === value) continue;
    else if (isFields(value)) merged[name] = merge(isFields(before) ? before : {}, value);
    else merged[name] = value;
  }
  return merged;
}

const isFields = (value: unknown): value is PluginCredentials => typeof value === 'object' && value !== null;

function requireFit(
  plugin: string,
  given: PluginCredentials,
  mappings: readonly SecretMapping[],
  trustedHosts: TrustedHosts,
): void {
  const schema = known().get(plugin);
  if (!schema) throw invalid('id', `is no plugin with credentials; known are ${[...known().keys()].join(', ')}`);
  const mapped = new Set(mappings.map(({ target_field }) => target_field.replace('credentials.', '')));
  const parsed = schema.safeParse(given);
  const issues = parsed.success ? [] : parsed.error.issues.filter(({ path: [field] }) => !mapped.has(String(field)));
  const faults: FieldError[] = issues.map(({ path, message }) => ({
    location: 'body',
    path: ['credentials', ...path].join('.'),
    message,
  }));
  for (const [name, value] of Object.entries(given)) {
    const fault =
      typeof value === 'string' && /^https?:\/\//i.test(value) ? faultOfCustomHost(value, trustedHosts) : null;
    if (fault) faults.push({ location: 'body', path: `credentials.${name}`, message: fault });
  }
  if (faults.length > 0) throw invalidFields(faults);
}

export const pluginsResource: Resource = {
  name: 'plugins',
  savesAddresses: true,
  endpoints: [listPlugins, readPlugin, createPlugin, updatePlugin, deletePlugin],
};
