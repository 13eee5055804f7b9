/** Budgets of rows that a provider runs as a batch: used-up ones refuse a row, and its answer counts when it is there. Nothing is reserved between, for that may be a day. */
import type { LedgerEntry } from '../../limits/engine.ts';
import type { Limit } from '../../limits/limit.ts';
import type { AttemptContext } from '../attempt/context.ts';
import { settlementOf } from '../settle/settlement.ts';
import { Admission } from './admission.ts';
import { limitRefusal } from './refusal.ts';
import { spentOn } from './steps.ts';

/** Rates are not among them: the provider makes the calls, at its own pace. */
function budgetsOf({ deps, context, target }: AttemptContext): Limit[] {
  const { limits } = deps;
  if (!limits) return [];
  const admission = new Admission(limits, context, () => deps.clock.now().getTime());
  const saved = target.saved?.limits ?? [];
  if (!admission.concerns(saved)) return [];
  const facts = { virtualKey: target.saved?.slug ?? null, provider: target.provider.id, model: target.model };
  return admission
    .limitsFor(saved, facts, context.prompt?.slug ?? null)
    .filter(({ window }) => window.kind === 'usage');
}

/** Throws the refusal of the first budget that is used up. */
export async function requireBudget(call: AttemptContext): Promise<void> {
  const { limits, clock } = call.deps;
  const budgets = budgetsOf(call).filter(({ mode }) => mode === 'enforce');
  if (!limits || budgets.length === 0) return;
  const states = await limits.read(budgets);
  budgets.forEach((limit, index) => {
    const state = states[index];
    if (state && state.settled >= limit.value) throw limitRefusal(limit, state, 0, clock.now().getTime());
  });
}

/** What the answer to a row takes of each budget. */
export async function rowSpend(call: AttemptContext): Promise<readonly LedgerEntry[]> {
  const { deps, context, record } = call;
  const budgets = budgetsOf(call);
  if (!deps.limits || budgets.length === 0) return [];
  const settlement = settlementOf(deps, context, record);
  return deps.limits.entriesOf(
    budgets.map((limit) => ({ limit, amount: limit.type === 'requests' ? 1 : spentOn(limit, settlement) })),
  );
}
