/** The list of calls. */

import { z } from 'zod';
import { readJson } from '../../bounded-json.ts';
import { dateTime } from '../../date-time.ts';
import { ApiError, forbiddenField, invalidQuery } from '../../http/errors.ts';
import { lazy } from '../../lazy.ts';
import { type Cursor, type SortField, sortFields } from '../../logs/query.ts';
import { endpoint } from '../kernel/endpoint.ts';
import { commaList } from '../kernel/fields.ts';
import { conditionsOf, filterShape, requireRange } from './filters.ts';
import { showMetrics } from './record.ts';
import { metricsSchema } from './schema.ts';
import { inTime, visibleLogs } from './scopes.ts';

const day = 86_400_000;
/** Rows behind this are reached by the cursor. */
const deepest = 100_000;

const listQuery = () =>
  z.object({
    ...filterShape(),
    time_of_generation_min: dateTime.optional().describe('The start of the range; 24 hours before its end by default'),
    time_of_generation_max: dateTime.optional().describe('The end of the range; now by default'),
    search: z
      .string()
      .trim()
      .min(2)
      .max(200)
      .optional()
      .describe('A text anywhere in bodies or error, whatever its case'),
    cache_status: commaList(z.enum(['HIT', 'SEMANTIC HIT', 'MISS', 'SEMANTIC MISS', 'REFRESH', 'DISABLED'])).optional(),
    source: commaList(z.enum(['gateway', 'proxy', 'custom', 'otel'])).optional(),
    order_by: z.enum(sortFields).optional(),
    order_by_type: z.enum(['asc', 'desc']).optional(),
    cursor: z
      .string()
      .max(300)
      .optional()
      .describe('The next_cursor of the page before; counts instead of current_page'),
  });

export const listedLog = lazy(() =>
  metricsSchema().extend({
    prompt_preview: z.string().optional().describe('The beginning of what was asked, where bodies may be seen'),
    answer_preview: z.string().optional().describe('The beginning of what was answered'),
  }),
);

const scopes = ['logs.list'] as const;

export const listLogs = endpoint({
  method: 'GET',
  path: '/logs',
  tag: 'Logs',
  summary: 'List calls, newest first',
  description:
    'Every filter narrows the list; several values of one filter are alternatives. Calls appear within two seconds of their end.',
  access: { callers: ['admin-key', 'workspace-key', 'user-key', 'session'], scope: 'logs.list', level: 'workspace' },
  query: listQuery,
  paging: { size: 50, max: 500 },
  reply: () =>
    z.object({
      object: z.literal('list'),
      total: z.number().describe('All matches, not only this page'),
      data: z.array(listedLog()),
      next_cursor: z.string().nullable().describe('Leads to the next page; null on the last one'),
    }),
  async handle({ caller, query, page, workspace, db, now, services }) {
    const to = query.time_of_generation_max ? Date.parse(query.time_of_generation_max) : now.getTime() + 1;
    const from = query.time_of_generation_min ? Date.parse(query.time_of_generation_min) : to - day;
    requireRange(from, to);
    const visible = await visibleLogs({ db, caller, workspace, slug: query.workspace_slug, needs: scopes });
    if (query.search && !visible.bodies) {
      throw forbiddenField('query', 'search', 'your role may not see what calls said, so it cannot search in it');
    }
    const sort = query.order_by ?? 'created_at';
    const descending = query.order_by_type !== 'asc';
    const after = query.cursor === undefined ? null : readCursor(query.cursor, sort, descending);
    if (!after && page.offset + page.size > deepest) {
      throw invalidQuery('current_page', `lies behind row ${deepest}; follow next_cursor, or narrow the filter`);
    }
    const conditions = conditionsOf(query);
    const found = await inTime(
      services.logs.list({
        filter: {
          ...conditions,
          organisationId: caller.organisationId,
          scopes: visible.scopes,
          from,
          to,
          values: {
            ...conditions.values,
            ...(query.cache_status && { cache_status: query.cache_status }),
            ...(query.source && { source: query.source }),
          },
          ...(query.search && { search: query.search }),
        },
        sort,
        descending,
        offset: page.offset,
        limit: page.size,
        ...(after && { after }),
      }),
    );
    const name = await organisationName(db, caller.organisationId);
    const last = found.rows.at(-1);
    return {
      object: 'list' as const,
      total: found.total,
      data: found.rows.map(({ metrics, promptPreview, answerPreview }) => ({
        ...showMetrics(metrics, name),
        ...(visible.bodies && { prompt_preview: promptPreview, answer_preview: answerPreview }),
      })),
      next_cursor:
        last && found.rows.length === page.size
          ? writeCursor(sort, descending, { value: last.metrics[sort], id: last.metrics.id })
          : null,
    };
  },
});

export async function organisationName(db: Parameters<typeof visibleLogs>[0]['db'], id: string): Promise<string> {
  const row = await db.selectFrom('organisations').select('name').where('id', '=', id).executeTakeFirst();
  if (!row) throw new ApiError('AB08', 'No such organisation');
  return row.name;
}

const cursorForm = lazy(() => z.tuple([z.enum(sortFields), z.boolean(), z.number(), z.string().max(64)]));

const writeCursor = (sort: SortField, descending: boolean, { value, id }: Cursor): string =>
  Buffer.from(JSON.stringify([sort, descending, value, id])).toString('base64url');

function readCursor(text: string, sort: SortField, descending: boolean): Cursor {
  let written: unknown = null;
  try {
    written = readJson(Buffer.from(text, 'base64url').toString());
  } catch {
    // It is told below, together with cursors that say something else.
  }
  const parsed = cursorForm().safeParse(written);
  if (!parsed.success) throw invalidQuery('cursor', 'is none that this list has given');
  const [ofSort, ofDescending, value, id] = parsed.data;
  if (ofSort !== sort || ofDescending !== descending)
    throw invalidQuery('cursor', 'belongs to a list in another order');
  return { value, id };
}
