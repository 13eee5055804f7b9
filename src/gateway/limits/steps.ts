/** Limits around a target: reserve before it is asked, settle when the request has ended. */
import type { Demand } from '../../limits/engine.ts';
import { type Limit, unitsOfCents } from '../../limits/limit.ts';
import type { Pricer } from '../../pricing/pricer.ts';
import type { Usage } from '../../providers/provider.ts';
import { type Answer, type AttemptRecord, isSuccess } from '../attempt/answer.ts';
import type { AttemptContext } from '../attempt/context.ts';
import { failed } from '../attempt/exchange.ts';
import type { SendStep } from '../attempt/steps.ts';
import { type Settlement, type Settler, wasLeft } from '../settle/settlement.ts';
import { type Hold, type Reserved, spentByFailure } from './admission.ts';
import { type Estimate, Estimates, tokenLimit, usageOf, withTokenLimit } from './estimate.ts';

export const reserveStep = 'reserve';

export interface LimitSteps {
  reserve: SendStep;
  settle: Settler;
}

export function createLimitSteps(pricer: Pricer): LimitSteps {
  const estimates = new Estimates();

  const reserve: SendStep = {
    name: reserveStep,
    applies: ({ context, target }) => context.admission?.concerns(target.saved?.limits) ?? false,
    run(call) {
      const { context, target, leaf, record } = call;
      const { admission } = context;
      if (!admission) return null;
      const facts = { virtualKey: target.saved?.slug ?? null, provider: target.provider.id, model: target.model };
      const limits = admission.limitsFor(target.saved?.limits ?? [], facts, leaf.promptId);
      if (limits.length === 0) return null;
      const plan = new Demands(pricer, call, estimates.of(call), limits);
      const taken = admission.take(record, plan.demands);
      const next = (reserved: Reserved): Answer | null => {
        if ('refusal' in reserved) return failed(record, reserved.refusal);
        record.hold = reserved.hold;
        plan.clamp(reserved.hold);
        return null;
      };
      return taken instanceof Promise ? taken.then(next) : next(taken);
    },
  };

  const settle: Settler = ({ context, record, outcome, settlement }) => {
    const { admission } = context;
    if (!admission) return;
    if (record.hold) {
      const { usage, cost } = settlement;
      admission.settle(record.hold, spentOf(record.hold, record, usage, cost));
      if (record.target && isSuccess(record.status) && record.leaf) {
        const { body } = context;
        if (body.form === 'json') estimates.learn({ context, target: record.target, shaped: body.json }, usage);
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
  { inputTokens, outputTokens }: Usage,
  cost: Settlement['cost'],
): number[] {
  if (!isSuccess(record.status) && !wasLeft(record)) return spentByFailure({ reservation: hold.reservation, record });
  return hold.reservation.holdings.map(({ limit, amount }) => {
    if (limit.type === 'requests') return amount;
    if (limit.type === 'tokens') return inputTokens + outputTokens;
    return cost.known ? unitsOfCents(cost.cents) : 0;
  });
}

interface Prices {
  input: number;
  mostInput: number;
  perOutputToken: number;
}

/** What a call asks of each of its limits, in the limit's own units. */
class Demands {
  readonly demands: readonly Demand[];
  readonly #call: AttemptContext;
  readonly #pricer: Pricer;
  readonly #estimate: Estimate;
  /** Cost units, worked out when a limit on money is there. */
  #price: Prices | null = null;

  constructor(pricer: Pricer, call: AttemptContext, estimate: Estimate, limits: readonly Limit[]) {
    this.#pricer = pricer;
    this.#call = call;
    this.#estimate = estimate;
    this.demands = limits.map((limit) => this.#demandOn(limit));
  }

  #demandOn(limit: Limit): Demand {
    if (limit.type === 'requests') return { limit, least: 1, most: 1 };
    const { outputTokens, isBounded, isLearned } = this.#estimate;
    const input = this.#input(limit);
    const each = this.#perOutputToken(limit);
    const output = Math.ceil(outputTokens * each);
    const most = Math.max(input, this.#mostInput(limit)) + output;
    if (limit.clampMaxTokens && outputTokens > 0) return { limit, least: input + Math.ceil(each), most };
    // Without any word of how long the answer may be, and nothing learned, as much is taken as there is.
    return { limit, least: input + (isBounded || isLearned ? output : 0), most };
  }

  #input({ type }: Limit): number {
    return type === 'tokens' ? this.#estimate.inputTokens : this.#prices().input;
  }

  #mostInput({ type }: Limit): number {
    return type === 'tokens' ? this.#estimate.mostInputTokens : this.#prices().mostInput;
  }

  #perOutputToken({ type }: Limit): number {
    return type === 'tokens' ? 1 : this.#prices().perOutputToken;
  }

  #prices(): Prices {
    if (this.#price) return this.#price;
    const sample = 1_000_000;
    const { inputTokens, mostInputTokens } = this.#estimate;
    const input = this.#cents(inputTokens, 0);
    this.#price = {
      input: unitsOfCents(input),
      mostInput: mostInputTokens === inputTokens ? unitsOfCents(input) : unitsOfCents(this.#cents(mostInputTokens, 0)),
      perOutputToken: unitsOfCents(Math.max(0, this.#cents(inputTokens, sample) - input)) / sample,
    };
    return this.#price;
  }

  #cents(inputTokens: number, outputTokens: number): number {
    const { target } = this.#call;
    const cost = this.#pricer.cost({
      provider: target.provider.id,
      model: target.rule?.baseModel ?? target.provider.billedModel?.(target) ?? target.model,
      usage: usageOf(this.#estimate, inputTokens, outputTokens),
      prices: target.rule?.prices ?? null,
      adjustments: target.saved?.pricingAdjustments ?? null,
      batch: false,
      reportsCost: false,
    });
    return cost.known ? cost.cents : 0;
  }

  /** Lowers the token limit of the call to what was granted, where a limit asks for that. */
  clamp({ reservation }: Hold): void {
    let tokens = Number.POSITIVE_INFINITY;
    for (const { limit, amount } of reservation.holdings) {
      if (!limit.clampMaxTokens || limit.type === 'requests') continue;
      const each = this.#perOutputToken(limit);
      if (each > 0) tokens = Math.min(tokens, Math.floor((amount - this.#input(limit)) / each));
    }
    if (!Number.isFinite(tokens) || this.#estimate.outputTokens === 0) return;
    const perAnswer = Math.max(1, Math.floor(tokens / this.#estimate.answers));
    const asked = tokenLimit(this.#call.shaped);
    if (asked !== null && asked <= perAnswer) return;
    this.#call.shaped = withTokenLimit(this.#call, perAnswer);
  }
}
