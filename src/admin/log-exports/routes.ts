/** Exports of logs: asked for, started, cancelled, downloaded. */
import { existsSync } from 'node:fs';
import { z } from 'zod';
import { ApiError, conflict, forbiddenField, notFound } from '../../http/errors.ts';
import { actorId, type Caller, mayInWorkspace } from '../../identity/caller.ts';
import { type ExportField, exportFields, fieldAliases, needsBodies } from '../../logs/exports/fields.ts';
import { exportFile } from '../../logs/exports/write.ts';
import type { Db } from '../../store/database.ts';
import { decode, encode } from '../../store/json.ts';
import type { ExportStatus, LogExportTable } from '../../store/tables/log-exports.ts';
import { endpoint, type NamedWorkspace, type Resource } from '../kernel/endpoint.ts';
import { id, reference, search } from '../kernel/fields.ts';
import { holdsInAnyCase } from '../kernel/lists/list-queries.ts';
import { asList, listOf } from '../kernel/lists/paging.ts';
import type { Services } from '../kernel/services.ts';
import { inTime, visibleLogs } from '../logs/scopes.ts';
import { deniedIn, readFieldRestrictions } from './field-restrictions.ts';
import { readFilters } from './filters.ts';
import { signedLink } from './links.ts';
import { type ExportFilters, exportRecord, exportUpdate, newExport } from './schema.ts';

const tag = 'Log exports';
const scope = 'logs.export';
const access = {
  callers: ['admin-key', 'workspace-key', 'user-key', 'session'],
  scope,
  level: 'workspace',
} as const;
const audited = <A extends 'create' | 'update' | 'export' | 'manage'>(action: A) =>
  ({ resource: 'log_export', action }) as const;
const ofExport = () => z.object({ exportId: id });
const inWorkspace = () => z.object({ workspace_id: reference.optional() });
const started = () => z.object({ message: z.string(), object: z.literal('export') });
const sized = () => z.object({ id: z.string(), total: z.number(), object: z.literal('export') });

interface ExportCall {
  caller: Caller;
  workspace: NamedWorkspace | null;
  db: Db;
  now: Date;
  services: Services;
}

/** What is written for an export, checked against what the caller may see; and how many rows that is now. */
async function prepared(call: ExportCall, filters: ExportFilters, requested: readonly string[]) {
  const { caller, workspace, db, now, services } = call;
  const read = readFilters(filters, now);
  const visible = await visibleLogs({ db, caller, workspace, slug: filters.workspace_slug, needs: [scope] });
  const fields = [...new Set(requested.map((field) => fieldAliases[field] ?? field))].filter(
    (field): field is ExportField => Object.hasOwn(exportFields, field),
  );
  if (needsBodies(fields) && !visible.bodies) {
    const message = 'your role may not see what calls said, so it cannot export request and response';
    throw forbiddenField('body', 'requested_data', message);
  }
  const [place] = visible.scopes;
  const workspaceId = visible.scopes.length === 1 ? (place?.workspaceId ?? null) : null;
  const denied = await deniedIn(
    db,
    caller.organisationId,
    visible.scopes.map((one) => one.workspaceId),
  );
  const refused = fields.filter((field) => denied.has(field));
  if (refused.length > 0) {
    const message = `the settings of the organisation, or of a workspace whose calls would be in it, forbid to export ${refused.join(', ')}`;
    throw forbiddenField('body', 'requested_data', message);
  }
  const filter = { ...read.conditions, organisationId: caller.organisationId, scopes: visible.scopes };
  const sort = { sort: 'created_at', descending: true } as const;
  const { total } = await inTime(services.logs.list({ filter, ...sort, offset: 0, limit: 1 }));
  const matching = Math.min(read.limit, Math.max(0, total - read.offset));
  return {
    total: matching,
    row: {
      workspace_id: workspaceId,
      filters: encode(filters as Record<string, unknown>),
      query: encode({ filter, offset: read.offset, limit: read.limit }),
      requested_data: encode(fields as string[]),
      total_records: matching,
    },
  };
}

