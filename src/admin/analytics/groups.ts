/** Calls by what they have in common. */
import { z } from 'zod';
import { dateTime } from '../../date-time.ts';
import { forbiddenField, invalidFields, invalidQuery } from '../../http/errors.ts';
import { type Caller, runsAll } from '../../identity/caller.ts';
import type { Scope } from '../../identity/scopes.ts';
import {
  type Column,
  columnNames,
  columns,
  type Grouping,
  groupingNames,
  groupings,
  measuresOf,
  sortGroups,
  sumsOf,
} from '../../logs/analytics/groups.ts';
import type { Aggregate, GroupBy, LogFilter, Measure } from '../../logs/query.ts';
import type { Db } from '../../store/database.ts';
import { type Endpoint, endpoint, type NamedWorkspace, type Page } from '../kernel/endpoint.ts';
import type { Services } from '../kernel/services.ts';
import { conditionsOf, filterShape, rangeShape, requireRange } from '../logs/filters.ts';
import { inTime, visibleLogs } from '../logs/scopes.ts';
import { viewing } from './access.ts';

const day = 86_400_000;
/** A page of no rows stands for one of the usual size. */
const paging = { size: 50, max: 1_000, allowZero: true } as const;
const sorting = () => ({
  order_by: z.enum(['requests', ...columnNames]).optional(),
  order_by_type: z.enum(['asc', 'desc']).optional(),
});

interface GroupCall {
  caller: Caller;
  workspace: NamedWorkspace | null;
  db: Db;
  services: Services;
  needs: readonly Scope[];
  query: z.output<z.ZodObject<ReturnType<typeof filterShape> & ReturnType<typeof sorting>>>;
  from: number;
  to: number;
  group: GroupBy;
  /** The columns that are shown besides the number of requests. */
  shown: readonly Column[];
  /** True where the feedback on the calls is shown too. */
  withFeedback?: boolean;
  page: Page;
}

/** One page of the groups, sorted, and how many there are. */
async function pageOfGroups(call: GroupCall): Promise<{ total: number; rows: Aggregate[] }> {
  const { caller, workspace, db, services, needs, query, from, to, group, page } = call;
  requireRange(from, to);
  const visible = await visibleLogs({ db, caller, workspace, slug: query.workspace_slug, needs, sums: true });
  const filter: LogFilter = {
    ...conditionsOf(query),
    organisationId: caller.organisationId,
    scopes: visible.scopes,
    from,
    to,
  };
  const by = query.order_by ?? 'requests';
  const used = [...call.shown, by];
  const measures: Measure[] = [...measuresOf(used), ...(call.withFeedback ? (['feedback'] as const) : [])];
  const rows = await inTime(services.logs.aggregate({ filter, group, sums: sumsOf(used), measures }));
  const sorted = sortGroups(rows, by, query.order_by_type !== 'asc');
  const size = page.size || paging.size;
  return { total: rows.length, rows: sorted.slice(page.index * size, (page.index + 1) * size) };
}

const inRange = (query: { time_of_generation_min: string; time_of_generation_max: string }) => ({
  from: Date.parse(query.time_of_generation_min),
  to: Date.parse(query.time_of_generation_max),
});

const listOf = <T extends z.ZodRawShape>(row: T) =>
  z.object({
    object: z.literal('list'),
    total: z.number(),
    data: z.array(z.object({ ...row, object: z.literal('analytics-group') })),
  });

const asGroups = <T extends object>(total: number, data: T[]) => ({
  object: 'list' as const,
  total,
  data: data.map((row) => ({ ...row, object: 'analytics-group' as const })),
});

/** Groups that show nothing beyond what every group has. */
const plainGroup = { shown: ['cost'], needs: ['analytics.view'] } as const;

const groupUsers = endpoint({
  method: 'GET',
  path: '/analytics/groups/users',
  tag: 'Analytics',
  summary: 'Calls by the user that their metadata names',
  access: viewing,
  query: () => z.object({ ...filterShape(), ...rangeShape, ...sorting() }),
  paging,
  // Texts, as the clients of the reference product expect.
  reply: () => listOf({ user: z.string(), requests: z.string(), cost: z.string() }),
  async handle(call) {
    const { total, rows } = await pageOfGroups({
      ...call,
      ...plainGroup,
      group: { by: 'metadata', key: '_user' },
      ...inRange(call.query),
    });
    return asGroups(
      total,
      rows.map((row) => ({ user: String(row.key), requests: String(row.requests), cost: String(row.cost) })),
    );
  },
});

const groupModels = endpoint({
  method: 'GET',
  path: '/analytics/groups/ai-models',
  tag: 'Analytics',
  summary: 'Calls by their model',
  access: viewing,
  query: () => z.object({ ...filterShape(), ...rangeShape, ...sorting() }),
  paging,
  reply: () => listOf({ ai_model: z.string(), requests: z.string() }),
  async handle(call) {
    const { total, rows } = await pageOfGroups({
      ...call,
      ...plainGroup,
      group: { by: 'field', field: 'ai_model' },
      ...inRange(call.query),
    });
    return asGroups(
      total,
      rows.map((row) => ({ ai_model: String(row.key), requests: String(row.requests) })),
    );
  },
});

