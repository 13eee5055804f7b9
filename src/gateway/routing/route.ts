/** Walks the plan: single, fallback, loadbalance, conditional, in any nesting, to the leaf that answers. */
import { createHash } from 'node:crypto';
import { chosenChild } from '../../catalog/conditions.ts';
import type { Leaf, PlanNode, Strategy } from '../../catalog/plan.ts';
import { wordOf } from '../../providers/json.ts';
import { type Answer, type AttemptRecord, type Delivered, discard } from '../attempt/answer.ts';
import { attempt, failed, newAttemptRecord } from '../attempt/attempt.ts';
import type { RequestContext } from '../context.ts';
import type { GatewayDeps } from '../deps.ts';
import type { GatewayErrorCode } from '../error-catalogue.ts';
import { GatewayError } from '../errors.ts';
import { parametersOf } from '../request/body.ts';
import type { BreakerScope } from './breakers.ts';

export interface Routed {
  answer: Answer;
  /** Every target that was tried, in order. */
  records: AttemptRecord[];
}

/** What a leaf is tried with: a call, or the opening of a realtime session. */
type TryLeaf = (deps: GatewayDeps, context: RequestContext, leaf: Leaf, delivered: Delivered | null) => Promise<Answer>;

/** Every target that is tried is noted in `trails`, in order. */
export const route = (
  deps: GatewayDeps,
  context: RequestContext,
  records: AttemptRecord[],
  tryLeaf: TryLeaf = attempt,
): Promise<Answer> => new Walk(deps, context, tryLeaf, records).visit(context.plan.root, null, '');

/** The child that a strategy chose, and by what. */
interface Choice {
  child: PlanNode;
  because: string;
}

const below = (above: string, rule: string): string => (above === '' ? rule : `${above} > ${rule}`);

class Walk {
  readonly #deps: GatewayDeps;
  readonly #context: RequestContext;
  readonly #try: TryLeaf;
  readonly #records: AttemptRecord[];
  readonly #scope: BreakerScope;

  constructor(deps: GatewayDeps, context: RequestContext, tryLeaf: TryLeaf, records: AttemptRecord[]) {
    this.#deps = deps;
    this.#context = context;
    this.#try = tryLeaf;
    this.#records = records;
    this.#scope = { workspaceId: context.workspace.workspaceId, planId: context.plan.id };
  }

  /** `rule` tells by which rules of the strategies above the node was chosen. */
  visit(node: PlanNode, delivered: Delivered | null, rule: string): Promise<Answer> {
    const answer = this.#ask(node, delivered, rule);
    return node.kind === 'leaf' || node.breaker ? answer.then((known) => this.#noted(node, known, rule)) : answer;
  }

  /** Whoever waits for the answer has it noted. */
  #ask(node: PlanNode, delivered: Delivered | null, rule: string): Promise<Answer> {
    if (node.kind === 'leaf') return this.#try(this.#deps, this.#context, node, delivered);
    return this.#follow(node, delivered, rule);
  }

