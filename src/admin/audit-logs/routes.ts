/** Reading the audit trail. Rows are only ever added: there is no route that changes or removes one. */
import { sql } from 'kysely';
import { z } from 'zod';
import { dateTime } from '../../date-time.ts';
import { ApiError, invalidQuery } from '../../http/errors.ts';
import { lazy } from '../../lazy.ts';
import type { Db } from '../../store/database.ts';
import { endpoint, type Resource } from '../kernel/endpoint.ts';
import { commaList, id } from '../kernel/fields.ts';
import { holds } from '../kernel/lists/list-queries.ts';
import { pageOfIds } from '../kernel/lists/page-of-ids.ts';

const word = lazy(() => z.string().min(1).max(255));
const userType = lazy(() => z.enum(['user', 'api_key', 'scim', 'system']));

const filters = () =>
  z.object({
    start_time: dateTime,
    end_time: dateTime,
    organisation_id: id.optional(),
    method: z.enum(['POST', 'PUT', 'PATCH', 'DELETE']).optional(),
    uri: word().optional().describe('Any part of the path'),
    request_id: word().optional(),
    user_id: word().optional(),
    user_type: userType().optional(),
    workspace_id: word().optional(),
    response_status_code: z.coerce.number().int().min(100).max(599).optional(),
    resource_type: commaList(word()).optional().describe('One or several, separated by commas'),
    action: commaList(word()).optional().describe('One or several, separated by commas'),
    client_ip: word().optional(),
    country: word().optional(),
  });

type Filters = z.output<ReturnType<typeof filters>>;

export const auditRecord = lazy(() =>
  z.object({
    id: z.string(),
    timestamp: z.string(),
    method: z.string(),
    uri: z.string(),
    request_id: z.string(),
    request_body: z.string(),
    query_params: z.string(),
    request_headers: z.string(),
    user_id: z.string(),
    user_type: userType(),
    organisation_id: z.string(),
    workspace_id: z.string().nullable(),
    response_status_code: z.number(),
    resource_type: z.string(),
    resource_id: z.string().nullable(),
    action: z.string(),
    client_ip: z.string(),
    country: z.string().nullable(),
    details: z.string().nullable(),
  }),
);

const longestRangeMs = 365 * 86_400_000;

const listAuditLogs = endpoint({
  method: 'GET',
  path: '/audit-logs',
  tag: 'Audit',
  summary: 'List audit rows, newest first',
  access: { callers: ['admin-key', 'session'], scope: 'audit_logs.list', level: 'organisation' },
  query: filters,
  paging: { size: 50, max: 100, allowZero: true },
  // Clients of the reference product check for this odd name.
  reply: () => z.object({ object: z.literal('analytics-graph'), total: z.number(), records: z.array(auditRecord()) }),
  async handle({ caller, query, page, db, services }) {
    if (!services.settings.auditLogs)
      throw new ApiError('AB08', 'Audit logs are switched off (AUDIT_LOGS_ENABLED=OFF)');
    requireRange(query);
    const { ids, total } = await pageOfIds({
      matches: matchingRows(db, caller.organisationId, query),
      order: { by: sql.ref('timestamp'), id: sql.ref('id'), direction: 'desc' },
      page,
    });
    return { object: 'analytics-graph' as const, total, records: await rowsById(db, ids) };
  },
});

async function rowsById(db: Db, ids: readonly string[]) {
  if (ids.length === 0) return [];
  return db
    .selectFrom('audit_logs')
    .selectAll()
    .where('id', 'in', ids)
    .orderBy('timestamp', 'desc')
    .orderBy('id', 'desc')
    .execute();
}

function requireRange(query: Filters): void {
  const start = Date.parse(query.start_time);
  const end = Date.parse(query.end_time);
  if (start > end) throw invalidQuery('end_time', 'must not lie before start_time');
  if (end - start > longestRangeMs) throw invalidQuery('end_time', 'must lie at most 365 days after start_time');
}

const equalities = [
  'method',
  'request_id',
  'user_id',
  'user_type',
  'workspace_id',
  'response_status_code',
  'client_ip',
  'country',
] as const;

function matchingRows(db: Db, organisationId: string, query: Filters) {
  let rows = db
    .selectFrom('audit_logs')
    .where('organisation_id', '=', organisationId)
    .where('timestamp', '>=', new Date(query.start_time).toISOString())
    .where('timestamp', '<=', new Date(query.end_time).toISOString());
  for (const name of equalities) {
    const value = query[name];
    if (value !== undefined) rows = rows.where(name, '=', value);
  }
  if (query.uri) rows = rows.where(holds(sql.ref('uri'), query.uri));
  if (query.resource_type?.length) rows = rows.where('resource_type', 'in', query.resource_type);
  if (query.action?.length) rows = rows.where('action', 'in', query.action);
  return rows;
}

export const auditLogResource: Resource = { name: 'audit-logs', endpoints: [listAuditLogs] };
