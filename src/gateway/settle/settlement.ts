/** What a finished attempt used and cost, as a value: the ledger, metrics, the cache and the log each receive it. */
import { type Cost, noCost } from '../../pricing/pricer.ts';
import type { Usage } from '../../providers/provider.ts';
import { noUsage } from '../../providers/usage.ts';
import { type AttemptRecord, isSuccess } from '../attempt/answer.ts';
import type { Target } from '../attempt/target.ts';
import type { RequestContext } from '../context.ts';
import type { GatewayDeps } from '../deps.ts';
import type { HeaderFields } from '../request/headers.ts';
import { estimateUsage, usageOfAnswer } from './usage.ts';

/** What the client finally got. */
export interface Outcome {
  status: number;
  headers: Readonly<HeaderFields>;
  /** What was sent; null where bytes only passed through. */
  body: Uint8Array | null;
}

export interface Settlement {
  usage: Usage;
  /** True when the provider reported no usage and the figures are ours. */
  estimated: boolean;
  cost: Cost;
  model: string;
}

/** One target that was tried, when its request has ended. */
export interface SettledCall {
  readonly context: RequestContext;
  readonly record: AttemptRecord;
  /** Null for a target that another one was tried after. */
  readonly outcome: Outcome | null;
  readonly settlement: Settlement;
}

/** Hears of every attempt, however its request ended. It must not wait and must not fail. */
export type Settler = (call: SettledCall) => void;

/** Who answered is billed, and so is a stream that the client left: what was produced was paid for. Failed targets are not. */
export function settlementOf(deps: GatewayDeps, context: RequestContext, record: AttemptRecord): Settlement {
  const { target, status } = record;
  const produced = isSuccess(status);
  const left = wasLeft(record);
  const asked = target?.rule?.baseModel ?? askedModel(target);
  const reported = usageOfAnswer(context.matched.route.kind, record, Boolean(asked));
  const model = asked || reported?.model || target?.model || '';
  // A recalled answer was paid for when it was made.
  if (record.cacheStatus === 'HIT' || record.cacheStatus === 'SEMANTIC HIT') {
    return { usage: noUsage, estimated: false, cost: noCost, model };
  }
  if (!target || !(produced || left)) return { usage: noUsage, estimated: false, cost: noCost, model };
  const told = record.usageOpen ? null : (reported?.usage ?? null);
  const estimate = told ? null : estimateUsage(context, record);
  const usage = told ?? completed(estimate, reported?.usage ?? null);
  const cost = deps.pricer.cost({
    provider: target.provider.id,
    model,
    usage,
    prices: target.rule?.prices ?? null,
    adjustments: target.saved?.pricingAdjustments ?? null,
    batch: false,
    reportsCost: target.provider.reportsCost === true,
  });
  return { usage, estimated: estimate !== null, cost, model };
}

/** Some streams begin with what was asked, and tell at their end what was produced. */
function completed(estimate: Usage | null, begun: Usage | null): Usage {
  if (!estimate || !begun) return estimate ?? begun ?? noUsage;
  return {
    ...begun,
    inputTokens: begun.inputTokens || estimate.inputTokens,
    outputTokens: Math.max(begun.outputTokens, estimate.outputTokens),
  };
}

/** As it was asked for; none where that is only a name of the customer's, and the provider tells what stands behind it. */
const askedModel = (target: Target | null): string | null | undefined =>
  target?.provider.billedModel ? target.provider.billedModel(target) : target?.model;

/** The client did not wait for the end of an answer that had begun. */
export const wasLeft = ({ status, responseHeaders }: AttemptRecord): boolean =>
  status === 499 && responseHeaders !== null;