  /** The answer of a node, once its trail and its breaker have taken note of it. */
  #noted(node: PlanNode, answer: Answer, rule: string): Answer {
    if (node.kind === 'leaf') {
      if (rule !== '') answer.record.rule = rule;
      this.#records.push(answer.record);
    }
    const status = node.breaker && healthOf(answer);
    if (status !== null) this.#deps.breakers.record(this.#scope, node, status);
    return answer;
  }

  #follow(strategy: Strategy, delivered: Delivered | null, above: string): Promise<Answer> {
    if (strategy.mode === 'fallback') return this.#fallback(strategy, this.#eligible(strategy), 0, delivered, above);
    const choice = this.#choose(strategy);
    return choice instanceof GatewayError
      ? Promise.resolve(this.#unrouted(strategy, choice))
      : this.visit(choice.child, delivered, below(above, `${strategy.mode}: ${choice.because}`));
  }

  /** A strategy without a target for this request has failed like any target; a fallback above it goes on. */
  #unrouted(strategy: Strategy, error: GatewayError): Answer {
    const record = newAttemptRecord(strategy);
    this.#records.push(record);
    return failed(record, error);
  }

  #choose(strategy: Strategy): Choice | GatewayError {
    if (strategy.mode === 'conditional') return this.#matching(strategy);
    const eligible = this.#eligible(strategy);
    if (strategy.mode === 'loadbalance') return this.#balanced(strategy, eligible);
    const [child] = eligible;
    return child
      ? { child, because: 'the target' }
      : new GatewayError('no_eligible_target', `${strategy.path} has no target`);
  }

  /** Children whose breaker is open are left out; when all are open, none is. */
  #eligible(strategy: Strategy): readonly PlanNode[] {
    const { children } = strategy;
    let closed: PlanNode[] | null = null;
    let index = 0;
    for (const child of children) {
      if (this.#deps.breakers.isOpen(this.#scope, child)) closed ??= children.slice(0, index);
      else closed?.push(child);
      index++;
    }
    return closed && closed.length > 0 ? closed : children;
  }

  async #fallback(
    strategy: Strategy,
    children: readonly PlanNode[],
    from: number,
    delivered: Delivered | null,
    above: string,
  ): Promise<Answer> {
    let answer: Answer | null = null;
    for (let index = from; index < children.length; index++) {
      const child = children[index];
      if (!child) break;
      if (answer) discard(answer);
      const because = delivered ? 'goes on with a stream that broke' : answer ? `after ${answer.status}` : 'first';
      const rule = below(above, `fallback: target ${strategy.children.indexOf(child)}, ${because}`);
      answer = this.#noted(child, await this.#ask(child, delivered, rule), rule);
      if (this.#stopsAt(strategy, answer)) return this.#withRescue(strategy, children, index + 1, answer, above);
    }
    return answer ?? this.#unrouted(strategy, new GatewayError('no_eligible_target', `${strategy.path} has no target`));
  }

  #stopsAt(strategy: Strategy, answer: Answer): boolean {
    if (answer.content.form === 'socket') return true;
    if (answer.content.form === 'error' && answer.content.error.code === 'internal_error') return true;
    // An upload that was begun cannot be sent to anyone else.
    const { body } = this.#context;
    if (body.form === 'stream' && body.stream.locked) return true;
    return !callsForNext(strategy, answer.status) || this.#context.request.left;
  }

  /** A stream that breaks later goes on with the targets behind this one. */
  #withRescue(strategy: Strategy, children: readonly PlanNode[], next: number, answer: Answer, above: string): Answer {
    if (!strategy.recoverStreams || next >= children.length || answer.content.form !== 'events') return answer;
    const inner = answer.rescue;
    const outer = (delivered: Delivered) => this.#fallback(strategy, children, next, delivered, above);
    return {
      ...answer,
      rescue: async (delivered) => {
        const broken = children[next - 1];
        if (broken) this.#deps.breakers.record(this.#scope, broken, delivered.status);
        const rescued = inner && (await inner(delivered));
        // It may break too; then those behind its own fallback are still there.
        if (rescued?.content.form === 'events') return this.#withRescue(strategy, children, next, rescued, above);
        const status = rescued?.status ?? delivered.status;
        return callsForNext(strategy, status) ? outer({ ...delivered, status }) : rescued;
      },
    };
  }

  #balanced(strategy: Strategy, eligible: readonly PlanNode[]): Choice | GatewayError {
    const key = this.#stickyKey(strategy);
    if (key !== null) {
      const remembered = strategy.children[this.#deps.sticky.recall(key) ?? -1];
      if (remembered && remembered.weight > 0 && eligible.includes(remembered)) {
        return { child: remembered, because: 'sticky' };
      }
    }
    const r = this.#deps.random();
    // When all that have a share are open, the breaker is ignored.
    const chosen = draw(eligible, r) ?? draw(strategy.children, r);
    if (!chosen) return new GatewayError('no_eligible_target', `every target of ${strategy.path} has weight 0`);
    if (key !== null && strategy.sticky) {
      this.#deps.sticky.remember(key, strategy.children.indexOf(chosen), strategy.sticky.ttlSeconds);
    }
    return { child: chosen, because: `weight ${chosen.weight}` };
  }

  /** Who this request counts as for a sticky choice; null when it carries none of the fields. */
  #stickyKey(strategy: Strategy): string | null {
    if (!strategy.sticky) return null;
    const { metadata, body, request, workspace, plan } = this.#context;
    const parameters = parametersOf(body);
    const pairs = strategy.sticky.fields.flatMap((field) => {
      const [root = '', ...rest] = field.split('.');
      const name = rest.join('.');
      const value =
        root === 'params' ? parameters[name] : root === 'headers' ? request.headers.get(name) : metadata[name];
      return value === undefined || value === null ? [] : [`${field}=${wordOf(value)}`];
    });
    if (pairs.length === 0) return null;
    const identity = [workspace.workspaceId, plan.id, strategy.path, ...pairs].join('\n');
    return createHash('sha256').update(identity).digest('hex');
  }

  #matching(strategy: Strategy): Choice | GatewayError {
    const { metadata, body, request, path, matched } = this.#context;
    const facts = {
      metadata,
      params: parametersOf(body),
      pathname: path,
      headers: request.headers,
      kind: matched.route.kind,
    };
    const chosen = chosenChild(strategy, facts);
    const child = strategy.children[chosen?.child ?? -1];
    if (chosen && child) {
      return { child, because: chosen.condition === null ? 'default' : `condition ${chosen.condition}` };
    }
    return new GatewayError(
      'router_no_match',
      `no condition of ${strategy.path} matches this request and it has no default`,
    );
  }
}

/** True where a fallback goes on behind this status, be it an answer's or that of a stream that broke. */
const callsForNext = ({ onStatus }: Strategy, status: number): boolean =>
  onStatus ? onStatus.has(status) : status < 200 || status > 299;

/** A weighted draw: `r` in [0, 1) falls into one child's share. */
export function draw<T extends { weight: number }>(children: readonly T[], r: number): T | null {
  const total = children.reduce((sum, child) => sum + child.weight, 0);
  let left = r * total;
  let last: T | null = null;
  for (const child of children) {
    if (child.weight <= 0) continue;
    if (left < child.weight) return child;
    left -= child.weight;
    last = child;
  }
  // Sums of fractions are not exact: what is left over belongs to the last.
  return last;
}

const faultsOfOurs: ReadonlySet<GatewayErrorCode> = new Set(['internal_error', 'too_many_connections']);

/** The status by which a breaker judges; null for our own refusals and faults, which say nothing about the target. */
function healthOf({ content, status }: Answer): number | null {
  if (content.form !== 'error') return status;
  const { code } = content.error;
  const isTheirs = code === 'upstream_refused' || status === 408 || (status >= 500 && !faultsOfOurs.has(code));
  return isTheirs ? status : null;
}