const createExport = endpoint({
  method: 'POST',
  path: '/logs/exports',
  tag,
  summary: 'Ask for an export of logs; it begins when it is started',
  access,
  audit: audited('create'),
  body: newExport,
  reply: sized,
  async handle({ caller, body, workspace, db, now, services, note }) {
    const { total, row } = await prepared({ caller, workspace, db, now, services }, body.filters, body.requested_data);
    const exportId = Bun.randomUUIDv7();
    const at = now.toISOString();
    await db
      .insertInto('log_exports')
      .values({
        id: exportId,
        organisation_id: caller.organisationId,
        ...row,
        status: 'draft',
        description: body.description ?? null,
        error: null,
        written_records: 0,
        created_by: actorId(caller),
        owner_user_id: caller.userId,
        created_at: at,
        last_updated_at: at,
        finished_at: null,
      })
      .execute();
    note({ resourceId: exportId });
    return { id: exportId, total, object: 'export' as const };
  },
});

const listExports = endpoint({
  method: 'GET',
  path: '/logs/exports',
  tag,
  summary: 'List exports, newest first',
  access,
  query: () => inWorkspace().extend({ search: search('the description') }),
  paging: { size: 50, max: 100 },
  reply: () => listOf(exportRecord()),
  async handle({ caller, workspace, query, page, db }) {
    let rows = visibleExports(db, caller);
    if (workspace) rows = rows.where('workspace_id', '=', workspace.id);
    const { search: part } = query;
    if (part) rows = rows.where((eb) => holdsInAnyCase(eb.fn.coalesce('description', eb.val('')), part));
    const { total } = await rows.select((eb) => eb.fn.countAll<number>().as('total')).executeTakeFirstOrThrow();
    const found = await rows
      .selectAll()
      .orderBy('created_at', 'desc')
      .orderBy('id', 'desc')
      .limit(page.size)
      .offset(page.offset)
      .execute();
    return asList(found.map(asRecord), Number(total));
  },
});

const readExport = endpoint({
  method: 'GET',
  path: '/logs/exports/:exportId',
  tag,
  summary: 'Read an export',
  access,
  params: ofExport,
  query: inWorkspace,
  reply: exportRecord,
  handle: async ({ caller, params, workspace, db }) =>
    asRecord(await exportRow(db, caller, workspace, params.exportId)),
});

const updateExport = endpoint({
  method: 'PUT',
  path: '/logs/exports/:exportId',
  tag,
  summary: 'Change an export that is not running',
  access,
  audit: audited('update'),
  params: ofExport,
  body: exportUpdate,
  reply: sized,
  async handle({ caller, params, body, workspace, db, now, services }) {
    const known = await exportRow(db, caller, workspace, params.exportId);
    requireStatus(known, ['draft', 'failed', 'stopped'], 'changed');
    const requested = body.requested_data ?? decode(known.requested_data);
    const { total, row } = await prepared({ caller, workspace, db, now, services }, body.filters, requested);
    await db
      .updateTable('log_exports')
      .set({
        ...row,
        ...(body.description !== undefined && { description: body.description }),
        last_updated_at: now.toISOString(),
      })
      .where('id', '=', known.id)
      .execute();
    return { id: known.id, total, object: 'export' as const };
  },
});

const startExport = endpoint({
  method: 'POST',
  path: '/logs/exports/:exportId/start',
  tag,
  summary: 'Start an export, or start it again after it failed or was stopped',
  access,
  audit: audited('export'),
  params: ofExport,
  query: inWorkspace,
  bodyRequired: false,
  reply: started,
  async handle({ caller, params, workspace, db, now, services }) {
    const known = await exportRow(db, caller, workspace, params.exportId);
    requireStatus(known, ['draft', 'failed', 'stopped'], 'started');
    // What its starter may see now counts, not what its maker might see then.
    const place =
      workspace ?? (known.workspace_id ? { id: known.workspace_id, slug: '', status: 'active' as const } : null);
    const requested = decode(known.requested_data);
    const call = { caller, workspace: place, db, now, services };
    const { row } = await prepared(call, decode(known.filters) as ExportFilters, requested);
    await db
      .updateTable('log_exports')
      .set({
        ...row,
        status: 'in_progress',
        written_records: 0,
        error: null,
        finished_at: null,
        last_updated_at: now.toISOString(),
      })
      .where('id', '=', known.id)
      .execute();
    return { message: 'The export was started', object: 'export' as const };
  },
});

