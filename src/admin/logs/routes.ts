/** Logs of calls: one, a list, a trace. */
import { z } from 'zod';
import { forbidden, notFound } from '../../http/errors.ts';
import { mayInWorkspace } from '../../identity/caller.ts';
import { endpoint, type Resource } from '../kernel/endpoint.ts';
import { id } from '../kernel/fields.ts';
import { insertLogs } from './insert.ts';
import { listLogs } from './list.ts';
import { showLog } from './record.ts';
import { logSchema } from './schema.ts';
import { inTime } from './scopes.ts';
import { readTrace } from './trace.ts';
import { listFilterValues } from './values.ts';
import { logVisibility } from './visibility.ts';

// Whoever may make calls may read how they went.
const scopes = ['logs.view', 'logs.read', 'completions.write', 'logs.write'] as const;

const readLog = endpoint({
  method: 'GET',
  path: '/logs/:logId',
  tag: 'Logs',
  summary: 'Read the log of one call',
  description:
    'Each target that a call tried has a log of its own; those of one call share trace_id and internal_trace_id. ' +
    'Headers and bodies are there where full logging was on, and those of the answer also where the call failed; ' +
    'a person whose role may not see them gets the metrics alone.',
  access: {
    callers: ['admin-key', 'workspace-key', 'user-key', 'session'],
    scope: { anyOf: scopes },
    level: 'workspace',
  },
  params: () => z.object({ logId: id }),
  query: () => z.object({ workspace_id: z.string().max(255).optional() }),
  reply: logSchema,
  async handle({ caller, params, workspace, db, services }) {
    const record = await inTime(services.logs.find(params.logId.toLowerCase()));
    const { organisation_id, workspace_id, user_id } = record?.metrics ?? {};
    // What lies elsewhere does not exist for this caller.
    if (!record || !workspace_id || organisation_id !== caller.organisationId) throw notFound('log');
    if (workspace && workspace.id !== workspace_id) throw notFound('log');
    if (!scopes.some((scope) => mayInWorkspace(caller, scope, workspace_id))) throw notFound('log');
    const { rows, bodies } = await logVisibility(db, caller, workspace_id);
    if (rows === 'none') throw forbidden('Your role may not see the logs of this workspace; ask an administrator');
    const own = caller.kind === 'session' || caller.kind === 'user-key' ? user_id === caller.userId : false;
    if (rows === 'own' && !own) throw notFound('log');
    const { name } = await db
      .selectFrom('organisations')
      .select('name')
      .where('id', '=', caller.organisationId)
      .executeTakeFirstOrThrow();
    const { trace_id } = record.metrics;
    const feedback = bodies ? await inTime(services.logs.feedbackOnTrace(workspace_id, trace_id)) : [];
    return showLog(record, feedback, name, bodies);
  },
});

export const logsResource: Resource = {
  name: 'logs',
  endpoints: [insertLogs, listLogs, listFilterValues, readTrace, readLog],
};
