/** Rows on their way to a provider: each is checked, and those that pass become the file that the provider gets. */
import { faultOf, inputGone, keyGone } from './batch-faults.ts';
import { BatchRefusal, requireRows } from './batches.ts';
import { FileFault, resultLimits } from './files.ts';
import { LineFault } from './line-chunks.ts';
import { refusedResult } from './provider-results.ts';
import { end, failed, linesFrom, type Next, ownerOf, remember, type Step, show } from './provider-step.ts';
import { readRow } from './rows.ts';

/** Rows that the client uploaded to the provider itself. */
export async function fetchRows(step: Step): Promise<Next> {
  const { batch, calls, files } = step;
  const content = await calls.file(calls.order.providerFileId ?? '');
  if (content.kind !== 'answered') return failed(step, content, 'failed', 'file_not_found');
  try {
    const file = { filename: `${batch.id}_rows.jsonl`, purpose: 'batch' };
    const kept = await files.write(ownerOf(batch), file, content.value);
    await show(step, { total: kept.lines });
    return await remember(step, { source_file_id: kept.id });
  } catch (fault) {
    if (!(fault instanceof FileFault || fault instanceof LineFault)) throw fault;
    const message = `${fault.message}. Guardrails read rows in OpenAI's form: upload the file through the gateway while they are in force`;
    return end(step, { fault: faultOf('invalid_input_file', message) });
  }
}

export async function checkRows(step: Step): Promise<Next> {
  const { batch, state, files } = step;
  const fileId = state.source_file_id ?? '';
  if (state.lines_checked === 0) {
    const refusal = await requireRows(files, fileId, batch.endpoint).catch(asRefusal);
    if (refusal) return end(step, { fault: faultOf('invalid_input_file', refusal.message) });
  }
  const lines = await linesFrom(step, fileId, state.lines_checked);
  if (lines.length === 0) {
    return state.lines_checked < batch.total ? end(step, { fault: inputGone }) : writeChecked(step);
  }
  const kept = await Promise.all(lines.map((line, index) => checkRow(step, state.lines_checked + index, line)));
  if (kept.includes('key gone')) return end(step, { fault: keyGone });
  await show(step, await step.results.counts(batch));
  return remember(step, { lines_checked: state.lines_checked + lines.length });
}

function asRefusal(fault: unknown): BatchRefusal {
  if (fault instanceof BatchRefusal) return fault;
  throw fault;
}

async function checkRow(step: Step, line: number, text: string): Promise<'kept' | 'key gone'> {
  const { batch, calls, guarded, results, checked } = step;
  const row = readRow(text);
  const verdict = await guarded.checkInput(calls.by, calls.rowRequest(row.url, row.body));
  if (!verdict) return 'key gone';
  if (verdict.passed)
    await checked.keep(batch.id, { line, row: { ...row, body: verdict.body }, verdicts: verdict.verdicts });
  else await results.keep(batch.id, refusedResult(batch.id, line, row.custom_id, verdict.answer));
  return 'kept';
}

/** The rows that passed become a file; where none did, there is nothing to run. */
async function writeChecked(step: Step): Promise<Next> {
  const { batch, checked, files } = step;
  if (!(await checked.any(batch.id))) return end(step, { as: 'completed' });
  const file = { filename: `${batch.id}_input.jsonl`, purpose: 'batch' };
  const kept = await files.write(ownerOf(batch), file, checked.read(batch.id), resultLimits);
  await show(step, { input_file_id: kept.id });
  return remember(step, { checked_file_id: kept.id });
}
