/** What one request holds of limits while it runs: its own count, and what each target that it tries may take. */
import { type Demand, LimitStoreAway, type Reservation } from '../../limits/engine.ts';
import type { Limit } from '../../limits/limit.ts';
import type { Limits } from '../../limits/limits.ts';
import type { PolicyFacts, TargetFacts } from '../../limits/policy-index.ts';
import type { MaybePromise } from '../../maybe-promise.ts';
import type { AttemptRecord, Hold, Reserved } from '../attempt/answer.ts';
import type { RequestContext } from '../context.ts';
import { GatewayError } from '../errors.ts';
import { limitRefusal } from './refusal.ts';

/** A request that may be limited. */
export interface AdmittedContext extends RequestContext {
  /** What it holds of limits; absent where nothing limits it. */
  admission?: Admission | undefined;
}

export const admissionOf = ({ admission }: AdmittedContext): Admission | undefined => admission;

export class Admission {
  readonly #limits: Limits;
  readonly #context: RequestContext;
  readonly #now: () => number;
  /** Decided by facts of the request, in the order in which they refuse: key, workspace, policies. */
  readonly onRequest: readonly Limit[];
  /** The count of the request itself, once it is taken. */
  #count: Reservation | null = null;
  readonly #holds: Hold[] = [];
  #ended = false;
  /** Milliseconds spent asking the limits; null where they were not asked. */
  checkedMs: number | null = null;

  constructor(limits: Limits, context: RequestContext, now: () => number) {
    this.#limits = limits;
    this.#context = context;
    this.#now = now;
    this.onRequest = requestLimits(context);
  }

  get organisationId(): string {
    return this.#context.caller.organisationId;
  }

