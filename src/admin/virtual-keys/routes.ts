/** Virtual keys, the older form of providers: an integration of a workspace and its provider in one, under one slug. */
import type { z } from 'zod';
import { conflict } from '../../http/errors.ts';
import { actorId } from '../../identity/caller.ts';
import type { Db } from '../../store/database.ts';
import { decode } from '../../store/json.ts';
import type { Vault } from '../../store/vault.ts';
import { archiveIntegrations } from '../integrations/archive.ts';
import { canonicalProviderId, checkCredentials } from '../integrations/credentials.ts';
import { insertIntegration, sealConfigurations, sealKey } from '../integrations/insert.ts';
import { maskedKeyOf } from '../integrations/record.ts';
import { workspaceQuery } from '../integrations/schema.ts';
import { storedMappings, underModelConfig } from '../integrations/secret-mappings.ts';
import { isIntegrationSlugTaken, isProviderSlugTaken, newProviderSlug } from '../integrations/slugs.ts';
import { updatedColumns } from '../integrations/update.ts';
import { endpoint, type Resource } from '../kernel/endpoint.ts';
import { empty, search } from '../kernel/fields.ts';
import { asList, listOf } from '../kernel/lists/paging.ts';
import { sentFields } from '../kernel/validate.ts';
import { listedWorkspaces, providerAccess, requireActiveWorkspace, type SavedPair } from '../providers/access.ts';
import { insertProvider } from '../providers/insert.ts';
import { appliedLimits } from '../providers/limits.ts';
import { pageOfPairs } from '../providers/pairs.ts';
import { sharedFields } from '../providers/record.ts';
import { homeOf, reachVirtualKey, requireIntegrationRight } from './access.ts';
import { asConfigurations, asDeployment, legacyName } from './legacy-fields.ts';
import {
  changeableFields,
  createdVirtualKey,
  newVirtualKey,
  savedVirtualKey,
  virtualKeyPath,
  virtualKeyRecord,
  virtualKeyUpdate,
} from './schema.ts';

const tag = 'Virtual keys';
const path = '/virtual-keys/:virtualKey';

const asRecord = (vault: Vault, now: Date, pair: SavedPair): z.output<ReturnType<typeof virtualKeyRecord>> => ({
  object: 'virtual-key',
  ...sharedFields(vault, now, pair),
  masked_api_key: maskedKeyOf(vault, pair.integration),
  secret_mappings: underModelConfig(decode(pair.integration.secret_mappings)),
});

const createVirtualKey = endpoint({
  method: 'POST',
  path: '/virtual-keys',
  tag,
  summary: 'Make a virtual key: an integration of the workspace and its provider under one slug',
  access: providerAccess('create'),
  audit: { resource: 'virtual_key', action: 'create' },
  body: newVirtualKey,
  reply: createdVirtualKey,
  async handle({ caller, workspace, body, db, now, services, changed, note }) {
    const { vault, settings } = services;
    const { organisationId } = caller;
    const { id: workspaceId } = requireActiveWorkspace(await homeOf(db, caller, workspace));
    await requireIntegrationRight(db, caller, workspaceId, 'create');
    const aiProviderId = canonicalProviderId(body.provider);
    const mappings = await storedMappings(db, { organisationId, workspaceId }, body.secret_mappings ?? []);
    const configurations = checkCredentials(
      {
        aiProviderId,
        configurations: asConfigurations(aiProviderId, body),
        hasKey: Boolean(body.key),
        mappings,
      },
      settings.trustedHosts,
      { provider: 'provider', setting: legacyName },
    );
    const slug = await freeSlug(db, organisationId, workspaceId, body.slug ?? newProviderSlug(body.name));
    const common = { organisationId, workspaceId, slug, name: body.name, createdBy: actorId(caller) };
    const integrationId = await insertIntegration(db, now, {
      ...common,
      aiProviderId,
      keySealed: sealKey(vault, body.key),
      configurationsSealed: sealConfigurations(vault, configurations),
      secretMappings: mappings,
    });
    const limits = appliedLimits(body, null, now);
    const id = await insertProvider(db, now, { ...common, integrationId, note: body.note || null, limits });
    changed({ topic: 'catalog', id: workspaceId });
    note({ resourceId: id, workspaceId, details: { slug, provider: aiProviderId } });
    return { success: true as const, data: { slug }, object: 'virtual-key' as const, id, slug };
  },
});

