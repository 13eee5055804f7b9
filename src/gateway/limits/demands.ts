/** What a call asks of each of its limits, and how it is kept within what it was given. */
import { lazy } from '../../lazy.ts';
import type { Demand, Holding } from '../../limits/engine.ts';
import { type Limit, unitsOfCents } from '../../limits/limit.ts';
import type { Pricer } from '../../pricing/pricer.ts';
import type { Hold } from '../attempt/answer.ts';
import type { AttemptContext } from '../attempt/context.ts';
import { type Estimate, tokenLimit, usageOf, withTokenLimit } from './estimate.ts';

/** What the input of a call takes of a limit, and each token of its output, in units of the limit. */
interface Sizes {
  least: number;
  most: number;
  perOutputToken: number;
}

/** A call that is smaller than this share of a limit must find room for all that its input can be: it cannot pass the limit then, and no more than this share of it stays unused. Of a larger one what such calls take is reserved. */
const smallShare = 1 / 20;

/** In the units of each limit. */
export class Demands {
  readonly demands: readonly Demand[];
  readonly #call: AttemptContext;
  readonly #pricer: Pricer;
  readonly #estimate: Estimate;
  /** In money, worked out when a limit on it is there. */
  readonly #boundPrices = lazy(() => this.#pricesOfBound());
  readonly #usualPrices = lazy(() => this.#pricesOfEstimate());

  constructor(pricer: Pricer, call: AttemptContext, estimate: Estimate, limits: readonly Limit[]) {
    this.#pricer = pricer;
    this.#call = call;
    this.#estimate = estimate;
    this.demands = limits.map((limit) => this.#demandOn(limit));
  }

  #demandOn(limit: Limit): Demand {
    if (limit.type === 'requests') return { limit, least: 1, most: 1 };
    const { output } = this.#estimate;
    const { least: input, most: mostInput, perOutputToken } = this.#sizesFor(limit);
    if (output.kind === 'none') return { limit, least: input, most: mostInput };
    const worth = (tokens: number) => Math.ceil(tokens * perOutputToken);
    const single = input + worth(1);
    if (output.kind === 'bounded') {
      const least = limit.clampMaxTokens ? single : input + worth(output.tokens);
      return { limit, least, most: mostInput + worth(output.tokens) };
    }
    return {
      limit,
      least: limit.clampMaxTokens ? single : input + worth(output.least),
      usual: mostInput + worth(output.usual),
      most: mostInput + worth(output.most),
    };
  }

  #sizesFor({ type, value }: Limit): Sizes {
    const { inputTokens, mostInputTokens, inputBound } = this.#estimate;
    const room = value * smallShare;
    if (type === 'tokens') {
      if (inputBound <= room) return { least: inputBound, most: inputBound, perOutputToken: 1 };
      return { least: inputTokens, most: Math.max(inputTokens, mostInputTokens), perOutputToken: 1 };
    }
    const bound = this.#boundPrices();
    return bound.least <= room ? bound : this.#usualPrices();
  }

  #pricesOfBound(): Sizes {
    const { inputBound } = this.#estimate;
    const read = this.#cents(inputBound, 0);
    // What a cache is told to keep may cost more than what is only read.
    const most = unitsOfCents(Math.max(read, this.#cents(inputBound, 0, inputBound)));
    return { least: most, most, perOutputToken: this.#outputPrice(inputBound, read) };
  }

  #pricesOfEstimate(): Sizes {
    const { inputTokens, mostInputTokens } = this.#estimate;
    const input = this.#cents(inputTokens, 0);
    const least = unitsOfCents(input);
    const most = mostInputTokens === inputTokens ? least : unitsOfCents(this.#cents(mostInputTokens, 0));
    return { least, most: Math.max(least, most), perOutputToken: this.#outputPrice(inputTokens, input) };
  }

  #outputPrice(inputTokens: number, input: number): number {
    const sample = 1_000_000;
    return unitsOfCents(Math.max(0, this.#cents(inputTokens, sample) - input)) / sample;
  }

  #cents(inputTokens: number, outputTokens: number, cacheWriteTokens = 0): number {
    const { target } = this.#call;
    const cost = this.#pricer.cost({
      provider: target.provider.id,
      model: target.rule?.baseModel ?? target.provider.billedModel?.(target) ?? target.model,
      usage: { ...usageOf(this.#estimate, inputTokens, outputTokens), cacheWriteTokens },
      prices: target.rule?.prices ?? null,
      adjustments: target.saved?.pricingAdjustments ?? null,
      batch: false,
      reportsCost: false,
    });
    return cost.known ? cost.cents : 0;
  }

  /** Sets or lowers the token limit of the call, where it could take more than it was given otherwise. */
  bind({ reservation }: Hold): void {
    const { output, answers } = this.#estimate;
    if (output.kind === 'none' || (output.kind === 'open' && output.settable === null)) return;
    let tokens = Number.POSITIVE_INFINITY;
    for (const holding of reservation.holdings) tokens = Math.min(tokens, this.#outputWithin(holding));
    const mayTake = output.kind === 'bounded' ? output.tokens : output.most;
    if (tokens >= mayTake) return;
    const perAnswer = Math.max(1, Math.floor(tokens / answers));
    const limit = output.kind === 'open' ? Math.min(perAnswer, output.settable ?? perAnswer) : perAnswer;
    const asked = tokenLimit(this.#call.shaped);
    if (asked !== null && asked <= limit) return;
    this.#call.shaped = withTokenLimit(this.#call, limit);
    const { cache } = this.#call.record;
    if (cache) cache.shortOf = limit * answers;
  }

  /** How many tokens of output a holding pays for. */
  #outputWithin({ limit, amount }: Holding): number {
    const { output } = this.#estimate;
    const isBinding = limit.clampMaxTokens || output.kind === 'open';
    if (limit.type === 'requests' || limit.mode === 'shadow' || !isBinding) return Number.POSITIVE_INFINITY;
    const { least, most, perOutputToken } = this.#sizesFor(limit);
    if (perOutputToken === 0) return Number.POSITIVE_INFINITY;
    const beside = (input: number) => Math.floor((amount - input) / perOutputToken);
    if (output.kind !== 'open') return beside(least);
    // What is there beyond the least is kept for an input that turns out to be longer than it looks.
    return Math.max(beside(most), Math.min(beside(least), output.least));
  }
}
