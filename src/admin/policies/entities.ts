/** The groups that a policy counts apart: reading what each has used, and starting one anew. */
import type { SelectQueryBuilder } from 'kysely';
import { fromUnits, type Limit } from '../../limits/limit.ts';
import type { PolicySource } from '../../limits/policy-index.ts';
import type { Change } from '../../store/changes.ts';
import type { Db } from '../../store/database.ts';
import type { Schema } from '../../store/schema.ts';
import type { LimitCounterTable, PolicyTable } from '../../store/tables/limits.ts';
import type { Page } from '../kernel/endpoint.ts';
import { countOf, holdsInAnyCase } from '../kernel/lists/list-queries.ts';
import type { Services } from '../kernel/services.ts';
import { limitOfGroup, runningPolicy, usedIn } from './record.ts';

export interface WantedEntities {
  status?: 'active' | 'exhausted' | undefined;
  search?: string | undefined;
}

type CounterRow = Pick<LimitCounterTable, 'id' | 'counter' | 'value_key' | 'epoch' | 'settled' | 'last_reset_at'> & {
  is_threshold_alerts_sent: 0 | 1;
  is_exhausted_alerts_sent: 0 | 1;
};

export async function pageOfEntities(
  { db, services, now }: { db: Db; services: Services; now: Date },
  policy: PolicyTable,
  wanted: WantedEntities,
  page: Page,
) {
  await services.limits.flush();
  const { source, epoch } = runningPolicy(policy, now);
  const limitUnits = limitOfGroup(source, { value_key: '' }).value;
  let matches = countersOf(db, policy, now);
  if (wanted.search) {
    const { search } = wanted;
    matches = matches.where((eb) => holdsInAnyCase(eb.ref('value_key').$castTo<string>(), search));
  }
  if (wanted.status === 'exhausted') {
    matches = matches.where('epoch', '>=', epoch).where('settled', '>=', limitUnits);
  }
  if (wanted.status === 'active') {
    matches = matches.where((eb) => eb.or([eb('epoch', '<', epoch), eb('settled', '<', limitUnits)]));
  }
  const total = await countOf(matches);
  const rows = await matches
    .select(counterColumns)
    .orderBy('created_at', 'desc')
    .orderBy('id', 'desc')
    .limit(page.size)
    .offset(page.offset)
    .execute();
  const limits = rows.map((row) => limitOfGroup(source, row));
  const states = await services.limits.read(limits);
  return {
    total,
    entities: rows.map((row, index) => asEntity(row, source, epoch, limits[index], states[index])),
  };
}

const counterColumns = [
  'id',
  'counter',
  'value_key',
  'epoch',
  'settled',
  'last_reset_at',
  'is_threshold_alerts_sent',
  'is_exhausted_alerts_sent',
] as const;

/** Of a rate limit only the groups of the running window; a change of its unit begins new ones. */
function countersOf(db: Db, policy: PolicyTable, now: Date): SelectQueryBuilder<Schema, 'limit_counters', object> {
  const own = db
    .selectFrom('limit_counters')
    .where('entity_id', '=', policy.id)
    .where('kind', '=', policy.kind)
    .where('type', '=', policy.type);
  if (policy.kind === 'usage') return own;
  return own
    .where('ends_at', '>', now.getTime())
    .where('counter', 'like', `policy/%/rate/${policy.type}/${policy.unit}/%`);
}

function asEntity(
  row: CounterRow,
  { type }: PolicySource,
  epoch: number,
  limit: Limit | undefined,
  state: { settled: number; reserved: number; endsAt: number | null } | undefined,
) {
  const used = Math.max(usedIn(row, epoch), state?.settled ?? 0);
  const reserved = state?.reserved ?? 0;
  const value = limit?.value ?? 0;
  const isRunning = row.epoch >= epoch;
  return {
    id: row.id,
    value_key: row.value_key ?? '',
    current_usage: fromUnits(type, used),
    reserved: fromUnits(type, reserved),
    remaining: fromUnits(type, Math.max(0, value - used - reserved)),
    status: used >= value ? ('exhausted' as const) : ('active' as const),
    is_threshold_alerts_sent: isRunning && row.is_threshold_alerts_sent === 1,
    is_exhausted_alerts_sent: isRunning && row.is_exhausted_alerts_sent === 1,
    last_reset_at: row.last_reset_at,
    window_ends_at: state?.endsAt ? new Date(state.endsAt).toISOString() : null,
  };
}

const mostInMap = 1_000;

/** What the groups of a usage limit have used, by value key. */
export async function usageMap(db: Db, services: Services, policy: PolicyTable, now: Date) {
  await services.limits.flush();
  const { source, epoch } = runningPolicy(policy, now);
  const rows = await countersOf(db, policy, now)
    .select(counterColumns)
    .orderBy('created_at', 'desc')
    .limit(mostInMap)
    .execute();
  return Object.fromEntries(
    rows.map((row) => {
      const entity = asEntity(row, source, epoch, limitOfGroup(source, row), undefined);
      const { current_usage, status, is_threshold_alerts_sent, is_exhausted_alerts_sent } = entity;
      return [entity.value_key, { current_usage, status, is_threshold_alerts_sent, is_exhausted_alerts_sent }];
    }),
  );
}

/** A counter starts anew: what was spent before stays in its entries, under the epoch that ended. */
export async function restartCounter(
  db: Db,
  { counter, organisation_id, epoch }: Pick<LimitCounterTable, 'counter' | 'organisation_id' | 'epoch'>,
  now: Date,
): Promise<Change> {
  const next = Math.max(now.getTime(), epoch + 1);
  await db
    .updateTable('limit_counters')
    .set({
      epoch: next,
      settled: 0,
      is_threshold_alerts_sent: 0,
      is_exhausted_alerts_sent: 0,
      last_reset_at: now.toISOString(),
      last_updated_at: now.toISOString(),
    })
    .where('counter', '=', counter)
    .execute();
  return { topic: 'limit', id: `${organisation_id}|${next}|${counter}` };
}
