/** The stages that calls of MCP servers and agents share with model calls, so that none of them goes around identity, limits and logs. */
import type { Guards } from '../catalog/guards.ts';
import type { KeyCaller } from '../identity/caller.ts';
import type { MaybePromise } from '../maybe-promise.ts';
import type { Usage } from '../providers/provider.ts';
import type { Incoming } from '../wire/server/incoming.ts';
import { newAttemptRecord } from './attempt/attempt.ts';
import type { Arrival, Identified, RequestContext, ServiceCall } from './context.ts';
import type { GatewayDeps } from './deps.ts';
import { ServiceGuard } from './guardrails/service-guard.ts';
import type { GuardState } from './guardrails/state.ts';
import { Admission } from './limits/admission.ts';
import { admit } from './request/admit.ts';
import type { Bytes } from './request/body.ts';
import type { BodyLease } from './request/body-budget.ts';
import { type HeaderFields, KnownHeaders } from './request/headers.ts';
import { identify, identifyAs } from './request/identify.ts';
import { receive } from './request/receive.ts';
import type { MatchedRoute } from './request/routes.ts';
import { asksStrict, unplanned } from './request/select.ts';
import { settle } from './settle/settle.ts';

/** How a call of a service ended. */
export interface ServiceEnd {
  status: number;
  headers?: Readonly<HeaderFields>;
  /** What the client got; null where it got nothing, or where it only passed through. */
  body: Uint8Array | null;
  /** Why it failed, also where its status is that of a success; null where it did not. */
  failure: string | null;
  /** Milliseconds that were spent waiting for the service. */
  upstreamMs: number;
  /** Milliseconds until the first event of a stream; null for an answer in one piece. */
  firstEventMs?: number | null;
  usage?: Usage | null;
  guard?: GuardState | null;
}

export interface ServiceCalls {
  /** `path` is how logs name the route. */
  receive(request: Incoming, path: string, route: MatchedRoute): Arrival;
  /** By the key in the headers; throws a `GatewayError`. */
  identify(arrival: Arrival): MaybePromise<Identified>;
  /** By something else than a key, which the caller has checked. */
  identifyAs(
    arrival: Arrival,
    who: { caller: KeyCaller; credential: string; header: string },
  ): MaybePromise<Identified>;
  /** One call of a caller; a request may hold several. */
  begin(identified: Identified, service: ServiceCall, route: MatchedRoute, body: Bytes | null): RequestContext;
  /** Says that the call is under way, so that its trace is known before its record is. Settling it ends that. */
  enter(context: RequestContext): void;
  /** Whether anything limits calls of this caller; where nothing does, they need not be counted. */
  isLimited(identified: Identified): boolean;
  /** Counts the call against the limits of key, workspace and policies; throws a `GatewayError` where one has no room. `tokens`: what it is known to take. */
  admit(context: RequestContext, tokens: () => number): MaybePromise<Admission | null>;
  /** Counts the tokens of a tool's result that came after its call was answered; throws a `GatewayError` where a limit is used up. Null where nobody counts them. */
  resultCounter(context: RequestContext): ((tokens: number) => MaybePromise<void>) | null;
  /** What guardrails say of the call, before it is made and after. */
  guard(context: RequestContext, guards: Guards): ServiceGuard;
  /** Whether answers to a model request may hold the fields of its dialect alone. */
  isStrict(identified: Identified): boolean;
  /** Counts what is held for the request until it is released. */
  room(identified: Identified): BodyLease;
  /** Counts what is held for an organisation until it is given back. */
  lease(organisationId: string): BodyLease;
  /** The request is over: what was held for it is not held any more. */
  release(request: Incoming): void;
  /** Tells settlers and the log. It never throws, for the client has its answer. */
  settle(context: RequestContext, end: ServiceEnd): void;
}

export function createServiceCalls(deps: GatewayDeps): ServiceCalls {
  const heads = new KnownHeaders(deps.settings.headerPrefixAliases);
  return {
    receive: (request, path, route) =>
      receive(deps, request, heads.of(request.headers.fields), { path, query: '' }, route),
    identify: (arrival) => identify(deps, arrival),
    identifyAs: (arrival, who) => identifyAs(deps, arrival, who),
    begin(identified, service, route, body) {
      const context = unplanned(deps, { ...identified, matched: route });
      const { fields } = identified.own;
      context.service = service;
      context.spanName = identified.own.get('span-name') ?? spanNameOf(service);
      if (body) context.body = { form: 'bytes', bytes: body, contentType: fields['content-type'] ?? '' };
      return context;
    },
    enter: (context) => deps.openTraces.begin(context, context),
    isLimited: ({ caller, workspace }) =>
      deps.limits !== null &&
      ((caller.limits?.length ?? 0) > 0 ||
        (workspace.limits?.length ?? 0) > 0 ||
        (workspace.policies?.hasRequestPolicies ?? false)),
    isStrict: (identified) => asksStrict(deps, identified),
    room: ({ request, caller }) => ({
      hold: (bytes) => deps.bodies.hold(request, caller.organisationId, bytes),
      // All of it together, once the request is over.
      release: () => undefined,
    }),
    lease: (organisationId) => deps.bodies.lease(organisationId),
    release: (request) => deps.bodies.release(request),
    guard: (context, guards) => new ServiceGuard(deps, context, guards),
    admit: (context, tokens) => admit(deps, context, true, tokens),
    resultCounter(context) {
      if (!deps.limits) return null;
      const admission = new Admission(deps.limits, context, () => deps.clock.now().getTime());
      return admission.countsTokens ? (tokens) => admission.countResult(tokens) : null;
    },
    settle(context, { status, headers = {}, body, failure, upstreamMs, firstEventMs = null, usage, guard }) {
      const record = newAttemptRecord(context.plan.root);
      record.status = status;
      record.upstreamMs = upstreamMs;
      record.firstTokenMs = firstEventMs;
      record.usage = usage ?? null;
      record.guard = guard ?? null;
      if (failure !== null) record.failure = failure;
      const done = () => {
        try {
          settle(deps, context, [record], { status, headers, body });
        } catch (fault) {
          deps.onFault(fault, context.requestId);
        } finally {
          deps.openTraces.end(context);
        }
      };
      if (!guard || guard.pending.length === 0) {
        done();
        return;
      }
      // The log tells what async guardrails said.
      deps.openTraces.begin(context, context);
      Promise.allSettled(guard.pending).then(done);
    },
  };
}

const longestName = 512;

const spanNameOf = ({ method, tool }: ServiceCall): string =>
  (tool === '' ? method : `${method} ${tool}`).slice(0, longestName);
