/** Webhooks: addresses that are called when a limit is reached or something expires. */
import { z } from 'zod';
import { faultOfCustomHost, type TrustedHosts } from '../../http/custom-host.ts';
import { forbidden, invalid, notFound } from '../../http/errors.ts';
import { type Caller, mayInWorkspace, runsAll } from '../../identity/caller.ts';
import { lazy } from '../../lazy.ts';
import type { Db } from '../../store/database.ts';
import { decode, encode } from '../../store/json.ts';
import type { AlertWebhookTable } from '../../store/tables/limits.ts';
import { type Dependant, endpoint, type NamedWorkspace, type Resource } from '../kernel/endpoint.ts';
import { empty, id, reference, search, timestamp } from '../kernel/fields.ts';
import { holdsInAnyCase, newestFirst } from '../kernel/lists/list-queries.ts';
import { asList, listOf } from '../kernel/lists/paging.ts';
import { sentFields } from '../kernel/validate.ts';
import { policyAccess } from '../policies/access.ts';
import { webhookEvents } from './queue.ts';
import { newWebhookSecret } from './secret.ts';

const tag = 'Webhooks';
const paging = { size: 50, max: 100 };
const eventList = () => z.array(z.enum(webhookEvents)).min(1).max(webhookEvents.length);
const address = () => z.url({ protocol: /^https?$/ }).max(2_048);

const newWebhook = lazy(() =>
  z.object({
    url: address(),
    events: eventList().optional().describe('Without it: all of them'),
    workspace_id: reference.optional().describe('Without it: what happens anywhere in the organisation'),
  }),
);
const webhookUpdate = lazy(() =>
  z.object({
    url: address().optional(),
    events: eventList().optional(),
    status: z.enum(['active', 'paused']).optional(),
    workspace_id: reference.optional(),
  }),
);
const webhookRecord = lazy(() =>
  z.object({
    object: z.literal('webhook'),
    id: z.string(),
    url: z.string(),
    events: z.array(z.string()),
    status: z.enum(['active', 'paused']),
    workspace_id: z.string().nullable(),
    organisation_id: z.string(),
    created_at: timestamp,
    last_updated_at: timestamp,
  }),
);
const deliveryRecord = lazy(() =>
  z.object({
    object: z.literal('webhook-delivery'),
    id: z.string(),
    event: z.string(),
    status: z.enum(['queued', 'delivered', 'failed']),
    attempts: z.number(),
    next_attempt_at: timestamp.nullable(),
    last_error: z.string().nullable(),
    created_at: timestamp,
    delivered_at: timestamp.nullable(),
  }),
);
const ofWebhook = lazy(() => z.object({ webhookId: id }));
const listQuery = lazy(() => inWorkspace().extend({ search: search('the address') }));
const inWorkspace = lazy(() => z.object({ workspace_id: reference.optional() }));

const asRecord = (row: AlertWebhookTable) => ({
  object: 'webhook' as const,
  id: row.id,
  url: row.url,
  events: decode(row.events),
  status: row.status,
  workspace_id: row.workspace_id,
  organisation_id: row.organisation_id,
  created_at: row.created_at,
  last_updated_at: row.last_updated_at,
});

function checkAddress(url: string, trustedHosts: TrustedHosts): string {
  const fault = faultOfCustomHost(url, trustedHosts);
  if (fault) throw invalid('url', fault);
  return url;
}

/** What happens in the whole organisation is told only to those who run it. */
function placeOf(caller: Caller, workspace: NamedWorkspace | null): string | null {
  if (workspace) return workspace.id;
  if (!runsAll(caller)) throw forbidden('Name a workspace: only those who run the organisation hear of all of it');
  return null;
}

async function reach(
  { caller, workspace, db }: { caller: Caller; workspace: NamedWorkspace | null; db: Db },
  webhookId: string,
  action: 'read' | 'update' | 'delete',
): Promise<AlertWebhookTable> {
  const row = await db
    .selectFrom('alert_webhooks')
    .selectAll()
    .where('id', '=', webhookId)
    .where('organisation_id', '=', caller.organisationId)
    .executeTakeFirst();
  if (!row || (workspace && row.workspace_id !== workspace.id)) throw notFound('webhook');
  const may =
    row.workspace_id === null ? runsAll(caller) : mayInWorkspace(caller, `policies.${action}`, row.workspace_id);
  if (!may) throw forbidden('This webhook belongs to others');
  return row;
}

