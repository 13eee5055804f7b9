/** What a call asks of each of its limits, and how it is kept within what it was given. */
import type { Demand, Holding } from '../../limits/engine.ts';
import { type Limit, unitsOfCents } from '../../limits/limit.ts';
import type { Pricer } from '../../pricing/pricer.ts';
import type { AttemptContext } from '../attempt/context.ts';
import type { Hold } from './admission.ts';
import { type Estimate, tokenLimit, usageOf, withTokenLimit } from './estimate.ts';

interface Prices {
  input: number;
  mostInput: number;
  perOutputToken: number;
}

/** In the units of each limit. */
export class Demands {
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
    const { output } = this.#estimate;
    const input = this.#input(limit);
    const mostInput = Math.max(input, this.#mostInput(limit));
    if (output.kind === 'none') return { limit, least: input, most: mostInput };
    const each = this.#perOutputToken(limit);
    const worth = (tokens: number) => Math.ceil(tokens * each);
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
    const each = this.#perOutputToken(limit);
    if (each === 0) return Number.POSITIVE_INFINITY;
    const beside = (input: number) => Math.floor((amount - input) / each);
    if (output.kind !== 'open') return beside(this.#input(limit));
    // What is there beyond the least is kept for an input that turns out to be longer than it looks.
    return Math.max(beside(this.#mostInput(limit)), Math.min(beside(this.#input(limit)), output.least));
  }
}
