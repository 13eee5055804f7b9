/** Batches that the gateway runs itself, as far as they are administered: which file stands for their output. */
import { z } from 'zod';
import { filePrefix } from '../../batches/files.ts';
import { batchRecord } from '../../batches/records.ts';
import { forbidden, invalid, notFound } from '../../http/errors.ts';
import { mayInWorkspace } from '../../identity/caller.ts';
import { lazy } from '../../lazy.ts';
import { endpoint, type Resource } from '../kernel/endpoint.ts';

const seconds = lazy(() => z.int());
const whenever = lazy(() => seconds().nullable());

const record = () =>
  z.object({
    id: z.string(),
    object: z.literal('batch'),
    endpoint: z.string(),
    errors: z
      .object({
        object: z.literal('list'),
        data: z.array(
          z.object({
            code: z.string(),
            message: z.string(),
            line: z.int().nullable(),
            param: z.string().nullable(),
          }),
        ),
      })
      .nullable(),
    input_file_id: z.string(),
    completion_window: z.string(),
    status: z.enum([
      'validating',
      'failed',
      'file_upload_failed',
      'batch_start_failed',
      'in_progress',
      'finalizing',
      'processing_post_request_guardrails',
      'completed',
      'expired',
      'cancelling',
      'cancelled',
    ]),
    output_file_id: z.string().nullable(),
    error_file_id: z.string().nullable(),
    internal_output_file_id: z.string().nullable(),
    created_at: seconds(),
    in_progress_at: whenever(),
    expires_at: seconds(),
    finalizing_at: whenever(),
    completed_at: whenever(),
    failed_at: whenever(),
    expired_at: whenever(),
    cancelling_at: whenever(),
    cancelled_at: whenever(),
    request_counts: z.object({ total: z.int(), completed: z.int(), failed: z.int() }),
    metadata: z.record(z.string(), z.string()).nullable(),
    hook_results: z
      .object({ before_request_hooks: z.array(z.unknown()), after_request_hooks: z.array(z.unknown()) })
      .optional(),
  });

/** Whoever may order batches here, or run the workspace. */
const scopes = ['completions.write', 'workspaces.update'] as const;

const updateBatch = endpoint({
  method: 'PUT',
  path: '/batches/:batchId',
  tag: 'Batches',
  summary: 'Change a batch that the gateway runs: the file that holds its processed output',
  access: {
    callers: ['admin-key', 'workspace-key', 'user-key', 'session'],
    scope: { anyOf: scopes },
    level: 'workspace',
  },
  audit: { resource: 'batch', action: 'update' },
  params: () => z.object({ batchId: z.string().min(1).max(200) }),
  body: () =>
    z.object({
      internal_output_file_id: z
        .string()
        .min(1)
        .max(200)
        .nullable()
        .optional()
        .describe('A file of the same workspace; null takes it back'),
    }),
  reply: record,
  async handle({ caller, params, body, db, note }) {
    const batch = await db
      .selectFrom('managed_batches')
      .selectAll()
      .where('id', '=', params.batchId)
      .where('organisation_id', '=', caller.organisationId)
      .executeTakeFirst();
    if (!batch) throw notFound('batch');
    if (!scopes.some((scope) => mayInWorkspace(caller, scope, batch.workspace_id))) {
      throw forbidden(`This call needs the scope ${scopes.join(' or ')} in the workspace of the batch`);
    }
    note({ resourceId: batch.id, workspaceId: batch.workspace_id });
    const { internal_output_file_id: file } = body;
    if (file === undefined) return batchRecord(batch);
    if (file !== null) {
      const kept = await db
        .selectFrom('managed_files')
        .select('id')
        .where('id', '=', file)
        .where('workspace_id', '=', batch.workspace_id)
        .where('status', '=', 'processed')
        .executeTakeFirst();
      if (!kept) throw invalid('internal_output_file_id', `must be a file of this workspace (${filePrefix}...)`);
    }
    await db.updateTable('managed_batches').set({ internal_output_file_id: file }).where('id', '=', batch.id).execute();
    return batchRecord({ ...batch, internal_output_file_id: file });
  },
});

export const batchesResource: Resource = { name: 'batches', endpoints: [updateBatch] };
