/** Runs batches at the gateway's own pace: some lines of each at a time, every one an ordinary call. What a kill interrupts is taken up again; a line that was answered is not asked twice. */
import { readJson } from '../bounded-json.ts';
import type { Clock } from '../clock.ts';
import type { Limits } from '../limits/limits.ts';
import type { Store } from '../store/database.ts';
import { decode } from '../store/json.ts';
import { leaseRenewalMs, releaseLease, renewLease, takeLease } from '../store/leases.ts';
import type { Vault } from '../store/vault.ts';
import { inputGone, keyGone } from './batch-faults.ts';
import { optionsPurpose } from './batches.ts';
import { FairRounds } from './fair-rounds.ts';
import type { ManagedFiles } from './files.ts';
import { finish } from './finish.ts';
import type { CallAs, GuardedCalls } from './guarded-calls.ts';
import { goOnAtProvider } from './provider-run.ts';
import { BatchResults, type LineResult } from './results.ts';
import { type ManagedBatchRow, readRow } from './rows.ts';
import type { BatchStatus, ManagedBatchTable } from './schema.ts';

interface RunnerParts {
  store: Store;
  vault: Vault;
  clock: Clock;
  files: ManagedFiles;
  call: CallAs;
  /** For batches that a provider runs between guardrails. */
  guarded: GuardedCalls;
  /** Where rows count that a provider answered. */
  ledger: Pick<Limits, 'recordWithin'>;
  /** Between two tries of a line. */
  pause(ms: number): Promise<void>;
  /** How long a round waits for those that are slow. */
  timeoutMs: number;
  /** Names this node. */
  holder: string;
}

const linesAtOnce = 25;
/** Of one organisation, in one round. */
const batchesOfRound = 20;
const triesOfLine = 4;
/** A line must end while this node still holds the job. */
const longestCallMs = 240_000;

interface Run extends RunnerParts {
  results: BatchResults;
}

export interface BatchRunner {
  /** Lets every batch go on by some lines. It waits for those that are slow only so long; they go on by themselves. */
  round(): Promise<void>;
  /** Resolves when none is under way any more. */
  ended(): Promise<void>;
}

const openStatuses: readonly BatchStatus[] = [
  'validating',
  'in_progress',
  'cancelling',
  'finalizing',
  'processing_post_request_guardrails',
];

export function createBatchRunner(parts: RunnerParts): BatchRunner {
  const { store, vault, ledger } = parts;
  const run: Run = { ...parts, results: new BatchResults(store, vault, ledger) };
  const rounds = new FairRounds((id) => leased(run, id));
  /** Where the round of an organisation goes on: none of its batches waits until those before it are done. */
  const lastOf = new Map<string, string>();

  const dueOf = async (organisationId: string): Promise<string[]> => {
    const due = await store.db
      .selectFrom('managed_batches')
      .select('id')
      .where('organisation_id', '=', organisationId)
      .where('status', 'in', openStatuses)
      .where('id', '>', lastOf.get(organisationId) ?? '')
      .orderBy('id')
      .limit(batchesOfRound)
      .execute();
    if (due.length < batchesOfRound) lastOf.delete(organisationId);
    else lastOf.set(organisationId, due.at(-1)?.id ?? '');
    return due.map(({ id }) => id);
  };

  return {
    ended: () => rounds.ended(),
    async round() {
      await run.results.forgetEnded();
      const tenants = await store.db
        .selectFrom('managed_batches')
        .select('organisation_id')
        .distinct()
        .where('status', 'in', openStatuses)
        .execute();
      for (const { organisation_id } of tenants) rounds.queue(organisation_id, await dueOf(organisation_id));
      await within(parts.timeoutMs, rounds.ended());
      const faults = rounds.takeFaults();
      if (faults.length > 0)
        throw new AggregateError(faults, `batches could not go on: ${faults.map(String).join('; ')}`);
    },
  };
}

/** Waits for `work`, but no longer than `ms`. */
async function within(ms: number, work: Promise<void>): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const timer = setTimeout(resolve, ms);
  await Promise.race([work, promise]);
  clearTimeout(timer);
}

/** A batch goes on at one node at a time, however long its provider takes. */
async function leased(run: Run, id: string): Promise<void> {
  const { store, clock, holder } = run;
  const lease = `managed-batch:${id}`;
  if (!(await takeLease(store, lease, holder, clock.now()))) return;
  const renewal = setInterval(() => {
    // The next renewal comes long before the lease ends.
    renewLease(store, lease, holder, clock.now()).catch(() => undefined);
  }, leaseRenewalMs);
  try {
    const batch = await store.db
      .selectFrom('managed_batches')
      .selectAll()
      .where('id', '=', id)
      .where('status', 'in', openStatuses)
      .executeTakeFirst();
    if (batch?.at_provider) await goOnAtProvider(run, batch.id);
    else if (batch)
      await goOn(run, batch, batch.status === 'in_progress' && batch.expires_at > clock.now().toISOString());
  } finally {
    clearInterval(renewal);
    await releaseLease(store, lease, holder);
  }
}

