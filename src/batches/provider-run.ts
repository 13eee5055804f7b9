/** A batch that a provider runs between guardrails, step by step: check its rows, hand them over, wait, check the answers. Every step is kept, so that any node goes on where another was killed. */
import { objectOf, objectsOf, textOf } from '../providers/json.ts';
import { encode } from '../store/json.ts';
import { faultOf } from './batch-faults.ts';
import { CheckedRows } from './checked-rows.ts';
import { decodedId } from './decoded-id.ts';
import { checkAnswers, fetchAnswers } from './provider-answers.ts';
import { type Called, ProviderCalls } from './provider-calls.ts';
import { checkRows, fetchRows } from './provider-rows.ts';
import { end, failed, later, type Next, pollMs, type RunParts, remember, type Step, show } from './provider-step.ts';
import type { BatchFault, ProviderBatchTable } from './schema.ts';

/** So that a long batch lets others go on, and the program end. */
const stepsOfRound = 40;
/** A provider that says nothing of a batch for so long beyond its window is asked no more. */
const graceMs = 24 * 60 * 60_000;

export async function goOnAtProvider(parts: RunParts, id: string): Promise<void> {
  const checked = new CheckedRows(parts.store, parts.vault);
  for (let made = 0; made < stepsOfRound; made++) {
    const { db } = parts.store;
    const batch = await db.selectFrom('managed_batches').selectAll().where('id', '=', id).executeTakeFirst();
    const state = await db.selectFrom('provider_batches').selectAll().where('batch_id', '=', id).executeTakeFirst();
    if (!batch || !state || ended.has(batch.status)) return;
    if (state.due_at > parts.clock.now().toISOString() && !isToCancel({ batch, state })) return;
    const step = { ...parts, batch, state, checked, calls: new ProviderCalls(parts, batch, state) };
    if ((await advance(step)) === 'wait') return;
  }
}

const ended: ReadonlySet<string> = new Set([
  'completed',
  'failed',
  'file_upload_failed',
  'batch_start_failed',
  'expired',
  'cancelled',
]);

function advance(step: Step): Promise<Next> {
  const { batch, state } = step;
  if (state.ended_as !== null) return state.raw_file_id === null ? fetchAnswers(step) : checkAnswers(step);
  if (state.provider_batch_id !== null) return look(step);
  if (batch.status === 'cancelling') return end(step, { as: 'cancelled' });
  if (state.source_file_id === null) return fetchRows(step);
  if (state.checked_file_id === null) return checkRows(step);
  return state.provider_input_id === null ? upload(step) : submit(step);
}

async function upload(step: Step): Promise<Next> {
  const { state, calls } = step;
  const fileId = state.checked_file_id ?? '';
  if (calls.order.sendsRows) return remember(step, { provider_input_id: fileId });
  const uploaded = await calls.upload(fileId);
  if (uploaded.kind !== 'answered') return failed(step, uploaded, 'file_upload_failed', 'file_upload_failed');
  return remember(step, { provider_input_id: uploaded.value });
}

async function submit(step: Step): Promise<Next> {
  const { state, calls, clock } = step;
  const inputId = state.provider_input_id ?? '';
  if (state.submitted_at !== null) {
    const begun = await findBegun(step, inputId);
    if (begun === 'unknown') return end(step, { as: 'batch_start_failed', fault: unknownStart });
    if (begun.kind !== 'answered') return failed(step, begun, 'batch_start_failed', 'batch_start_failed');
    if (begun.value) return began(step, begun.value);
  }
  await remember(step, { submitted_at: clock.now().toISOString(), failures: state.failures });
  const made = await calls.create(inputId);
  if (made.kind !== 'answered') return failed(step, made, 'batch_start_failed', 'batch_start_failed');
  return began(step, made.value);
}

const unknownStart = faultOf(
  'batch_start_failed',
  'the provider did not tell whether it has begun; look there before you order the batch again',
);

/** A call without an answer may have made the batch: it is known by its input. Where rows travel with the call, nothing tells. */
async function findBegun(
  { calls }: Step,
  inputId: string,
): Promise<Called<Record<string, unknown> | null> | 'unknown'> {
  if (calls.order.sendsRows) return 'unknown';
  const listed = await calls.list();
  if (listed.kind !== 'answered') return listed;
  const found = objectsOf(listed.value.data).find((batch) => textOf(batch.input_file_id) === inputId);
  return { kind: 'answered', value: found ?? null };
}

async function began(step: Step, told: Record<string, unknown>): Promise<Next> {
  const { clock, calls } = step;
  const asked = textOf(calls.order.body.output_data_config);
  const folder =
    asked === null ? folderOf(step.state.provider_input_id ?? '') : `${decodedId(asked).replace(/\/$/, '')}/`;
  await remember(step, {
    provider_batch_id: textOf(told.id) ?? '',
    output_id: textOf(told.output_file_id),
    output_folder: folder,
    due_at: later(step, pollMs),
  });
  await show(step, {
    ...(step.batch.status === 'validating' && { status: 'in_progress' as const }),
    in_progress_at: clock.now().toISOString(),
  });
  return 'wait';
}

/** Of a file whose id is an address, the part before its name. A whole bucket is nobody's folder. */
const folderOf = (id: string): string | null => /^[a-z0-9]+:\/\/[^/]+\/.+\//.exec(decodedId(id))?.[0] ?? null;

async function look(step: Step): Promise<Next> {
  const { batch, state, calls, clock } = step;
  const id = state.provider_batch_id ?? '';
  if (isToCancel(step)) {
    // A batch that has ended meanwhile refuses, and says how it ended when it is looked at.
    await calls.cancel(id);
    await remember(step, { cancelled_there: 1 });
  }
  const found = await calls.look(id);
  if (found.kind === 'again') {
    const tooLate = new Date(clock.now().getTime() - graceMs).toISOString() > batch.expires_at;
    if (tooLate) return end(step, { as: 'expired', fault: faultOf('batch_lost', found.message) });
    await remember(step, { due_at: later(step, pollMs) });
    return 'wait';
  }
  if (found.kind !== 'answered') return failed(step, found, 'failed', 'batch_not_found');
  const status = textOf(found.value.status);
  const outputs = { output_id: textOf(found.value.output_file_id), error_id: textOf(found.value.error_file_id) };
  if (!isEnd(status)) {
    await remember(step, { ...outputs, due_at: later(step, pollMs) });
    return 'wait';
  }
  await show(step, {
    status: 'processing_post_request_guardrails',
    internal_output_file_id: outputs.output_id,
    faults: encode(faultsIn(found.value.errors)),
  });
  return remember(step, { ...outputs, ended_as: status });
}

const isToCancel = ({ batch, state }: Pick<Step, 'batch' | 'state'>): boolean =>
  batch.status === 'cancelling' && state.cancelled_there === 0;

const isEnd = (status: string | null): status is NonNullable<ProviderBatchTable['ended_as']> =>
  status === 'completed' || status === 'failed' || status === 'expired' || status === 'cancelled';

const mostFaults = 100;

function faultsIn(errors: unknown): BatchFault[] {
  return objectsOf(objectOf(errors).data)
    .slice(0, mostFaults)
    .map(({ code, message, line, param }) => ({
      code: textOf(code) ?? 'failed',
      message: textOf(message) ?? '',
      line: typeof line === 'number' ? line : null,
      param: textOf(param),
    }));
}
