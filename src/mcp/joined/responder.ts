/** Hands an answer of one server on in the names of the joined address. */
import { readJson } from '../../bounded-json.ts';
import type { McpResponder } from '../client/responder.ts';
import type { SseEvent } from '../protocol/events.ts';
import { isFields, type JsonRpcFields, type JsonRpcId } from '../protocol/json-rpc.ts';
import { joinedNotification, joinedResult } from './names.ts';

/** A request of the server to the client: under which id the client gets it. */
export type Relay = (id: JsonRpcId) => JsonRpcId;

export class JoinedResponder implements McpResponder {
  readonly #to: McpResponder;
  readonly #slug: string;
  readonly #method: string;
  readonly #relay: Relay;

  constructor(to: McpResponder, slug: string, method: string, relay: Relay) {
    this.#to = to;
    this.#slug = slug;
    this.#method = method;
    this.#relay = relay;
  }

  event({ data }: Partial<SseEvent> & { data: string }): void {
    // An event that only carries the upstream's own id is of no use: streams of several servers are not resumed.
    const message = fieldsIn(data);
    if (message) this.#to.message(joinedMessage(this.#slug, message, this.#relay));
  }

  message(message: object): void {
    this.event({ data: JSON.stringify(message) });
  }

  finish(text: string, status: number, headers?: Readonly<Record<string, string>>): void {
    const answer = fieldsIn(text);
    const result = answer?.result;
    const shown =
      answer && isFields(result)
        ? JSON.stringify({ ...answer, result: joinedResult(this.#slug, this.#method, result) })
        : text;
    this.#to.finish(shown, status, headers);
  }

  end(): void {
    this.#to.end();
  }
}

/** A notification or a request of one server, as the client gets it. */
export function joinedMessage(slug: string, message: JsonRpcFields, relay: Relay): JsonRpcFields {
  const { method, id, params } = message;
  if (typeof method !== 'string') return message;
  if (typeof id === 'string' || typeof id === 'number') return { ...message, id: relay(id) };
  return isFields(params) ? { ...message, params: joinedNotification(slug, method, params) } : message;
}

function fieldsIn(text: string): JsonRpcFields | null {
  if (text === '') return null;
  const parsed: unknown = readJson(text);
  return isFields(parsed) ? parsed : null;
}
