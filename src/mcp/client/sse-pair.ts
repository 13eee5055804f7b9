/** Clients of 2024-11-05: a stream that stays open, and messages that are posted beside it. */
import type { Reply } from '../../wire/server/reply.ts';
import { type CallContext, leaseFor } from '../call-context.ts';
import { failed } from '../called.ts';
import type { McpDeps } from '../deps.ts';
import { McpError, sessionLost } from '../errors.ts';
import { type SseEvent, writeSse } from '../protocol/events.ts';
import { resultMessage } from '../protocol/json-rpc.ts';
import { shownFailure } from './ended.ts';
import { EventStream, type KeepAlive } from './event-stream.ts';
import type { McpResponder } from './responder.ts';
import type { Posted, SessionEra } from './session-era.ts';
import { TenantShares } from './tenant-shares.ts';

interface Pair {
  stream: EventStream;
  principalId: string;
  serverId: string;
  /** The session behind the stream, once the client has initialized it. */
  token: string | null;
}

const mostPairs = 10_000;

export class SsePairs {
  readonly #deps: McpDeps;
  readonly #era: SessionEra;
  readonly #keeper: KeepAlive;
  readonly #pairs = new Map<string, Pair>();
  readonly #places = new TenantShares(mostPairs);

  constructor(deps: McpDeps, era: SessionEra, keeper: KeepAlive) {
    this.#deps = deps;
    this.#era = era;
    this.#keeper = keeper;
  }

  open(context: CallContext, slug: string): Reply {
    if (!this.#places.take(context.identified.caller.organisationId)) {
      throw new McpError('rate_limited', 'too many streams are open; try again later');
    }
    const id = crypto.randomUUID();
    const stream = new EventStream(this.#keeper, leaseFor(this.#deps, context), () => this.#left(id, context));
    this.#pairs.set(id, {
      stream,
      principalId: context.principal.id,
      serverId: context.server.id,
      token: null,
    });
    stream.write(writeSse({ event: 'endpoint', data: `/${slug}/messages?sessionId=${id}` }));
    return stream.reply();
  }

  #left(id: string, context: CallContext): void {
    const pair = this.#pairs.get(id);
    if (this.#pairs.delete(id)) this.#places.give(context.identified.caller.organisationId);
    if (!pair?.token) return;
    this.#era
      .end(this.#era.find(context, pair.token), pair.token)
      .catch((fault) => failed(fault, (one) => this.#deps.onFault(one, context.requestId)));
  }

  /** Taken at once; its answer goes on the stream. `over`: told when it is there. */
  post(context: CallContext, sessionId: string, posted: Posted, over: () => void): Reply {
    const pair = this.#pairs.get(sessionId);
    if (!pair || pair.principalId !== context.principal.id || pair.serverId !== context.server.id) throw sessionLost();
    this.#served(context, pair, posted)
      .catch((fault) => this.#deps.onFault(fault, context.requestId))
      .finally(over);
    return { status: 202, headers: {}, body: null };
  }

  async #served(context: CallContext, pair: Pair, posted: Posted): Promise<void> {
    const { message } = posted;
    const answer = new OnStream(pair.stream);
    if (message.kind !== 'request' || message.method !== 'initialize') {
      await this.#era.post(this.#era.find(context, pair.token ?? ''), posted, answer);
      return;
    }
    try {
      const { result, token } = await this.#era.open(context, message.params);
      pair.token = token;
      answer.message(resultMessage(message.id, result));
    } catch (fault) {
      const error = failed(fault, (one) => this.#deps.onFault(one, context.requestId));
      answer.finish(shownFailure(error, message.id, 'session').body);
    }
  }
}

class OnStream implements McpResponder {
  readonly #stream: EventStream;

  constructor(stream: EventStream) {
    this.#stream = stream;
  }

  event({ data }: Partial<SseEvent> & { data: string }): void {
    if (data !== '') this.#stream.write(writeSse({ event: 'message', data }));
  }

  message(message: object): void {
    this.event({ data: JSON.stringify(message) });
  }

  finish(text: string): void {
    this.event({ data: text });
  }

  end(): void {
    // The stream outlives every answer on it.
  }
}