const groupMetadata = endpoint({
  method: 'GET',
  path: '/analytics/groups/metadata/:metadataKey',
  tag: 'Analytics',
  summary: 'Calls by the value that they have under a key of their metadata',
  access: viewing,
  params: () => z.object({ metadataKey: z.string().min(1).max(128) }),
  query: () => z.object({ ...filterShape(), ...rangeShape, ...sorting() }),
  paging,
  reply: () =>
    listOf({
      metadata_value: z.string(),
      requests: z.number(),
      cost: z.number(),
      avg_tokens: z.number(),
      avg_weighted_feedback: z.number(),
      requests_with_feedback: z.number(),
      last_seen: z.string(),
    }),
  async handle({ caller, params, query, page, workspace, db, services }) {
    const group = { by: 'metadata', key: params.metadataKey } as const;
    const asked = { caller, workspace, db, services, query, page, group, needs: ['analytics.view'] } as const;
    const { total, rows } = await pageOfGroups({
      ...asked,
      shown: ['cost', 'avg_tokens', 'last_seen'],
      withFeedback: true,
      ...inRange(query),
    });
    return asGroups(
      total,
      rows.map((row) => ({
        metadata_value: String(row.key),
        requests: row.requests,
        cost: row.cost,
        avg_tokens: columns.avg_tokens(row),
        avg_weighted_feedback: row.feedback.weight === 0 ? 0 : row.feedback.weighted / row.feedback.weight,
        requests_with_feedback: row.feedback.requests,
        last_seen: columns.last_seen(row),
      })),
    );
  },
});

const columnList = () =>
  z
    .string()
    .max(500)
    .describe(`Columns besides requests, separated by commas: ${columnNames.join(', ')}`)
    .optional();

function columnsIn(text: string | undefined): Column[] {
  const asked = (text ?? '').split(',').flatMap((name) => name.trim() || []);
  for (const name of asked) {
    if (!Object.hasOwn(columns, name)) throw invalidQuery('columns', `${name} is none of ${columnNames.join(', ')}`);
  }
  return [...new Set(asked as Column[])];
}

/** The seed's groups: the same data under analytics and under logs. */
const genericGroups = (
  path: '/analytics/groups/:groupBy' | '/logs/groups/:groupBy',
  needs: readonly [Scope, ...Scope[]],
): Endpoint =>
  endpoint({
    method: 'GET',
    path,
    tag: 'Analytics',
    summary: `Calls by a field, with the columns that are asked for${path.startsWith('/logs') ? ' (for those who may list logs)' : ''}`,
    access: { ...viewing, scope: { anyOf: needs } },
    params: () => z.object({ groupBy: z.string().min(1).max(100) }),
    query: () =>
      z.object({
        ...filterShape(),
        time_of_generation_min: dateTime
          .optional()
          .describe('The start of the range; 30 days before its end by default'),
        time_of_generation_max: dateTime.optional().describe('The end of the range; now by default'),
        columns: columnList(),
        ...sorting(),
      }),
    paging,
    reply: () =>
      z.object({
        object: z.literal('list'),
        total: z.number(),
        data: z.array(z.looseObject({ requests: z.number(), object: z.literal('analytics-group') })),
      }),
    async handle({ caller, params, query, page, workspace, db, now, services }) {
      const grouping = requireGrouping(params.groupBy);
      if (grouping === 'workspace' && !runsAll(caller)) {
        throw forbiddenField('path', 'groupBy', 'groups of workspaces are open to those who run the organisation');
      }
      const wanted = columnsIn(query.columns);
      const to = query.time_of_generation_max ? Date.parse(query.time_of_generation_max) : now.getTime() + 1;
      const from = query.time_of_generation_min ? Date.parse(query.time_of_generation_min) : to - 30 * day;
      const group = groupings[grouping];
      const asked = { caller, workspace, db, services, query, page, group, shown: wanted, needs, from, to };
      const { total, rows } = await pageOfGroups(asked);
      const names =
        grouping === 'api_key'
          ? await namesOfKeys(
              db,
              rows.map(({ key }) => String(key)),
            )
          : null;
      return asGroups(
        total,
        rows.map((row) => ({
          [grouping]: row.key,
          ...(names && { name: names.get(String(row.key)) ?? null }),
          requests: row.requests,
          ...Object.fromEntries(wanted.map((column) => [column, columns[column](row)])),
        })),
      );
    },
  });

function requireGrouping(name: string): Grouping {
  const known = groupingNames.find((grouping) => grouping === name);
  if (!known) {
    const message = `${name} is none of ${groupingNames.join(', ')}`;
    throw invalidFields([{ location: 'path', path: 'groupBy', message }]);
  }
  return known;
}

async function namesOfKeys(db: Db, ids: readonly string[]): Promise<Map<string, string>> {
  if (ids.length === 0) return new Map();
  const rows = await db.selectFrom('api_keys').select(['id', 'name']).where('id', 'in', ids).execute();
  return new Map(rows.map(({ id, name }) => [id, name]));
}

export const groupEndpoints: readonly Endpoint[] = [
  groupUsers,
  groupModels,
  groupMetadata,
  genericGroups('/analytics/groups/:groupBy', ['analytics.view']),
  genericGroups('/logs/groups/:groupBy', ['logs.list', 'analytics.view']),
];