  /** Whether a target of this request is limited in any way. */
  concerns(limits: readonly Limit[] | undefined): boolean {
    const { policies } = this.#context.workspace;
    return (
      this.onRequest.length > 0 ||
      (limits?.length ?? 0) > 0 ||
      (policies?.hasTargetPolicies ?? false) ||
      // A target may run another prompt, which a policy limits.
      (this.#context.prompt?.swaps !== undefined && (policies?.hasRequestPolicies ?? false))
    );
  }

  /** Counts the request before it is routed, and refuses it where a budget is used up already. `tokens`: what a tool call takes of policies on tools. */
  count(tokens = 0): MaybePromise<void> {
    const demands = this.onRequest.map((limit): Demand => {
      if (limit.type === 'requests') return { limit, ...once };
      return countsTools(this.#context, limit) ? { limit, least: tokens, most: tokens } : { limit, ...nothing };
    });
    if (demands.length === 0) return;
    return then(this.#reserve(demands), (taken) => {
      if (taken instanceof GatewayError) throw taken;
      this.#count = taken;
    });
  }

  /** Counts a result that is there already, as no further request. It is refused only where a limit is used up, for the work is done: the last one may pass the limit. */
  countResult(tokens: number): MaybePromise<void> {
    const demands = this.onRequest
      .filter((limit) => countsTools(this.#context, limit))
      .map((limit): Demand => ({ limit, ...once }));
    return then(this.#reserve(demands), (taken) => {
      if (taken instanceof GatewayError) throw taken;
      this.#limits.settle(
        taken,
        taken.holdings.map(() => tokens),
      );
    });
  }

  /** The limits that a target must pass, those of the request first; its count is taken once, however many targets are tried. */
  limitsFor(saved: readonly Limit[], target: TargetFacts, prompt: string | null): Limit[] {
    const { policies } = this.#context.workspace;
    const isCounted = this.#count !== null;
    const own = isCounted ? this.onRequest.filter(({ type }) => type !== 'requests') : this.onRequest;
    const facts = factsOf(this.#context);
    // A target may run a prompt of its own.
    const ofPrompt = policies?.hasRequestPolicies && prompt !== facts.prompt ? this.#onlyOf(prompt) : none;
    const onTarget = policies?.hasTargetPolicies ? policies.onTarget({ ...facts, target, prompt }) : none;
    return [...own, ...ofPrompt, ...onTarget, ...saved];
  }

  /** What limits this prompt and not the one of the request. */
  #onlyOf(prompt: string | null): readonly Limit[] {
    const known = new Set(this.onRequest.map(({ counter }) => counter));
    const limits = this.#context.workspace.policies?.onRequest({ ...factsOf(this.#context), prompt }) ?? none;
    return limits.filter(({ counter }) => !known.has(counter));
  }

  /** For a call that the gateway makes on behalf of this one: what it uses counts, as no further request. */
  aside(context: RequestContext): Admission {
    const own = new Admission(this.#limits, context, this.#now);
    own.#count = noCount;
    return own;
  }

  /** Takes what a target may use. What earlier targets held and did not use is given back before. */
  take(record: AttemptRecord, demands: readonly Demand[]): MaybePromise<Reserved> {
    for (const earlier of this.#holds) this.#limits.settle(earlier.reservation, spentByFailure(earlier));
    return then(this.#reserve(demands), (taken): Reserved => {
      if (taken instanceof GatewayError) return { refusal: taken };
      const hold: Hold = {
        reservation: taken,
        record,
        asked: 0,
        again: (spent) => this.take(record, nextTurn(demands, spent)),
      };
      this.#holds.push(hold);
      if (this.#count === null) this.#count = noCount;
      return { hold };
    });
  }

  settle(hold: Hold, spent: readonly number[]): void {
    this.#limits.settle(hold.reservation, spent);
  }

  /** Whether somebody wants to know how many tokens a tool call took. */
  get countsTokens(): boolean {
    return this.onRequest.some((limit) => countsTools(this.#context, limit));
  }

  /** The request is over. It counts when it reached a target or the cache; whatever is still held is given back. */
  end(wasServed: boolean, tokens = 0): void {
    if (this.#ended) return;
    this.#ended = true;
    for (const hold of this.#holds) this.#limits.settle(hold.reservation, spentByFailure(hold));
    if (this.#count && this.#count !== noCount) {
      const spent = this.#count.holdings.map(({ limit, amount }) =>
        !wasServed ? 0 : limit.type === 'tokens' ? tokens : amount,
      );
      this.#limits.settle(this.#count, spent);
    }
  }

  /** The reservation, or the refusal of the first limit that has no room. */
  #reserve(demands: readonly Demand[]): MaybePromise<Reservation | GatewayError> {
    const id = Bun.randomUUIDv7();
    const askedAt = performance.now();
    const result = this.#limits.reserve({ id, organisationId: this.organisationId, demands });
    const read = (known: Awaited<typeof result>): Reservation | GatewayError => {
      this.checkedMs = (this.checkedMs ?? 0) + performance.now() - askedAt;
      return known.granted
        ? known.reservation
        : limitRefusal(known.refusedBy.limit, known.state, known.refusedBy.least, this.#now());
    };
    return result instanceof Promise ? result.then(read, unavailable) : read(result);
  }
}

/** Policies alone count the tokens of tools; a budget of a key or a workspace is one of model tokens. */
const countsTools = ({ service }: RequestContext, { type, scope }: Limit): boolean =>
  service !== undefined && type === 'tokens' && scope === 'policy';

/** The context of a session grows, and is paid for with every turn. */
const nextTurn = (demands: readonly Demand[], spent: readonly number[]): Demand[] =>
  demands.flatMap((demand, index) => {
    const { limit, least, most } = demand;
    if (limit.type === 'requests') return [];
    const last = spent[index] ?? 0;
    return [{ ...demand, least: Math.max(least, last), most: Math.max(most, last) }];
  });

const once = { least: 1, most: 1 };
/** A budget that is used up refuses also what asks for nothing. */
const nothing = { least: 0, most: 0 };
/** The count of the request was taken together with what its target holds. */
const noCount: Reservation = { id: '', organisationId: '', holdings: [] };

function then<T, R>(value: MaybePromise<T>, next: (value: T) => R): MaybePromise<R> {
  return value instanceof Promise ? value.then(next) : next(value);
}

function unavailable(fault: unknown): GatewayError {
  if (!(fault instanceof LimitStoreAway)) throw fault;
  return new GatewayError(
    'limits_unavailable',
    'the limits of this call cannot be checked at the moment; try again, or see LIMITS_ON_STORE_FAILURE',
  );
}

/** A target that failed used nothing, but for requests; of a stream that broke nobody knows what it used, so that nothing is given back. */
export function spentByFailure({ reservation, record }: Pick<Hold, 'reservation' | 'record'>): number[] {
  const wasSent = record.upstream !== null;
  const mayHide = wasSent && record.firstTokenMs !== null;
  return reservation.holdings.map(({ limit, amount }) =>
    limit.type === 'requests' ? (wasSent ? amount : 0) : mayHide ? amount : 0,
  );
}

function requestLimits(context: RequestContext): readonly Limit[] {
  const { caller, workspace, service } = context;
  const policies = workspace.policies?.hasRequestPolicies ? workspace.policies.onRequest(factsOf(context)) : none;
  const own = caller.limits ?? none;
  const shared = workspace.limits ?? none;
  const ofService = service?.limits ?? none;
  if (policies.length === 0 && shared.length === 0 && ofService.length === 0) return own;
  return [...own, ...shared, ...policies, ...ofService];
}

const none: readonly Limit[] = [];

export const factsOf = ({
  caller,
  workspace,
  matched,
  metadata,
  plan,
  prompt,
  service,
}: RequestContext): PolicyFacts => ({
  apiKeyId: caller.keyId,
  organisationId: caller.organisationId,
  workspaceId: workspace.workspaceId,
  workspaceSlug: workspace.workspaceSlug,
  endpointType: matched.route.kind,
  metadata,
  config: plan.saved?.slug ?? null,
  prompt: prompt?.slug ?? null,
  target: null,
  service: service ? { server: service.slug, tool: service.tool } : null,
});
