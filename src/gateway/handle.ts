/** A request's journey, top to bottom: identify, admit, select, route, reply, settle. */
import type { CheckIo } from '../guardrails/io.ts';
import { isReserved } from '../http/reserved-paths.ts';
import { incomingOf, replyOf, responseOf } from '../http/web.ts';
import { InFlight } from '../in-flight.ts';
import type { Bytes } from '../wire/client/collected.ts';
import type { Incoming, Upgraded } from '../wire/server/incoming.ts';
import type { BodySource, Reply } from '../wire/server/reply.ts';
import { toldWhenSent } from '../wire/server/unsent-body.ts';
import type { Answer, AttemptRecord } from './attempt/answer.ts';
import { failed, newAttemptRecord } from './attempt/attempt.ts';
import type { Arrival, Identified, RequestContext } from './context.ts';
import type { GatewayDeps } from './deps.ts';
import { clientLeft, GatewayError } from './errors.ts';
import { requireAllowedType } from './guardrails/gate.ts';
import { checkIo } from './guardrails/io.ts';
import { type Admission, admissionOf } from './limits/admission.ts';
import { mayReadOutput, refuseHeldBack } from './managed/held-back.ts';
import { isInside, markInside } from './managed/inside-calls.ts';
import { isManaged, managedReply } from './managed/managed.ts';
import { createRowChecks, type RowChecks } from './managed/row-checks.ts';
import { dialSession } from './realtime/dial.ts';
import { sessionJourney } from './realtime/handshake.ts';
import { openRealtimeSession } from './realtime/open-session.ts';
import { withWords } from './realtime/refusal-words.ts';
import { admit, refusedByLimits } from './request/admit.ts';
import { countedFrom } from './request/body-budget.ts';
import { type HeaderFields, KnownHeaders } from './request/headers.ts';
import { identify } from './request/identify.ts';
import { type AskedPath, askedPath, dedicatedRoute, receive, remainingRoute } from './request/receive.ts';
import type { MatchedRoute } from './request/routes.ts';
import { select, unplanned } from './request/select.ts';
import { renderedPrompt, sourced, withTargetPrompts } from './request/source.ts';
import {
  integratedModel,
  integratedModels,
  wantsIntegratedModel,
  wantsIntegratedModels,
} from './response/integrated-models.ts';
import { gatewayErrorReply, markUnpriced, replyHeaders } from './response/reply.ts';
import { type Routed, route } from './routing/route.ts';
import { createServiceCalls, type ServiceCalls } from './service-calls.ts';
import { settle } from './settle/settle.ts';
import { isUnpriced, type Outcome } from './settle/settlement.ts';
import { clientStream, type EventAnswer, isEventAnswer, type StreamEnd } from './streaming/client-stream.ts';
import { pipeBody } from './streaming/pipe-body.ts';

export interface Gateway {
  /** Serves the data plane's own routes; null for other paths. */
  handle(request: Incoming): Promise<Reply | Upgraded> | null;
  /** Serves every path below the version that nobody else serves; null outside it. */
  passthrough(request: Incoming): Promise<Reply | Upgraded> | null;
  /** The same for calls of our own: no guardrail and no batch of ours stands before them. */
  handleInside: Gateway['handle'];
  /** Guardrails on rows and answers of a batch that a provider runs. */
  readonly rowChecks: RowChecks;
  /** What checks may do on behalf of a workspace. */
  checkIo(workspaceId: string | null): CheckIo;
  /** The same stages for calls whose upstream is no model provider. */
  readonly services: ServiceCalls;
  /** Resolves when no stream and no session is open any more. */
  idle(): Promise<void>;
  /** Lets go of the connections to providers; calls that still come make new ones. */
  close(): void;
}

