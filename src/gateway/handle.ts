/** A request's journey, top to bottom: identify, admit, select, route, reply, settle. */
import { replyOf } from '../http/web.ts';
import { Underway } from '../underway.ts';
import type { Incoming, Upgraded } from '../wire/server/incoming.ts';
import type { BodySource, Reply } from '../wire/server/reply.ts';
import { admit } from './admit.ts';
import type { Answer, Trail } from './answer.ts';
import { failed, newTrail } from './attempt.ts';
import { carry } from './carry.ts';
import { clientLeft, GatewayError } from './errors.ts';
import { type HeaderFields, KnownHeaders } from './headers.ts';
import { identify } from './identify.ts';
import type { Arrival, Identified, Journey } from './journey.ts';
import { isManaged, managedReply } from './managed/managed.ts';
import { integratedModels, wantsIntegratedModels } from './models.ts';
import { OpenStreams } from './open-streams.ts';
import type { GatewayParts } from './parts.ts';
import { dial } from './realtime/dial.ts';
import { sessionJourney } from './realtime/handshake.ts';
import { openSession } from './realtime/open-session.ts';
import { type AskedPath, askedPath, dedicatedRoute, receive, remainingRoute } from './receive.ts';
import { errorReply, replyHeaders } from './reply.ts';
import { type Routed, route } from './route.ts';
import type { MatchedRoute } from './routes.ts';
import { select, unplanned } from './select.ts';
import { type Outcome, settle } from './settle.ts';
import { clientStream, type EventAnswer, isEventAnswer, type StreamEnd } from './stream.ts';

export interface Gateway {
  /** Serves the data plane's own routes; null for other paths. */
  handle(request: Incoming): Promise<Reply | Upgraded> | null;
  /** Serves every path below the version that nobody else serves; null outside it. */
  passthrough(request: Incoming): Promise<Reply | Upgraded> | null;
  /** Resolves when no stream and no session is open any more. */
  idle(): Promise<void>;
  /** Lets go of the connections to providers; calls that still come make new ones. */
  close(): void;
}

export function createGateway(parts: GatewayParts): Gateway {
  const underway = new Underway();
  const heads = new KnownHeaders(parts.settings.headerPrefixAliases);
  const streams = new OpenStreams();

  const streamBegins = () => {
    underway.begin();
    streams.begin();
  };

  const streamEnds = () => {
    streams.end();
    underway.end();
  };

  const serve = async (request: Incoming, asked: AskedPath, matched: MatchedRoute): Promise<Reply | Upgraded> => {
    const arrival = receive(parts, request, heads.of(request.headers.fields), asked, matched);
    let identified: Identified | null = null;
    try {
      const known = identify(parts, arrival);
      identified = known instanceof Promise ? await known : known;
      admit(identified);
      const selected = select(parts, identified);
      const journey = selected instanceof Promise ? await selected : selected;
      if (wantsIntegratedModels(journey)) return await replyOf(integratedModels(parts, journey));
      if (isManaged(parts, journey)) return await replyOf(await managedReply(parts, journey));
      if (matched.route.kind === 'realtime') return await connect(sessionJourney(journey));
      const trails: Trail[] = [];
      return reply(journey, { answer: await route(parts, journey, trails), trails });
    } catch (fault) {
      return turnAway(arrival, identified, asError(fault, arrival));
    }
  };

  /** A refusal before any target was tried. It is logged where it is known whose request it was. */
  const turnAway = (arrival: Arrival, identified: Identified | null, error: GatewayError): Reply => {
    const told = errorReply(arrival, error, null);
    if (identified) {
      const journey = unplanned(parts, identified);
      const { trail } = failed(newTrail(journey.plan.root), error);
      close(journey, [trail], { status: told.status, headers: told.headers, body: told.body });
    }
    return told;
  };

  const asError = (fault: unknown, { requestId }: Arrival): GatewayError => {
    if (fault instanceof GatewayError) return fault;
    if (parts.isStoreAway(fault)) {
      return new GatewayError(
        'store_unavailable',
        'the database cannot be reached to check this API key; try again in a moment',
      );
    }
    parts.onFault(fault, requestId);
    return new GatewayError('internal_error', 'something went wrong on our side');
  };

  /** A realtime session: the client is accepted once a provider has accepted us. */
  const connect = async (journey: Journey): Promise<Reply | Upgraded> => {
    const trails: Trail[] = [];
    const routed = { answer: await route(parts, journey, trails, dial), trails };
    const { content, trail } = routed.answer;
    if (content.form !== 'socket') return reply(journey, routed);
    if (openSession(parts, journey, routed, content.socket, underway)) return 'upgraded';
    return reply(journey, { ...routed, answer: failed(trail, clientLeft()) });
  };

  const reply = (journey: Journey, { answer, trails }: Routed): Reply => {
    const { content, status } = answer;
    if (content.form === 'error') return refuse(journey, answer, trails, content.error);
    const headers = replyHeaders(journey, answer);
    if (content.form === 'bytes') {
      close(journey, trails, { status, headers, body: content.bytes });
      return { status, headers, body: content.bytes };
    }
    if (isEventAnswer(answer)) return { status, headers, body: streamed(journey, answer, trails, headers) };
    if (content.form === 'raw') return carryThrough(journey, answer, trails, content, headers);
    throw new Error('Any other answer is a session, which replies by itself');
  };

  const streamed = (journey: Journey, answer: EventAnswer, trails: Trail[], headers: HeaderFields): BodySource => {
    streamBegins();
    if (journey.body.form === 'json') journey.body.setAside();
    const finished = ({ sent }: StreamEnd) => {
      streamEnds();
      close(journey, trails, { status: answer.status, headers, body: sent });
    };
    return clientStream(journey, answer, finished, parts.onFault);
  };

  const carryThrough = (
    journey: Journey,
    answer: Answer,
    trails: Trail[],
    content: Extract<Answer['content'], { form: 'raw' }>,
    headers: HeaderFields,
  ): Reply => {
    const { status, trail } = answer;
    const { body: upstreamBody, abort, idleMs } = content;
    if (!upstreamBody) {
      close(journey, trails, { status, headers, body: null });
      return { status, headers, body: null };
    }
    streamBegins();
    const body = carry({ body: upstreamBody, abort, idleMs }, parts.deadlines, ({ copy, outcome, error }) => {
      streamEnds();
      trail.received = copy.bytes;
      trail.endedAt = performance.now();
      trail.error = error;
      if (outcome === 'client left') trail.status = 499;
      if (outcome === 'failed') trail.status = error?.status ?? 502;
      close(journey, trails, { status, headers, body: null });
    });
    return { status, headers, body };
  };

  const refuse = (journey: Journey, answer: Answer, trails: Trail[], error: GatewayError): Reply => {
    const told = errorReply(journey, error, answer.trail);
    close(journey, trails, { status: told.status, headers: told.headers, body: told.body });
    return told;
  };

  /** The client has its answer: what goes wrong now is told to nobody but the operator. */
  const close = (journey: Journey, trails: Trail[], outcome: Outcome) => {
    try {
      settle(parts, journey, trails, outcome);
    } catch (fault) {
      parts.onFault(fault, journey.requestId);
    }
  };

  return {
    handle(request) {
      const asked = askedPath(request.target);
      const matched = asked && dedicatedRoute(request.method, asked);
      return matched ? serve(request, asked, matched) : null;
    },
    passthrough(request) {
      const asked = askedPath(request.target);
      return asked && serve(request, asked, remainingRoute(asked));
    },
    idle: () => underway.none(),
    close() {
      parts.wire.close();
      parts.deadlines.stop();
    },
  };
}
