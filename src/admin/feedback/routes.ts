/** Feedback on traces: what people thought of the answers. */

import { z } from 'zod';
import { readJson } from '../../bounded-json.ts';
import { ApiError, notFound } from '../../http/errors.ts';
import { lazy } from '../../lazy.ts';
import type { Logs } from '../../logs/logs.ts';
import type { Feedback } from '../../logs/query.ts';
import { endpoint, type Resource } from '../kernel/endpoint.ts';
import { id } from '../kernel/fields.ts';
import { inTime } from '../logs/scopes.ts';

const tag = 'Feedback';
const mostAtOnce = 100;
/** Not open to admin keys: feedback belongs to the users of one workspace. */
const access = { callers: ['workspace-key', 'user-key'], scope: 'logs.write', level: 'workspace' } as const;

const value = z.int().min(-10).max(10);
const weight = z.number().min(0).max(1);
const pairs = z.record(z.string().min(1).max(128), z.union([z.string().max(1024), z.number(), z.boolean()]));
const metadataText = z
  .string()
  .max(8_192)
  .transform((text, context) => {
    try {
      return readJson(text) as unknown;
    } catch {
      context.addIssue({ code: 'custom', message: 'must be a JSON object' });
      return z.NEVER;
    }
  })
  .pipe(pairs);
const metadata = lazy(() =>
  z.union([pairs, metadataText], { error: 'must be an object of texts, or the JSON text of one' }),
);
const traceId = z.string().trim().min(1).max(512);

const newFeedback = lazy(() =>
  z
    .object({
      trace_id: traceId.optional(),
      traceID: traceId.optional().describe('Another spelling of trace_id'),
      value,
      weight: weight.optional(),
      metadata: metadata().optional(),
    })
    .refine(({ trace_id, traceID }) => trace_id !== undefined || traceID !== undefined, {
      path: ['trace_id'],
      message: 'is required',
    }),
);

const reply = () => z.object({ status: z.literal('success'), message: z.string(), feedback_ids: z.array(z.string()) });

const saved = (ids: string[], message: string) => ({ status: 'success' as const, message, feedback_ids: ids });

const textsOf = (given: z.output<ReturnType<typeof metadata>> | undefined): Record<string, string> =>
  Object.fromEntries(Object.entries(given ?? {}).map(([name, text]) => [name, String(text)]));

/** Refuses feedback on traces that are not here. A call that is under way, or whose log is on its way, is here. */
async function requireTraces(logs: Logs, given: readonly Feedback[], fieldOf: (at: number) => string): Promise<void> {
  const [first] = given;
  if (!first) return;
  const unknown = new Set(
    await logs.unknownTraces({
      organisationId: first.organisation_id,
      workspaceId: first.workspace_id,
      traceIds: given.map(({ trace_id }) => trace_id),
    }),
  );
  const message = 'No such trace in this workspace';
  const errors = given.flatMap(({ trace_id }, at) =>
    unknown.has(trace_id) ? [{ location: 'body' as const, path: fieldOf(at), message }] : [],
  );
  if (errors[0]) throw new ApiError('AB08', `${errors[0].path}: ${message}`, { errors });
}

const createFeedback = endpoint({
  method: 'POST',
  path: '/feedback',
  tag,
  summary: 'Give feedback on a trace',
  description:
    'One object, or a list of up to 100, of which all are saved or none. 404 where the workspace has no such trace; a call that is under way counts.',
  access,
  audit: 'none',
  body: () => z.union([newFeedback(), z.array(newFeedback()).min(1).max(mostAtOnce)]),
  reply,
  async handle({ caller, body, workspace, now, services }) {
    if (!workspace) throw notFound('workspace');
    const list = [body].flat();
    const given = list.map(
      (one): Feedback => ({
        id: Bun.randomUUIDv7(),
        organisation_id: caller.organisationId,
        workspace_id: workspace.id,
        trace_id: one.trace_id ?? one.traceID ?? '',
        value: one.value,
        weight: one.weight ?? 1,
        metadata: textsOf(one.metadata),
        created_at: now.getTime(),
      }),
    );
    await requireTraces(services.logs, given, (at) => {
      const name = list[at]?.trace_id === undefined ? 'traceID' : 'trace_id';
      return Array.isArray(body) ? `${at}.${name}` : name;
    });
    await inTime(services.logs.saveFeedback(given));
    return saved(
      given.map((one) => one.id),
      'Feedback was saved',
    );
  },
});

const updateFeedback = endpoint({
  method: 'PUT',
  path: '/feedback/:feedbackId',
  tag,
  summary: 'Change a feedback',
  access,
  audit: 'none',
  params: () => z.object({ feedbackId: id }),
  body: () => z.object({ value, weight: weight.optional(), metadata: metadata().optional() }),
  reply,
  async handle({ params, body, workspace, services }) {
    const feedbackId = params.feedbackId.toLowerCase();
    const known = await inTime(services.logs.findFeedback(feedbackId));
    if (!known || known.workspace_id !== workspace?.id) throw notFound('feedback');
    await requireTraces(services.logs, [known], () => 'trace_id');
    await inTime(
      services.logs.saveFeedback([
        {
          ...known,
          value: body.value,
          ...(body.weight !== undefined && { weight: body.weight }),
          ...(body.metadata !== undefined && { metadata: textsOf(body.metadata) }),
        },
      ]),
    );
    return saved([feedbackId], 'Feedback was updated');
  },
});

export const feedbackResource: Resource = { name: 'feedback', endpoints: [createFeedback, updateFeedback] };