/** Free for both halves of the virtual key. */
async function freeSlug(db: Db, organisationId: string, workspaceId: string, slug: string): Promise<string> {
  const taken =
    (await isIntegrationSlugTaken(db, organisationId, slug)) || (await isProviderSlugTaken(db, workspaceId, slug));
  if (taken)
    throw conflict(`The slug ${slug} is taken by another virtual key, provider or integration; choose another`);
  return slug;
}

const listVirtualKeys = endpoint({
  method: 'GET',
  path: '/virtual-keys',
  tag,
  summary: 'List virtual keys, newest first',
  description: 'Of the workspace that is named, or of every workspace that the caller may look into.',
  access: providerAccess('list'),
  query: () => workspaceQuery().extend({ search: search() }),
  paging: { size: 50, max: 1000 },
  reply: () => listOf(virtualKeyRecord()),
  async handle({ caller, workspace, query, page, db, now, services }) {
    const { organisationId } = caller;
    const workspaces = workspace ? [workspace.id] : listedWorkspaces(caller);
    const choice = { organisationId, workspaces, virtualKeys: true, search: query.search };
    const { pairs, total } = await pageOfPairs(db, choice, page);
    return asList(
      pairs.map((pair) => asRecord(services.vault, now, pair)),
      total,
    );
  },
});

const readVirtualKey = endpoint({
  method: 'GET',
  path,
  tag,
  summary: 'Read a virtual key; its credentials are masked',
  access: providerAccess('read'),
  params: virtualKeyPath,
  query: workspaceQuery,
  reply: virtualKeyRecord,
  async handle({ caller, workspace, params, db, now, services }) {
    await services.limits.flush();
    const pair = await reachVirtualKey(db, caller, workspace, params.virtualKey, 'read');
    return asRecord(services.vault, now, pair);
  },
});

const updateVirtualKey = endpoint({
  method: 'PUT',
  path,
  tag,
  summary: 'Change a virtual key; what is left out stays as it is',
  access: providerAccess('update'),
  audit: { resource: 'virtual_key', action: 'update' },
  params: virtualKeyPath,
  query: workspaceQuery,
  body: virtualKeyUpdate,
  reply: savedVirtualKey,
  async handle({ caller, workspace, params, body, db, now, services, changed, note }) {
    const { provider, integration } = await reachVirtualKey(db, caller, workspace, params.virtualKey, 'update');
    const fields = sentFields(body, changeableFields());
    const { name, key, secret_mappings, deploymentConfig } = body;
    const last_updated_at = now.toISOString();
    const configurations = deploymentConfig
      ? { azure_deployment_config: deploymentConfig.map(asDeployment) }
      : undefined;
    const columns = await updatedColumns(db, integration, { name, key, secret_mappings, configurations }, services);
    await db
      .updateTable('integrations')
      .set({ ...columns, last_updated_at })
      .where('id', '=', integration.id)
      .execute();
    await db
      .updateTable('providers')
      .set({
        ...(name !== undefined && { name }),
        ...(body.note !== undefined && { note: body.note || null }),
        ...appliedLimits(body, provider, now),
        last_updated_at,
      })
      .where('id', '=', provider.id)
      .execute();
    changed({ topic: 'catalog', id: provider.workspace_id });
    note({ resourceId: provider.id, workspaceId: provider.workspace_id, details: { slug: provider.slug, fields } });
    return { object: 'virtual-key' as const, id: provider.id, slug: provider.slug };
  },
});

const deleteVirtualKey = endpoint({
  method: 'DELETE',
  path,
  tag,
  summary: 'Delete a virtual key: its integration and every provider made from it',
  access: providerAccess('delete'),
  audit: { resource: 'virtual_key', action: 'delete' },
  params: virtualKeyPath,
  query: workspaceQuery,
  reply: empty,
  async handle({ caller, workspace, params, db, now, changed, note }) {
    const { provider, integration } = await reachVirtualKey(db, caller, workspace, params.virtualKey, 'delete');
    await archiveIntegrations(db, now, [integration.id]);
    changed({ topic: 'catalog', id: provider.workspace_id });
    note({
      resourceId: provider.id,
      workspaceId: provider.workspace_id,
      details: { slug: provider.slug, name: provider.name },
    });
    return {};
  },
});

export const virtualKeysResource: Resource = {
  name: 'virtual-keys',
  savesAddresses: true,
  endpoints: [createVirtualKey, listVirtualKeys, readVirtualKey, updateVirtualKey, deleteVirtualKey],
};
