/** Guardrails: named lists of checks that requests and answers pass. */
import { invalid } from '../../http/errors.ts';
import { type Caller, workspacesWith } from '../../identity/caller.ts';
import type { Db } from '../../store/database.ts';
import { type Dependant, endpoint, type NamedWorkspace, type Resource } from '../kernel/endpoint.ts';
import { empty } from '../kernel/fields.ts';
import { countOf, newestFirst, oneHoldsInAnyCase } from '../kernel/lists/list-queries.ts';
import { asList } from '../kernel/lists/paging.ts';
import { catalogChange, guardrailAccess, reachGuardrail, requireGuardrailScope } from './access.ts';
import { listChecks } from './catalogue.ts';
import { checkContent } from './content.ts';
import { invokeGuardrail } from './invoke.ts';
import { asListed, asRecord, shownContent } from './record.ts';
import {
  guardrailList,
  guardrailPath,
  guardrailRecord,
  listQuery,
  newGuardrail,
  savedGuardrail,
  versionList,
  workspaceQuery,
} from './schema.ts';
import { archiveGuardrails, currentContent, insertGuardrail, openContent, requireNoDefault } from './store.ts';
import { whileSwitchedOn } from './switch.ts';
import { updateGuardrail } from './update.ts';

const tag = 'Guardrails';
const paging = { size: 100, max: 1000 };

const listGuardrails = endpoint({
  method: 'GET',
  path: '/guardrails',
  tag,
  summary:
    'List guardrails, newest first: those of the organisation, and of the workspaces that the caller may look into',
  access: guardrailAccess('list'),
  query: listQuery,
  paging,
  reply: guardrailList,
  async handle({ caller, workspace, query, page, db }) {
    const visible = visibleGuardrails(db, caller, workspace).where('status', '=', 'active');
    const { ids, search: part } = query;
    const chosen = ids ? visible.where((eb) => eb.or([eb('id', 'in', ids), eb('slug', 'in', ids)])) : visible;
    const matches =
      part === undefined ? chosen : chosen.where((eb) => oneHoldsInAnyCase(part, eb.ref('name'), eb.ref('slug')));
    const { rows, total } = ids?.length === 0 ? { rows: [], total: 0 } : await newestFirst(matches, page);
    return { ...asList(rows.map(asListed), total), has_more: page.offset + rows.length < total };
  },
});

function visibleGuardrails(db: Db, caller: Caller, workspace: NamedWorkspace | null) {
  const own = db.selectFrom('guardrails').where('organisation_id', '=', caller.organisationId);
  const workspaces = workspace ? [workspace.id] : workspacesWith(caller, 'guardrails.list');
  if (workspaces === 'all') return own;
  return own.where((eb) =>
    eb.or([eb('workspace_id', 'is', null), ...(workspaces.length > 0 ? [eb('workspace_id', 'in', workspaces)] : [])]),
  );
}

const createGuardrail = endpoint({
  method: 'POST',
  path: '/guardrails',
  tag,
  summary: 'Save a guardrail of a workspace, or of the organisation',
  access: guardrailAccess('create'),
  audit: { resource: 'guardrail', action: 'create' },
  body: newGuardrail,
  reply: savedGuardrail,
  async handle({ caller, workspace, body, db, now, services, changed, note }) {
    if (workspace?.status === 'archived') throw invalid('workspace_id', 'names an archived workspace');
    const workspaceId = workspace?.id ?? null;
    requireGuardrailScope(caller, workspaceId, 'create');
    const content = { checks: body.checks, actions: body.actions ?? {} };
    const warnings = checkContent(content, services.settings.trustedHosts);
    const row = await insertGuardrail(db, services.vault, now, {
      organisationId: caller.organisationId,
      workspaceId,
      name: body.name,
      content,
      ownerId: caller.userId,
    });
    changed(catalogChange(row));
    note({
      resourceId: row.id,
      ...(workspaceId && { workspaceId }),
      details: { slug: row.slug, version_id: row.version_id },
    });
    return { id: row.id, slug: row.slug, version_id: row.version_id, ...(warnings.length > 0 && { warnings }) };
  },
});

const readGuardrail = endpoint({
  method: 'GET',
  path: '/guardrails/:guardrail',
  tag,
  summary: 'Read a guardrail; credentials in it are masked',
  access: guardrailAccess('read'),
  params: guardrailPath,
  query: workspaceQuery,
  reply: guardrailRecord,
  async handle(call) {
    const row = await reachGuardrail(call, call.params.guardrail, 'read');
    return asRecord(row, await currentContent(call.db, call.services.vault, row));
  },
});

const listVersions = endpoint({
  method: 'GET',
  path: '/guardrails/:guardrail/versions',
  tag,
  summary: 'List the versions of a guardrail, newest first',
  access: guardrailAccess('read'),
  params: guardrailPath,
  query: workspaceQuery,
  paging,
  reply: versionList,
  async handle(call) {
    const { db, page, services } = call;
    const row = await reachGuardrail(call, call.params.guardrail, 'read');
    const versions = db.selectFrom('guardrail_versions').where('guardrail_id', '=', row.id);
    const { rows, total } = await newestFirst(versions, page);
    return asList(
      rows.map((version) => ({
        object: 'guardrail_version' as const,
        version_id: version.id,
        created_at: version.created_at,
        created_by: version.created_by,
        ...shownContent(openContent(services.vault, version.content_sealed)),
      })),
      total,
    );
  },
});

const deleteGuardrail = endpoint({
  method: 'DELETE',
  path: '/guardrails/:guardrail',
  tag,
  summary: 'Delete a guardrail; requests whose config still names it are refused',
  access: guardrailAccess('delete'),
  audit: { resource: 'guardrail', action: 'delete' },
  params: guardrailPath,
  query: workspaceQuery,
  reply: empty,
  async handle(call) {
    const { db, now } = call;
    const row = await reachGuardrail(call, call.params.guardrail, 'delete');
    await requireNoDefault(db, row);
    await archiveGuardrails(db, now, { id: row.id });
    call.changed(catalogChange(row));
    call.note({
      resourceId: row.id,
      ...(row.workspace_id !== null && { workspaceId: row.workspace_id }),
      details: { slug: row.slug, name: row.name },
    });
    return {};
  },
});

const guardrailsOfWorkspace: Dependant = {
  kind: 'guardrails',
  count: (db, workspaceId) =>
    countOf(db.selectFrom('guardrails').where('workspace_id', '=', workspaceId).where('status', '=', 'active')),
  async remove(db, workspaceId, now) {
    await archiveGuardrails(db, now, { workspaceId });
    return [{ topic: 'catalog', id: workspaceId }];
  },
};

export const guardrailsResource: Resource = {
  name: 'guardrails',
  savesAddresses: true,
  endpoints: [
    listChecks,
    listGuardrails,
    createGuardrail,
    readGuardrail,
    updateGuardrail,
    deleteGuardrail,
    listVersions,
    invokeGuardrail,
  ].map(whileSwitchedOn),
  dependants: [guardrailsOfWorkspace],
};