export function createGateway(deps: GatewayDeps): Gateway {
  const inFlight = new InFlight();
  /** Requests whose large answers wait for their clients. */
  const unsent = new WeakSet<Incoming>();
  const heads = new KnownHeaders(deps.settings.headerPrefixAliases);

  const serve = async (request: Incoming, asked: AskedPath, matched: MatchedRoute): Promise<Reply | Upgraded> => {
    const arrival = receive(deps, request, heads.of(request.headers.fields), asked, matched);
    let identified: Identified | null = null;
    let admission: Admission | null = null;
    let isJudgedByLimits = false;
    try {
      const known = identify(deps, arrival);
      identified = known instanceof Promise ? await known : known;
      if (matched.route.prompt) {
        if (matched.route.prompt === 'render') {
          return await renderedPrompt(deps, identified).finally(() => deps.bodies.release(request));
        }
        identified = await sourced(deps, identified);
      }
      deps.openTraces.begin(request, identified);
      const selected = select(deps, identified);
      const planned = selected instanceof Promise ? await selected : selected;
      const context = planned.prompt ? await withTargetPrompts(deps, planned) : planned;
      if (mayReadOutput(context)) await refuseHeldBack(deps, context, lookUpWith(context));
      const managed = isManaged(deps, context);
      if (managed || wantsIntegratedModels(context) || wantsIntegratedModel(context))
        await requireAllowedType(deps, context);
      if (wantsIntegratedModels(context)) return await answerOurselves(context, integratedModels(deps, context));
      if (wantsIntegratedModel(context)) return await answerOurselves(context, integratedModel(deps, context));
      isJudgedByLimits = true;
      const admitted = admit(deps, context, managed);
      admission = admitted instanceof Promise ? await admitted : admitted;
      if (managed) {
        const answer = await managedReply(deps, context);
        admission?.end(true);
        return await answerOurselves(context, answer);
      }
      if (matched.route.kind === 'realtime') return await connect(sessionJourney(context));
      const records: AttemptRecord[] = [];
      return reply(context, { answer: await route(deps, context, records), records });
    } catch (fault) {
      admission?.end(false);
      const limited = isJudgedByLimits || !identified ? null : await limitedToo(fault, identified);
      return turnAway(arrival, identified, limited ?? asError(fault, arrival));
    }
  };

  /** Asks for a file as the client of a request would. */
  const lookUpWith =
    ({ request }: RequestContext) =>
    async (fileId: string) => {
      const url = `http://inside.invalid/v1/files/${encodeURIComponent(fileId)}`;
      const reply = await handle(markInside(incomingOf(new Request(url, { headers: request.headers.fields }))));
      if (!reply || reply === 'upgraded') throw new Error('A file is answered with a reply');
      return { status: reply.status, body: await responseOf(reply).bytes() };
    };

  /** Limits of the key and its workspace are told before what is wrong with the request; rendering has none. */
  const limitedToo = async (fault: unknown, identified: Identified): Promise<GatewayError | null> => {
    if (!(deps.limits && fault instanceof GatewayError) || identified.matched.route.prompt === 'render') return null;
    return refusedByLimits(deps, unplanned(deps, identified)).catch((broken) => asError(broken, identified));
  };

  /** What no provider is asked for is settled and logged like any call. */
  const answerOurselves = async (context: RequestContext, response: Response): Promise<Reply> => {
    const answer = await replyOf(response);
    const record = newAttemptRecord(context.plan.root);
    record.status = answer.status;
    const { status, headers } = answer;
    close(context, [record], { status, headers, body: answer.body instanceof Uint8Array ? answer.body : null });
    return answer;
  };

  /** A refusal before any target was tried. It is logged where it is known whose request it was. */
  const turnAway = (arrival: Arrival, identified: Identified | null, error: GatewayError): Reply => {
    const told = gatewayErrorReply(arrival, error, null);
    // Rendering is not logged, and neither is what is wrong with it.
    if (identified && arrival.matched.route.prompt !== 'render') {
      const context = unplanned(deps, identified);
      const { record } = failed(newAttemptRecord(context.plan.root), error);
      close(context, [record], { status: told.status, headers: told.headers, body: told.body });
    }
    return told;
  };

  const asError = (fault: unknown, { requestId }: Arrival): GatewayError => {
    if (fault instanceof GatewayError) return fault;
    if (deps.isStoreAway(fault)) {
      return new GatewayError(
        'store_unavailable',
        'the database cannot be reached to check this API key; try again in a moment',
      );
    }
    deps.onFault(fault, requestId);
    return new GatewayError('internal_error', 'something went wrong on our side');
  };

  /** A realtime session: the client is accepted once a provider has accepted us. */
  const connect = async (context: RequestContext): Promise<Reply | Upgraded> => {
    const records: AttemptRecord[] = [];
    const routed = { answer: await route(deps, context, records, dialSession), records };
    const { content, record } = routed.answer;
    if (content.form !== 'socket') {
      return reply(context, { ...routed, answer: await withWords(deps, context, routed.answer) });
    }
    if (openRealtimeSession(deps, context, routed, content.socket, inFlight)) return 'upgraded';
    return reply(context, { ...routed, answer: failed(record, clientLeft()) });
  };

  const reply = (context: RequestContext, { answer, records }: Routed): Reply => {
    const { content, status } = answer;
    if (content.form === 'error') return refuse(context, answer, records, content.error);
    const headers = replyHeaders(context, answer);
    if (isUnpriced(deps, context, answer.record)) markUnpriced(headers, context);
    if (content.form === 'bytes') {
      const { bytes: body } = content;
      if (body.length >= countedFrom) unsent.add(context.request);
      close(context, records, { status, headers, body });
      return body.length < countedFrom ? { status, headers, body } : counted(context, { status, headers, body });
    }
    if (isEventAnswer(answer)) return { status, headers, body: streamed(context, answer, records, headers) };
    if (content.form === 'raw') return carryThrough(context, answer, records, content, headers);
    throw new Error('Any other answer is a session, which replies by itself');
  };

  /** A large answer counts until its client has taken it. */
  const counted = ({ request }: RequestContext, reply: Reply & { body: Bytes }): Reply =>
    toldWhenSent(reply, () => {
      unsent.delete(request);
      deps.bodies.release(request);
    });

  const streamed = (
    context: RequestContext,
    answer: EventAnswer,
    records: AttemptRecord[],
    headers: HeaderFields,
  ): BodySource => {
    inFlight.begin();
    if (context.body.form === 'json') context.body.setAside();
    const finished = ({ sent }: StreamEnd) => {
      inFlight.end();
      close(context, records, { status: answer.status, headers, body: sent });
    };
    return clientStream(context, answer, finished, deps.onFault);
  };

  const carryThrough = (
    context: RequestContext,
    answer: Answer,
    records: AttemptRecord[],
    content: Extract<Answer['content'], { form: 'raw' }>,
    headers: HeaderFields,
  ): Reply => {
    const { status, record } = answer;
    const { body: upstreamBody, abort, idleMs } = content;
    if (!upstreamBody) {
      close(context, records, { status, headers, body: null });
      return { status, headers, body: null };
    }
    inFlight.begin();
    const body = pipeBody({ body: upstreamBody, abort, idleMs }, deps.deadlines, ({ copy, outcome, error }) => {
      inFlight.end();
      record.received = copy.bytes;
      record.endedAt = performance.now();
      record.error = error;
      if (outcome === 'client left') record.status = 499;
      if (outcome === 'failed') record.status = error?.status ?? 502;
      close(context, records, { status, headers, body: null });
    });
    return { status, headers, body };
  };

  const refuse = (context: RequestContext, answer: Answer, records: AttemptRecord[], error: GatewayError): Reply => {
    const told = gatewayErrorReply(context, error, answer.record);
    close(context, records, { status: told.status, headers: told.headers, body: told.body });
    return told;
  };

  /** The client has its answer: what goes wrong now is told to nobody but the operator. */
  const close = (context: RequestContext, records: AttemptRecord[], outcome: Outcome) => {
    const pending = records.flatMap(({ guard }) => guard?.pending ?? []);
    if (pending.length === 0) settleNow(context, records, outcome);
    else settleLater(pending, context, records, outcome);
  };

  const settleNow = (context: RequestContext, records: AttemptRecord[], outcome: Outcome) => {
    try {
      if (!isPoll(context)) settle(deps, context, records, outcome);
    } catch (fault) {
      deps.onFault(fault, context.requestId);
    } finally {
      if (!unsent.has(context.request)) deps.bodies.release(context.request);
      deps.openTraces.end(context.request);
      // Whatever an attempt left behind is given back.
      admissionOf(context)?.end(false);
    }
  };

  /** How a batch stands is asked many times; only what comes of it is worth a record. */
  const isPoll = ({ matched, request }: RequestContext): boolean =>
    matched.route.kind === 'retrieveBatch' && isInside(request);

  /** The log tells what async guardrails said, so that it waits for them; each ends within its time. */
  const settleLater = (
    pending: readonly Promise<void>[],
    context: RequestContext,
    records: AttemptRecord[],
    outcome: Outcome,
  ) => {
    inFlight.begin();
    Promise.allSettled(pending).then(() => {
      settleNow(context, records, outcome);
      inFlight.end();
    });
  };

  const handle: Gateway['handle'] = (request) => {
    const asked = askedPath(request.target);
    const matched = asked && dedicatedRoute(request.method, asked);
    return matched ? serve(request, asked, matched) : null;
  };

  return {
    handle,
    handleInside: (request) => handle(markInside(request)),
    rowChecks: createRowChecks(deps),
    passthrough(request) {
      const asked = askedPath(request.target);
      // Methods that the web does not know come here without having been looked at by anyone else.
      if (!asked || isReserved(asked.path)) return null;
      return serve(request, asked, remainingRoute(asked));
    },
    checkIo: (workspaceId) => checkIo(deps, workspaceId),
    services: createServiceCalls(deps),
    idle: () => inFlight.none(),
    close() {
      deps.http.close();
      deps.deadlines.stop();
    },
  };
}
