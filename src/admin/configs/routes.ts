/** Configs: saved routing profiles of a workspace. */
import { invalid } from '../../http/errors.ts';
import { type Caller, workspacesWith } from '../../identity/caller.ts';
import type { Db } from '../../store/database.ts';
import { type Dependant, endpoint, type NamedWorkspace, type Resource } from '../kernel/endpoint.ts';
import { empty, search } from '../kernel/fields.ts';
import { countOf, newestFirst, oneHoldsInAnyCase } from '../kernel/lists/list-queries.ts';
import { asList } from '../kernel/lists/paging.ts';
import { configAccess, reachConfig, requireConfigScope } from './access.ts';
import { checkConfig } from './body.ts';
import { requireGuardrails } from './guardrails.ts';
import { asListed, asRecord, asVersion } from './record.ts';
import {
  configList,
  configPath,
  configRecord,
  createdConfig,
  newConfig,
  versionList,
  workspaceQuery,
} from './schema.ts';
import { archiveConfigs, catalogChange, currentConfig, insertConfig, openConfig, requireUnused } from './store.ts';
import { updateConfig } from './update.ts';

const tag = 'Configs';
const paging = { size: 50, max: 1000 };

const listConfigs = endpoint({
  method: 'GET',
  path: '/configs',
  tag,
  summary: 'List the configs of a workspace, or of every workspace that the caller may look into, newest first',
  access: configAccess('list'),
  query: () => workspaceQuery().extend({ search: search('the name or the slug') }),
  paging,
  reply: configList,
  async handle({ caller, workspace, query, page, db }) {
    let matches = visibleConfigs(db, caller, workspace).where('status', '=', 'active');
    const part = query.search;
    if (part) {
      matches = matches.where((eb) => oneHoldsInAnyCase(part, eb.ref('name'), eb.ref('slug')));
    }
    const { rows, total } = await newestFirst(matches, page);
    return { success: true as const, ...asList(rows.map(asListed), total) };
  },
});

/** One index serves a whole organisation, another a workspace: only the narrower condition is said, so that it is the one used. */
function visibleConfigs(db: Db, caller: Caller, workspace: NamedWorkspace | null) {
  const workspaces = workspace ? [workspace.id] : workspacesWith(caller, 'configs.list');
  const configs = db.selectFrom('configs');
  return workspaces === 'all'
    ? configs.where('organisation_id', '=', caller.organisationId)
    : configs.where('workspace_id', 'in', workspaces);
}

const createConfig = endpoint({
  method: 'POST',
  path: '/configs',
  tag,
  summary: 'Save a config',
  access: configAccess('create'),
  audit: { resource: 'config', action: 'create' },
  body: newConfig,
  reply: createdConfig,
  async handle({ caller, workspace, body, db, now, services, changed, note }) {
    const workspaceId = await placeFor(db, caller, workspace);
    const { config, warnings } = checkConfig(body.config, null, services.settings.trustedHosts);
    await requireGuardrails(db, services, { organisationId: caller.organisationId, workspaceId }, config);
    const { id, slug, versionId } = await insertConfig(db, services.vault, now, {
      organisationId: caller.organisationId,
      workspaceId,
      name: body.name,
      config,
      isDefault: body.isDefault ?? body.is_default ?? false,
      ownerId: caller.userId,
    });
    changed(catalogChange(workspaceId));
    note({ resourceId: id, workspaceId, details: { slug, version_id: versionId } });
    const made = { id, slug, version_id: versionId };
    return {
      success: true as const,
      object: 'config' as const,
      ...made,
      data: made,
      ...(warnings.length > 0 && { warnings: [...warnings] }),
    };
  },
});

/** The workspace that a new config goes to: the one named, the key's own, else the organisation's default. */
async function placeFor(db: Db, caller: Caller, workspace: NamedWorkspace | null): Promise<string> {
  if (workspace?.status === 'archived') {
    throw invalid('workspace_id', 'names an archived workspace, which takes no new configs');
  }
  if (workspace) return workspace.id;
  const { default_workspace_id } = await db
    .selectFrom('organisations')
    .select('default_workspace_id')
    .where('id', '=', caller.organisationId)
    .executeTakeFirstOrThrow();
  if (default_workspace_id === null) throw invalid('workspace_id', 'is required: name a workspace by id or slug');
  requireConfigScope(caller, default_workspace_id, 'create');
  return default_workspace_id;
}

const readConfig = endpoint({
  method: 'GET',
  path: '/configs/:config',
  tag,
  summary: 'Read a config; credentials in it are masked',
  access: configAccess('read'),
  params: configPath,
  query: workspaceQuery,
  reply: configRecord,
  async handle(call) {
    const row = await reachConfig(call, call.params.config, 'read');
    return asRecord(row, await currentConfig(call.db, call.services.vault, row));
  },
});

const listVersions = endpoint({
  method: 'GET',
  path: '/configs/:config/versions',
  tag,
  summary: 'List the versions of a config, newest first',
  access: configAccess('read'),
  params: configPath,
  query: workspaceQuery,
  paging,
  reply: versionList,
  async handle(call) {
    const { db, page, services } = call;
    const row = await reachConfig(call, call.params.config, 'read');
    const versions = db.selectFrom('config_versions').where('config_id', '=', row.id);
    const { rows: found, total } = await newestFirst(versions, page);
    return asList(
      found.map((version) => asVersion(row, { ...version, config: openConfig(services.vault, version.config_sealed) })),
      total,
    );
  },
});

const deleteConfig = endpoint({
  method: 'DELETE',
  path: '/configs/:config',
  tag,
  summary: 'Delete a config; requests that name it are refused from then on',
  access: configAccess('delete'),
  audit: { resource: 'config', action: 'delete' },
  params: configPath,
  query: workspaceQuery,
  reply: empty,
  async handle(call) {
    const { db, now } = call;
    const row = await reachConfig(call, call.params.config, 'delete');
    await requireUnused(db, row);
    await archiveConfigs(db, now, { id: row.id });
    call.changed(catalogChange(row.workspace_id));
    call.note({
      resourceId: row.id,
      workspaceId: row.workspace_id,
      details: { slug: row.slug, name: row.name },
    });
    return {};
  },
});

const configsOfWorkspace: Dependant = {
  kind: 'configs',
  count: (db, workspaceId) =>
    countOf(db.selectFrom('configs').where('workspace_id', '=', workspaceId).where('status', '=', 'active')),
  async remove(db, workspaceId, now) {
    await archiveConfigs(db, now, { workspaceId });
    return [catalogChange(workspaceId)];
  },
};

export const configsResource: Resource = {
  name: 'configs',
  savesAddresses: true,
  endpoints: [listConfigs, createConfig, readConfig, updateConfig, deleteConfig, listVersions],
  dependants: [configsOfWorkspace],
};