const createWebhook = endpoint({
  method: 'POST',
  path: '/webhooks',
  tag,
  summary: 'Add a webhook; its signing secret is shown once',
  access: policyAccess('create'),
  audit: { resource: 'webhook', action: 'create' },
  body: newWebhook,
  reply: () => webhookRecord().extend({ secret: z.string() }),
  async handle({ caller, workspace, body, db, now, services, note }) {
    const workspaceId = placeOf(caller, workspace);
    const { secret, sealed } = newWebhookSecret(services.vault);
    const at = now.toISOString();
    const row: AlertWebhookTable = {
      id: Bun.randomUUIDv7(),
      organisation_id: caller.organisationId,
      workspace_id: workspaceId,
      url: checkAddress(body.url, services.settings.trustedHosts),
      secret_sealed: sealed,
      events: encode<string[]>([...(body.events ?? webhookEvents)]),
      status: 'active',
      created_at: at,
      last_updated_at: at,
    };
    await db.insertInto('alert_webhooks').values(row).execute();
    note({ resourceId: row.id, ...(workspaceId !== null && { workspaceId }) });
    return { ...asRecord(row), secret };
  },
});

const listWebhooks = endpoint({
  method: 'GET',
  path: '/webhooks',
  tag,
  summary: 'List the webhooks of a workspace, or of the organisation, newest first',
  access: policyAccess('list'),
  query: listQuery,
  paging,
  reply: () => listOf(webhookRecord()),
  async handle({ caller, workspace, query, page, db }) {
    const workspaceId = placeOf(caller, workspace);
    const { search: part } = query;
    let own = db.selectFrom('alert_webhooks').where('organisation_id', '=', caller.organisationId);
    if (part) own = own.where((eb) => holdsInAnyCase(eb.ref('url'), part));
    const { rows, total } = await newestFirst(
      workspaceId === null ? own : own.where('workspace_id', '=', workspaceId),
      page,
    );
    return asList(rows.map(asRecord), total);
  },
});

const readWebhook = endpoint({
  method: 'GET',
  path: '/webhooks/:webhookId',
  tag,
  summary: 'Read a webhook',
  access: policyAccess('read'),
  params: ofWebhook,
  query: inWorkspace,
  reply: webhookRecord,
  handle: async (call) => asRecord(await reach(call, call.params.webhookId, 'read')),
});

const updateWebhook = endpoint({
  method: 'PUT',
  path: '/webhooks/:webhookId',
  tag,
  summary: 'Change a webhook, or pause it',
  access: policyAccess('update'),
  audit: { resource: 'webhook', action: 'update' },
  params: ofWebhook,
  body: webhookUpdate,
  reply: webhookRecord,
  async handle(call) {
    const { body, db, now, services, note } = call;
    const row = await reach(call, call.params.webhookId, 'update');
    const changed = sentFields(body, ['url', 'events', 'status']);
    const columns = {
      ...(body.url !== undefined && { url: checkAddress(body.url, services.settings.trustedHosts) }),
      ...(body.events && { events: encode<string[]>([...body.events]) }),
      ...(body.status && { status: body.status }),
      last_updated_at: now.toISOString(),
    };
    await db.updateTable('alert_webhooks').set(columns).where('id', '=', row.id).execute();
    note({ resourceId: row.id, details: { changed } });
    return asRecord({ ...row, ...columns });
  },
});

const deleteWebhook = endpoint({
  method: 'DELETE',
  path: '/webhooks/:webhookId',
  tag,
  summary: 'Remove a webhook with what waits for it',
  access: policyAccess('delete'),
  audit: { resource: 'webhook', action: 'delete' },
  params: ofWebhook,
  query: inWorkspace,
  reply: empty,
  async handle(call) {
    const row = await reach(call, call.params.webhookId, 'delete');
    await call.db.deleteFrom('webhook_deliveries').where('webhook_id', '=', row.id).execute();
    await call.db.deleteFrom('alert_webhooks').where('id', '=', row.id).execute();
    call.note({ resourceId: row.id });
    return {};
  },
});

const listDeliveries = endpoint({
  method: 'GET',
  path: '/webhooks/:webhookId/deliveries',
  tag,
  summary: 'List the calls of a webhook, newest first: what was delivered, what waits, and what was given up',
  access: policyAccess('read'),
  params: ofWebhook,
  query: inWorkspace,
  paging,
  reply: () => listOf(deliveryRecord()),
  async handle(call) {
    const row = await reach(call, call.params.webhookId, 'read');
    const own = call.db.selectFrom('webhook_deliveries').where('webhook_id', '=', row.id);
    const { rows, total } = await newestFirst(own, call.page);
    return asList(
      rows.map(({ payload: _, webhook_id: __, ...delivery }) => ({ object: 'webhook-delivery' as const, ...delivery })),
      total,
    );
  },
});

/** They hinder nobody from removing a workspace, and end with it. */
const webhooksOfWorkspace: Dependant = {
  kind: 'webhooks',
  async remove(db, workspaceId) {
    await db.updateTable('alert_webhooks').set({ status: 'paused' }).where('workspace_id', '=', workspaceId).execute();
    return [];
  },
};

export const webhooksResource: Resource = {
  name: 'webhooks',
  savesAddresses: true,
  endpoints: [createWebhook, listWebhooks, readWebhook, updateWebhook, deleteWebhook, listDeliveries],
  dependants: [webhooksOfWorkspace],
};
