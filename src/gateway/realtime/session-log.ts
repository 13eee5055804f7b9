/** What a session leaves in the log: one record for each response of the model, with its usage and cost, and one for the session itself. */
import { readUsage } from '../../providers/usage.ts';
import type { SocketMessage } from '../../wire/websocket/relay.ts';
import type { AttemptRecord, Reserved } from '../attempt/answer.ts';
import type { RequestContext } from '../context.ts';
import type { GatewayDeps } from '../deps.ts';
import { GatewayError } from '../errors.ts';
import { type AdmittedContext, admissionOf } from '../limits/admission.ts';
import { spentOf } from '../limits/steps.ts';
import { JsonBody } from '../request/body.ts';
import type { HeaderFields } from '../request/headers.ts';
import type { Routed } from '../routing/route.ts';
import { settle } from '../settle/settle.ts';
import { settlementOf } from '../settle/settlement.ts';
import { SessionConversation } from './conversation.ts';
import { objectIn, type ProviderEvent, readEvent, textIn } from './events.ts';
import { Bucket } from './frame-budget.ts';
import type { Ending } from './session.ts';

const longestBody = 256 * 1024;
const mostNoted = 64 * 1024;
/** Responses of which only the beginning was seen. */
const mostPending = 100;

/** A model takes longer than this for the shortest of them; each costs a settlement and a record. */
const responsesASecond = 20;
const responsesAtOnce = 100;

/** What ends a session from here. */
interface SessionEnds {
  /** A limit leaves no room for another response. */
  exceeded(refusal: GatewayError): void;
  /** The provider ends responses faster than any model could. */
  flooded(): void;
}

export class SessionLog {
  readonly #deps: GatewayDeps;
  readonly #context: RequestContext;
  readonly #routed: Routed;
  readonly #headers: HeaderFields;
  readonly #openedAt = performance.now();
  readonly #conversation = new SessionConversation();
  readonly #pending = new Map<string, number>();
  readonly #noted: string[] = [];
  #notedLength = 0;
  #leftOut = 0;
  #responses = 0;

  readonly #ends: SessionEnds;
  readonly #settling = new Bucket(responsesASecond, responsesAtOnce, () => performance.now());
  #flooded = false;

  constructor(
    deps: GatewayDeps,
    context: RequestContext,
    routed: Routed,
    headers: HeaderFields,
    ends: SessionEnds = { exceeded: () => undefined, flooded: () => undefined },
  ) {
    this.#ends = ends;
    this.#deps = deps;
    this.#context = context;
    this.#routed = routed;
    this.#headers = headers;
  }

  /** Looks at what the provider sent; answers how many characters of it were read. */
  observe(frame: SocketMessage): number {
    if (this.#flooded) return 0;
    const event = readEvent(frame);
    if (!event) return 0;
    const { type } = event;
    if (type === 'response.created') this.#begin(event);
    else if (type === 'response.done') this.#settleResponse(event);
    else if (type.startsWith('conversation.')) this.#conversation.observe(event);
    else this.#note(event);
    return event.text.length;
  }

  end(ending: Ending): void {
    const { record } = this.#routed.answer;
    record.endedAt = performance.now();
    record.upstreamMs += record.endedAt - this.#openedAt;
    if (ending.by === 'provider' && ending.code === 1006) {
      record.error = new GatewayError('stream_incomplete', 'the provider cut the session off');
      record.status = record.error.status;
    }
    settle(this.#deps, this.#context, this.#routed.records, {
      status: 101,
      headers: this.#headers,
      body: Buffer.from(this.#summary(ending)),
    });
  }

  /** The events are JSON already. */
  #summary(ending: Ending): string {
    const told = {
      session_id: this.#context.requestId,
      closed: ending,
      responses: this.#responses,
      ...(this.#leftOut > 0 && { events_left_out: this.#leftOut }),
    };
    return `${JSON.stringify(told).slice(0, -1)},"events":[${this.#noted.join(',')}]}`;
  }

  #note({ text }: ProviderEvent): void {
    if (this.#notedLength + text.length > mostNoted) {
      this.#leftOut++;
      return;
    }
    this.#noted.push(text);
    this.#notedLength += text.length;
  }

  #begin({ fields }: ProviderEvent): void {
    const id = textIn(objectIn(fields.response)?.id);
    if (id === null) return;
    if (this.#pending.size >= mostPending) this.#pending.delete(this.#pending.keys().next().value ?? '');
    this.#pending.set(id, performance.now());
  }

  /** What this response took is spent; the next one needs room of its own. */
  #settleTurn(context: RequestContext, record: AttemptRecord): void {
    const admission = admissionOf(this.#context);
    const session = this.#routed.answer.record;
    const { hold } = session;
    if (!admission || !hold) return;
    const { usage, cost } = settlementOf(this.#deps, context, record);
    const spent = spentOf(hold, record, usage, cost);
    admission.settle(hold, spent);
    const next = hold.again(spent);
    const taken = (reserved: Reserved) => {
      if ('refusal' in reserved) this.#ends.exceeded(reserved.refusal);
      else session.hold = reserved.hold;
    };
    if (next instanceof Promise) next.then(taken, (fault) => this.#deps.onFault(fault, context.requestId));
    else taken(next);
  }

  #settleResponse({ fields, text }: ProviderEvent): void {
    if (this.#settling.take(1) > 0) {
      this.#flooded = true;
      this.#ends.flooded();
      return;
    }
    this.#responses++;
    const response = objectIn(fields.response) ?? {};
    const id = textIn(response.id) ?? '';
    const endedAt = performance.now();
    const startedAt = this.#pending.get(id) ?? endedAt;
    this.#pending.delete(id);
    const status = response.status === 'failed' ? 500 : 200;
    const conversation = Buffer.from(this.#conversation.text);
    const record: AttemptRecord = {
      ...this.#routed.answer.record,
      status,
      usage: readUsage(response.usage),
      startedAt,
      endedAt,
      upstreamMs: endedAt - startedAt,
    };
    const context: AdmittedContext = {
      ...this.#context,
      startedAt,
      receivedAt: this.#deps.clock.now().getTime() - Math.round(endedAt - startedAt),
      spanId: Bun.randomUUIDv7(),
      parentSpanId: this.#context.spanId,
      spanName: 'response.done',
      body: new JsonBody(conversation, {}),
      // The session itself holds what its responses take.
      admission: undefined,
    };
    this.#settleTurn(context, record);
    settle(this.#deps, context, [record], {
      status,
      headers: this.#headers,
      body: Buffer.from(text).subarray(0, longestBody),
    });
  }
}