const cancelExport = endpoint({
  method: 'POST',
  path: '/logs/exports/:exportId/cancel',
  tag,
  summary: 'Stop an export that is running',
  access,
  audit: audited('manage'),
  params: ofExport,
  query: inWorkspace,
  bodyRequired: false,
  reply: started,
  async handle({ caller, params, workspace, db, now }) {
    const known = await exportRow(db, caller, workspace, params.exportId);
    requireStatus(known, ['in_progress'], 'cancelled');
    await db
      .updateTable('log_exports')
      .set({ status: 'stopped', last_updated_at: now.toISOString(), finished_at: now.toISOString() })
      .where('id', '=', known.id)
      .execute();
    return { message: 'The export was stopped', object: 'export' as const };
  },
});

const downloadExport = endpoint({
  method: 'GET',
  path: '/logs/exports/:exportId/download',
  tag,
  summary: 'Get a link to the file of an export, good for an hour',
  access,
  params: ofExport,
  query: inWorkspace,
  reply: () => z.object({ signed_url: z.string(), url: z.string() }),
  async handle({ caller, params, workspace, db, services, exchange }) {
    const known = await exportRow(db, caller, workspace, params.exportId);
    if (known.status !== 'success') {
      throw new ApiError('AB01', `An export that is ${known.status} has no file yet`, { status: 400 });
    }
    if (!existsSync(exportFile(services.settings.dataDir, known.id))) throw notFound('file: it is kept for 7 days');
    const url = signedLink(services, exchange.origin, known.id);
    return { signed_url: url, url };
  },
});

/** A person sees own exports, and whoever runs the organisation or holds a service key those of where they may export. */
function visibleExports(db: Db, caller: Caller) {
  const rows = db.selectFrom('log_exports').where('organisation_id', '=', caller.organisationId);
  if (caller.kind === 'user-key') return rows.where('owner_user_id', '=', caller.userId);
  if (caller.kind === 'workspace-key') return rows.where('workspace_id', '=', caller.workspaceId);
  if (caller.kind === 'admin-key' || caller.rights.everyWorkspace) return rows;
  return rows.where('owner_user_id', '=', caller.userId);
}

async function exportRow(
  db: Db,
  caller: Caller,
  workspace: NamedWorkspace | null,
  exportId: string,
): Promise<LogExportTable> {
  const row = await visibleExports(db, caller).selectAll().where('id', '=', exportId.toLowerCase()).executeTakeFirst();
  if (!row) throw notFound('export');
  if (workspace && row.workspace_id !== workspace.id) throw notFound('export');
  if (row.workspace_id !== null && !mayInWorkspace(caller, scope, row.workspace_id)) throw notFound('export');
  return row;
}

function requireStatus({ status }: LogExportTable, allowed: readonly ExportStatus[], deed: string): void {
  if (!allowed.includes(status)) throw conflict(`An export that is ${status} cannot be ${deed}`);
}

const asRecord = (row: LogExportTable) => ({
  object: 'export' as const,
  id: row.id,
  organisation_id: row.organisation_id,
  workspace_id: row.workspace_id,
  filters: decode(row.filters),
  requested_data: decode(row.requested_data),
  status: row.status,
  description: row.description,
  error: row.error,
  total_records: row.total_records,
  progress:
    row.status === 'success'
      ? 100
      : row.total_records === 0
        ? 0
        : Math.min(99, Math.floor((100 * row.written_records) / row.total_records)),
  created_at: row.created_at,
  last_updated_at: row.last_updated_at,
  created_by: row.created_by,
});

export const logExportsResource: Resource = {
  name: 'log exports',
  endpoints: [
    createExport,
    listExports,
    readFieldRestrictions,
    readExport,
    updateExport,
    startExport,
    cancelExport,
    downloadExport,
  ],
  dependants: [
    {
      // They do not stand in the way: they go with their workspace.
      kind: 'log exports',
      async remove(db, workspaceId) {
        await db.deleteFrom('log_exports').where('workspace_id', '=', workspaceId).execute();
        return [];
      },
    },
  ],
};