async function goOn(run: Run, batch: ManagedBatchTable, isOpen: boolean): Promise<void> {
  await run.results.keepHeld(batch.id);
  return isOpen ? advance(run, batch) : finish(run, batch);
}

/** The next lines of a batch; when none is left its output is written. */
async function advance(run: Run, batch: ManagedBatchTable): Promise<void> {
  const { results } = run;
  const before = await results.counts(batch);
  const kept = before.completed + before.failed;
  const lines = await nextLines(run, batch, kept);
  if (lines.length === 0) return finish(run, batch, { fault: kept < batch.total ? inputGone : null });
  const ends = await Promise.allSettled(lines.map(({ line, row }) => keepLine(run, batch, line, row)));
  await showCounts(run, batch);
  const fault = ends.find((end) => end.status === 'rejected');
  if (fault) throw fault.reason;
  if (ends.some((end) => end.status === 'fulfilled' && end.value === 'key gone'))
    return finish(run, batch, { fault: keyGone });
  if (kept + ends.length >= batch.total) return finish(run, batch);
}

/** What a line was answered is kept at once, so that nothing that happens to the others costs its answer. */
async function keepLine(
  run: Run,
  batch: ManagedBatchTable,
  line: number,
  row: ManagedBatchRow,
): Promise<'answered' | 'key gone'> {
  const result = await runLine(run, batch, line, row);
  if (!result) return 'key gone';
  await run.results.keep(batch.id, result);
  return 'answered';
}

async function showCounts({ store, results }: Run, batch: ManagedBatchTable): Promise<void> {
  const counts = await results.counts(batch);
  await store.db.updateTable('managed_batches').set(counts).where('id', '=', batch.id).execute();
}

/** Lines are run in order; a run that was interrupted may have left some of them out. */
async function nextLines(
  { files, results }: Run,
  batch: ManagedBatchTable,
  kept: number,
): Promise<{ line: number; row: ManagedBatchRow }[]> {
  const { from, answered } = await results.gaps(batch, kept);
  const next: { line: number; row: ManagedBatchRow }[] = [];
  for await (const { firstLine, text } of files.content(batch.input_file_id, from)) {
    for (const [index, line] of text.trimEnd().split('\n').entries()) {
      const number = firstLine + index;
      if (number < from || answered.has(number)) continue;
      next.push({ line: number, row: readRow(line) });
      if (next.length === linesAtOnce) return next;
    }
  }
  return next;
}

/** Null when the batch's key no longer counts. */
async function runLine(
  parts: RunnerParts,
  batch: ManagedBatchTable,
  line: number,
  row: ManagedBatchRow,
): Promise<LineResult | null> {
  const id = `${batch.id}_${line}`;
  const orderedBy = { keyId: batch.api_key_id, grant: batch.token_grant && decode(batch.token_grant) };
  const makes = () => requestOf(parts, batch, row);
  if (!isSendable(makes)) return { line, failed: true, content: unsendable(id, row) };
  for (let attempt = 1; ; attempt++) {
    const response = await parts.call(orderedBy, makes());
    if (!response) return null;
    const { status } = response;
    const text = await response.text();
    if (isPassing(response) && attempt < triesOfLine) {
      await parts.pause(1_000 * 2 ** (attempt - 1));
      continue;
    }
    const request_id = response.headers.get('x-gw-request-id') ?? '';
    const content = {
      id,
      custom_id: row.custom_id,
      response: { status_code: status, request_id, body: bodyOf(text) },
      error: null,
    };
    return { line, failed: status >= 300, content: JSON.stringify(content) };
  }
}

/** A body may be nested deeper than can be written. */
function isSendable(makes: () => Request): boolean {
  try {
    makes();
    return true;
  } catch {
    return false;
  }
}

const unsendable = (id: string, { custom_id }: ManagedBatchRow): string => {
  const error = { code: 'invalid_body', message: 'the line cannot be sent: its body is nested too deeply' };
  return JSON.stringify({ id, custom_id, response: null, error });
};

/** A used-up budget refuses for good. Where calls that run hold the rest of it, it tells to come back soon. */
const isPassing = ({ status, headers }: Response): boolean =>
  status === 429 || status >= 500 || (status === 412 && Number(headers.get('retry-after') ?? never) <= soonSeconds);

const soonSeconds = 5;
const never = Number.POSITIVE_INFINITY;

function bodyOf(text: string): unknown {
  try {
    return readJson(text);
  } catch {
    return text;
  }
}

/** One trace for the whole batch. The host is never dialled. */
const requestOf = ({ vault }: RunnerParts, batch: ManagedBatchTable, row: ManagedBatchRow): Request =>
  new Request(`http://batch.invalid${row.url}`, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      ...decode<Record<string, string>>(vault.open(batch.options, optionsPurpose(batch.id))),
      'x-gw-trace-id': batch.id,
    },
    // Some providers refuse a field that they do not know, even where it asks for nothing.
    body: JSON.stringify(row.body.stream === undefined ? row.body : { ...row.body, stream: false }),
    signal: AbortSignal.timeout(longestCallMs),
  });
