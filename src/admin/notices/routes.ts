/** Reading the outbox: what would be mailed, or was. */
import { z } from 'zod';
import { notFound } from '../../http/errors.ts';
import { lazy } from '../../lazy.ts';
import { decode } from '../../store/json.ts';
import { endpoint, type Resource } from '../kernel/endpoint.ts';
import { empty, id, search, timestamp } from '../kernel/fields.ts';
import { newestFirst, oneHoldsInAnyCase } from '../kernel/lists/list-queries.ts';
import { asList, listOf } from '../kernel/lists/paging.ts';
import { openFields } from './outbox.ts';
import { showFields } from './show.ts';

const statuses = ['queued', 'sent', 'failed'] as const;

export const noticeRecord = lazy(() =>
  z.object({
    object: z.literal('notice'),
    id: z.string(),
    template: z.string(),
    recipients: z.array(z.string()),
    fields: z
      .record(z.string(), z.string())
      .nullable()
      .describe('Links and keys are shown in part; null when they were sealed under another master key'),
    status: z.enum(statuses),
    attempts: z.number(),
    next_attempt_at: timestamp.nullable(),
    last_error: z.string().nullable().describe('Why it could not be mailed the last time'),
    created_at: timestamp,
    sent_at: timestamp.nullable(),
  }),
);

const listNotices = endpoint({
  method: 'GET',
  path: '/admin/notices',
  aliases: ['/notices'],
  tag: 'Notices',
  summary: 'List the notices of the organisation that wait to be sent, newest first',
  access: { callers: ['admin-key', 'session'], scope: 'audit_logs.list', level: 'organisation' },
  query: () => z.object({ status: z.enum(statuses).default('queued'), search: search('the template or a recipient') }),
  paging: { size: 50, max: 100 },
  reply: () => listOf(noticeRecord()),
  async handle({ caller, query, page, db, services }) {
    const part = query.search;
    const matches = db
      .selectFrom('notices')
      .where('organisation_id', '=', caller.organisationId)
      .where('status', '=', query.status)
      .where((eb) =>
        part === undefined ? eb.lit(true) : oneHoldsInAnyCase(part, eb.ref('template'), eb.ref('recipients')),
      );
    const { rows, total } = await newestFirst(matches, page);
    const notices = rows.map((row) => {
      const fields = openFields(services.vault, row.fields_sealed);
      return {
        object: 'notice' as const,
        id: row.id,
        template: row.template,
        recipients: decode(row.recipients),
        fields: fields && showFields(fields),
        status: row.status,
        attempts: row.attempts,
        next_attempt_at: row.next_attempt_at,
        last_error: row.last_error,
        created_at: row.created_at,
        sent_at: row.sent_at,
      };
    });
    return asList(notices, total);
  },
});

const retryNotice = endpoint({
  method: 'POST',
  path: '/admin/notices/:noticeId/retry',
  aliases: ['/notices/:noticeId/retry'],
  tag: 'Notices',
  summary: 'Mail a notice once more that was given up',
  access: { callers: ['admin-key', 'session'], scope: 'audit_logs.list', level: 'organisation' },
  audit: { resource: 'organisation', action: 'manage' },
  params: () => z.object({ noticeId: id }),
  bodyRequired: false,
  reply: empty,
  async handle({ caller, params, db, note }) {
    const { numUpdatedRows } = await db
      .updateTable('notices')
      .set({ status: 'queued', attempts: 0, next_attempt_at: null })
      .where('id', '=', params.noticeId)
      .where('organisation_id', '=', caller.organisationId)
      .where('status', '=', 'failed')
      .executeTakeFirst();
    if (numUpdatedRows === 0n) throw notFound('notice that was given up');
    note({ resourceId: params.noticeId });
    return {};
  },
});

export const noticesResource: Resource = { name: 'notices', endpoints: [listNotices, retryNotice] };
