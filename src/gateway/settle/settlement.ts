/** What a finished attempt used and cost, as a value: the ledger, metrics, the cache and the log each receive it. */
import { type Cost, noCost } from '../../pricing/pricer.ts';
import type { EndpointKind } from '../../providers/endpoints.ts';
import type { Usage } from '../../providers/provider.ts';
import { noUsage } from '../../providers/usage.ts';
import { type AttemptRecord, isSuccess } from '../attempt/answer.ts';
import type { Target } from '../attempt/target.ts';
import type { CallDeps } from '../call-deps.ts';
import type { RequestContext, ServiceCall } from '../context.ts';
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
export function settlementOf(deps: CallDeps, context: RequestContext, record: AttemptRecord): Settlement {
  const { target, status } = record;
  if (context.service) return serviceSettlement(context.service, record);
  const produced = isSuccess(status) || record.withheld;
  const left = wasLeft(record);
  const asked = target?.rule?.baseModel ?? askedModel(target);
  // Nobody is billed for what failed, and it may be megabytes of anything.
  const reported = produced || left ? usageOfAnswer(context.matched.route.kind, record, Boolean(asked)) : null;
  const model = asked || reported?.model || target?.model || '';
  // A recalled answer was paid for when it was made.
  if (record.cacheStatus === 'HIT' || record.cacheStatus === 'SEMANTIC HIT') {
    return { usage: noUsage, estimated: false, cost: noCost, model };
  }
  if (!target || !(produced || left)) return { usage: noUsage, estimated: false, cost: noCost, model };
  const told = record.usageOpen ? null : (reported?.usage ?? null);
  const estimate = told ? null : estimateUsage(context, record, model);
  const counted = told ?? completed(estimate, reported?.usage ?? null);
  const { usage, isGuess } = withSpeech(deps, target, model, counted);
  const cost = isFree(target)
    ? noCost
    : isNothing(usage) && isCharged(context)
      ? unknownCost
      : deps.pricer.cost({
          provider: target.provider.id,
          model,
          usage,
          prices: target.rule?.prices ?? null,
          adjustments: target.saved?.pricingAdjustments ?? null,
          batch: record.inBatch === true,
          reportsCost: target.provider.reportsCost === true,
        });
  const isExact = estimate === null || estimate.units.characters !== undefined;
  return { usage, estimated: isGuess || !isExact, cost, model };
}

/** A service bills nobody; of a tool call it is told how many tokens it moved. */
const serviceSettlement = ({ method, tool }: ServiceCall, { usage }: AttemptRecord): Settlement => ({
  usage: usage ?? noUsage,
  estimated: usage !== null,
  cost: noCost,
  model: tool || method,
});

/** Told before the answer is: nobody will know what it costs. What it used beside tokens may still turn out to have no price. */
export function isUnpriced(deps: CallDeps, context: RequestContext, { target, status }: AttemptRecord): boolean {
  if (!target || !isSuccess(status) || !isCharged(context)) return false;
  if (target.rule?.prices || target.provider.reportsCost || isFree(target)) return false;
  const model = target.rule?.baseModel ?? askedModel(target);
  return Boolean(model) && !deps.pricer.knows(target.provider.id, model ?? '');
}

/** What the program answers itself costs nothing, unless an administrator says otherwise. */
const isFree = ({ provider, rule }: Target): boolean => provider.local !== undefined && !rule?.prices;

const unknownCost: Cost = { known: false };

const isNothing = ({ inputTokens, outputTokens, units, reportedCents }: Usage): boolean =>
  inputTokens + outputTokens === 0 && reportedCents === null && Object.keys(units).length === 0;

/** What a model does is charged, whether or not anybody tells how much of it was done; what passes through may be. */
const isCharged = ({ matched: { route }, request }: RequestContext): boolean =>
  chargedKinds.has(route.kind) || (route.kind === 'proxy' && request.method === 'POST');

const chargedKinds: ReadonlySet<EndpointKind> = new Set<EndpointKind>([
  'chatComplete',
  'complete',
  'messages',
  'createModelResponse',
  'embed',
  'rerank',
  'imageGenerate',
  'imageEdit',
  'imageVariation',
  'createSpeech',
  'createTranscription',
  'createTranslation',
  'ocr',
]);

/** About so many tokens of sound are spoken for a character. */
const soundPerCharacter = 1.4;

/** Speech whose price is one of tokens: how much sound a text makes is a guess. */
function withSpeech(deps: CallDeps, target: Target, model: string, usage: Usage): { usage: Usage; isGuess: boolean } {
  const { characters } = usage.units;
  if (characters === undefined || target.rule?.prices || deps.pricer.counts(target.provider.id, model, 'characters')) {
    return { usage, isGuess: false };
  }
  if (!deps.pricer.counts(target.provider.id, model, 'response_token')) return { usage, isGuess: false };
  const inputTokens = Math.ceil(characters / charactersPerToken);
  const { characters: _, ...units } = usage.units;
  return {
    usage: { ...usage, units, inputTokens, outputTokens: Math.ceil(characters * soundPerCharacter) },
    isGuess: true,
  };
}

const charactersPerToken = 4.5;

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
