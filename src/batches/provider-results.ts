/** What stands in the files of a batch for each row: the gateway's refusal, the provider's fault, or the answer as guardrails let it pass. */
import { isObject, numberOf, objectOf, textOf } from '../providers/json.ts';
import type { CheckedRow } from './checked-rows.ts';
import type { RowAnswer } from './guarded-calls.ts';
import type { Step } from './provider-step.ts';
import type { LineResult } from './results.ts';

const idOf = (batchId: string, line: number): string => `${batchId}_${line}`;

const resultOf = (
  batchId: string,
  line: number,
  customId: string,
  { status, requestId, body }: RowAnswer,
): LineResult => ({
  line,
  failed: status >= 300,
  content: JSON.stringify({
    id: idOf(batchId, line),
    custom_id: customId,
    response: { status_code: status, request_id: requestId, body },
    error: null,
  }),
});

/** A row that never reached the provider. */
export const refusedResult = resultOf;

/** A line that answers none of the rows: what it says is told to nobody. */
export const strangeResult = (batchId: string, line: number, customId: string | null): LineResult => ({
  line,
  failed: true,
  content: JSON.stringify({
    id: idOf(batchId, line),
    custom_id: customId,
    response: null,
    error: { code: 'unknown_row', message: 'the provider wrote a line that answers no row of this batch' },
  }),
});

/** Null where the key that ordered the batch no longer counts. */
export async function answerResult(
  { batch, calls, guarded }: Step,
  { line, row, verdicts }: CheckedRow,
  written: Record<string, unknown>,
): Promise<LineResult | null> {
  const { status_code, request_id, body } = objectOf(written.response);
  if (numberOf(status_code) !== 200) return failedResult(batch.id, line, row.custom_id, written);
  if (!isObject(body)) return unreadable(batch.id, line, row.custom_id);
  const url = routeOf(body);
  if (url === null) return unreadable(batch.id, line, row.custom_id);
  const checked = await guarded.checkOutput(calls.by, calls.rowRequest(url, row.body), body, verdicts);
  if (!checked) return null;
  const requestId = textOf(request_id) ?? checked.requestId;
  const told = checked.status === 200 ? { ...checked, requestId } : checked;
  return { ...resultOf(batch.id, line, row.custom_id, told), spent: checked.spent };
}

/** Answers may be in another dialect than their rows: what they are says how they are read. */
function routeOf({ object, type, results }: Record<string, unknown>): string | null {
  if (object === 'chat.completion') return '/v1/chat/completions';
  if (object === 'text_completion') return '/v1/completions';
  if (object === 'response') return '/v1/responses';
  if (type === 'message') return '/v1/messages';
  if (object === 'list') return '/v1/embeddings';
  return Array.isArray(results) ? '/v1/moderations' : null;
}

const failedResult = (
  batchId: string,
  line: number,
  custom_id: string,
  { response, error }: Record<string, unknown>,
): LineResult => ({
  line,
  failed: true,
  content: JSON.stringify({ id: idOf(batchId, line), custom_id, response: response ?? null, error: error ?? null }),
});

/** What guardrails cannot read is not passed on. */
const unreadable = (batchId: string, line: number, customId: string): LineResult =>
  failedResult(batchId, line, customId, {
    error: { code: 'unreadable_answer', message: 'the provider wrote an answer that guardrails cannot read' },
  });
