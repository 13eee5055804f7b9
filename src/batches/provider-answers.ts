/** What a provider has answered: nobody gets a line of it before guardrails have seen it. */
import { isObject, parsed, textOf } from '../providers/json.ts';
import { faultOf, keyGone } from './batch-faults.ts';
import { FileFault, rawPurpose, resultLimits } from './files.ts';
import { LineFault } from './line-chunks.ts';
import type { Called } from './provider-calls.ts';
import { answerResult, strangeResult } from './provider-results.ts';
import { end, failed, linesFrom, type Next, ownerOf, remember, type Step, show } from './provider-step.ts';

/** What the provider wrote is copied before it is checked, so that an interruption does not fetch it all again. */
export async function fetchAnswers(step: Step): Promise<Next> {
  const { batch, state, calls, files } = step;
  const sources: Called<AsyncIterable<Uint8Array>>[] = [];
  const ids = [state.output_id, state.error_id].filter((id): id is string => id !== null);
  if (calls.order.readsFiles && ids.length > 0) for (const id of ids) sources.push(await calls.file(id));
  else if (state.ended_as !== 'failed') sources.push(await calls.output(state.provider_batch_id ?? ''));
  for (const source of sources) {
    if (source.kind === 'answered') continue;
    // A batch that came to nothing has no output.
    if (source.kind === 'refused' && source.status === 404) continue;
    if (source.kind === 'again' && state.ended_as !== 'completed') continue;
    return failed(step, source, 'failed', 'output_unreadable');
  }
  try {
    const filename = `${batch.id}_raw.jsonl`;
    const raw = await files.write(ownerOf(batch), { filename, purpose: rawPurpose }, joined(sources), rawLimits);
    return await remember(step, { raw_file_id: raw.id });
  } catch (fault) {
    if (!(fault instanceof FileFault || fault instanceof LineFault)) throw fault;
    if (fault.message === 'the file is empty') return end(step, { as: endOf(step) });
    return end(step, { fault: faultOf('output_unreadable', fault.message) });
  }
}

/** Lines are bounded, for each is read into memory; what all of them take was bounded by the rows. */
const rawLimits = { ...resultLimits, lineLength: 64 * 1024 * 1024 };

async function* joined(sources: readonly Called<AsyncIterable<Uint8Array>>[]): AsyncGenerator<Uint8Array> {
  for (const source of sources) {
    if (source.kind !== 'answered') continue;
    yield* source.value;
    yield Buffer.from('\n');
  }
}

export async function checkAnswers(step: Step): Promise<Next> {
  const { batch, state, results } = step;
  const lines = await linesFrom(step, state.raw_file_id ?? '', state.answers_checked);
  if (lines.length === 0) return end(step, { as: endOf(step) });
  const kept = await Promise.all(lines.map((line, index) => checkAnswer(step, state.answers_checked + index, line)));
  if (kept.includes('key gone')) return end(step, { fault: keyGone });
  await show(step, await results.counts(batch));
  return remember(step, { answers_checked: state.answers_checked + lines.length });
}

const endOf = ({ state }: Step) => state.ended_as ?? 'completed';

async function checkAnswer(step: Step, number: number, text: string): Promise<'kept' | 'key gone'> {
  const { batch, checked, results } = step;
  const line = parsed(text);
  const customId = isObject(line) ? textOf(line.custom_id) : null;
  const row = customId === null ? null : await checked.find(batch.id, customId);
  if (!isObject(line) || !row) {
    await results.keep(batch.id, strangeResult(batch.id, batch.total + number, customId));
    return 'kept';
  }
  // Checked before an interruption: it is logged and counted already.
  if (await results.has(batch.id, row.line)) return 'kept';
  const result = await answerResult(step, row, line);
  if (!result) return 'key gone';
  await results.keep(batch.id, result);
  return 'kept';
}
