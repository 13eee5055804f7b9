/** Limits around a target: reserve before it is asked, settle when the request has ended. */
import { type Limit, unitsOfCents } from '../../limits/limit.ts';
import type { Pricer } from '../../pricing/pricer.ts';
import type { Usage } from '../../providers/provider.ts';
import { type Answer, type AttemptRecord, type Hold, isSuccess, type Reserved } from '../attempt/answer.ts';
import { failed } from '../attempt/exchange.ts';
import type { SendStep } from '../attempt/steps.ts';
import { type Settlement, type Settler, wasLeft } from '../settle/settlement.ts';
import { admissionOf, spentByFailure } from './admission.ts';
import { Demands } from './demands.ts';
import { Estimates } from './estimate.ts';

export const reserveStep = 'reserve';

export interface LimitSteps {
  reserve: SendStep;
  settle: Settler;
}

export function createLimitSteps(pricer: Pricer): LimitSteps {
  const estimates = new Estimates();

  const reserve: SendStep = {
    name: reserveStep,
    applies: ({ context, target }) => admissionOf(context)?.concerns(target.saved?.limits) ?? false,
    run(call) {
      const { context, target, record } = call;
      const admission = admissionOf(context);
      if (!admission) return null;
      const facts = { virtualKey: target.saved?.slug ?? null, provider: target.provider.id, model: target.model };
      const limits = admission.limitsFor(target.saved?.limits ?? [], facts, context.prompt?.slug ?? null);
      if (limits.length === 0) return null;
      const estimate = estimates.of(call);
      const plan = new Demands(pricer, call, estimate, limits);
      const taken = admission.take(record, plan.demands);
      const next = (reserved: Reserved): Answer | null => {
        if ('refusal' in reserved) return failed(record, reserved.refusal);
        record.hold = reserved.hold;
        record.hold.asked = estimate.asked;
        plan.bind(reserved.hold);
        return null;
      };
      return taken instanceof Promise ? taken.then(next) : next(taken);
    },
  };

  const settle: Settler = ({ context, record, outcome, settlement }) => {
    const admission = admissionOf(context);
    if (!admission) return;
    if (record.hold) {
      const { usage, cost } = settlement;
      admission.settle(record.hold, spentOf(record.hold, record, usage, cost));
      if (record.target && isSuccess(record.status)) {
        estimates.learn({ context, target: record.target }, record.hold.asked, usage);
      }
    }
    if (outcome !== null) admission.end(record.upstream !== null || record.cacheStatus.endsWith('HIT'));
  };

  return { reserve, settle };
}

/** What the holdings of a target turn into. */
export function spentOf(
  hold: Pick<Hold, 'reservation'>,
  record: AttemptRecord,
  usage: Usage,
  cost: Settlement['cost'],
): number[] {
  if (!isSuccess(record.status) && !wasLeft(record)) return spentByFailure({ reservation: hold.reservation, record });
  return hold.reservation.holdings.map(({ limit, amount }) =>
    limit.type === 'requests' ? amount : spentOn(limit, { usage, cost }),
  );
}

/** In tokens, or in units of money. */
export function spentOn({ type }: Limit, { usage, cost }: Pick<Settlement, 'usage' | 'cost'>): number {
  if (type === 'tokens') return usage.inputTokens + usage.outputTokens;
  return cost.known ? unitsOfCents(cost.cents) : 0;
}
