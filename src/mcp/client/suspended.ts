/** Calls to upstreams of the session era that wait for something which only the client can answer, and the client is one of the stateless era. */
import type { Called } from '../called.ts';
import { McpError } from '../errors.ts';
import { isFields, type JsonRpcFields, type RpcRequest, type RpcResponse } from '../protocol/json-rpc.ts';
import type { SessionSeal } from './session-token.ts';

const timeoutMs = 5 * 60_000;
const mostSuspended = 5_000;
/** Of one organisation. */
const mostOfTenant = 1_250;
/** What an upstream may want to know at once. */
const mostAsked = 100;

/** A call under way: it ends with an answer, or is interrupted by what the upstream asks. */
export class OpenCall {
  readonly #answer: Promise<Called>;
  readonly #pending = new Map<string, { request: RpcRequest; answer(response: RpcResponse): void }>();
  #interrupt = Promise.withResolvers<'asked'>();
  #counter = 0;

  constructor(begin: (ask: (request: RpcRequest) => Promise<RpcResponse>) => Promise<Called>) {
    this.#answer = begin(
      (request) =>
        new Promise((resolve) => {
          if (this.#pending.size >= mostAsked) {
            resolve({
              kind: 'response',
              id: request.id,
              error: { code: -32000, message: 'Too much is asked at once' },
            });
            return;
          }
          this.#pending.set(`input_${++this.#counter}`, { request, answer: resolve });
          this.#interrupt.resolve('asked');
        }),
    );
    // It may fail while nobody waits for it.
    this.#answer.catch(() => undefined);
  }

  /** The answer, or null when the upstream wants to know something first. */
  async next(): Promise<Called | null> {
    if (this.#pending.size > 0) return null;
    const first = await Promise.race([this.#answer, this.#interrupt.promise]);
    return first === 'asked' ? null : first;
  }

  get inputRequests(): JsonRpcFields {
    return Object.fromEntries(
      [...this.#pending].map(([key, { request }]) => [key, { method: request.method, params: request.params }]),
    );
  }

  /** True when everything that was asked has been answered. */
  answer(responses: JsonRpcFields): boolean {
    for (const [key, { request, answer }] of [...this.#pending]) {
      const given = responses[key];
      if (!isFields(given)) continue;
      this.#pending.delete(key);
      answer({ kind: 'response', id: request.id, result: given });
    }
    if (this.#pending.size > 0) return false;
    this.#interrupt = Promise.withResolvers<'asked'>();
    return true;
  }

  /** Nobody will come back for it. */
  abandon(): void {
    for (const { request, answer } of this.#pending.values()) {
      answer({ kind: 'response', id: request.id, error: { code: -32000, message: 'The client did not answer' } });
    }
    this.#pending.clear();
  }
}

interface Kept {
  call: OpenCall;
  /** Who may take it up, and what they must ask for again. */
  owner: string;
  tenant: string;
  timer: ReturnType<typeof setTimeout>;
}

export class SuspendedCalls {
  readonly #seal: SessionSeal;
  readonly #kept = new Map<string, Kept>();

  constructor(seal: SessionSeal) {
    this.#seal = seal;
  }

  /** The state that the client must send back. */
  keep(call: OpenCall, owner: string, tenant: string): string {
    const id = Bun.randomUUIDv7();
    const own = [...this.#kept].filter(([, kept]) => kept.tenant === tenant);
    // A tenant that has used its share evicts its own oldest call.
    const [oldest] =
      own.length >= mostOfTenant ? (own[0] ?? []) : this.#kept.size >= mostSuspended ? this.#kept.keys() : [];
    if (typeof oldest === 'string') this.#drop(oldest);
    this.#kept.set(id, { call, owner, tenant, timer: setTimeout(() => this.#drop(id), timeoutMs) });
    return this.#seal.seal(`suspended ${id}`);
  }

  take(state: string, owner: string): OpenCall {
    let id: string | undefined;
    try {
      id = /^suspended (.+)$/.exec(this.#seal.open(state))?.[1];
    } catch {
      id = undefined;
    }
    const kept = id === undefined ? undefined : this.#kept.get(id);
    if (id === undefined || !kept || kept.owner !== owner) {
      throw new McpError(
        'invalid_params',
        'params.requestState is unknown here, has expired or belongs to another request; start the request again',
      );
    }
    clearTimeout(kept.timer);
    this.#kept.delete(id);
    return kept.call;
  }

  /** Whether a state is one of ours, and not one that the upstream made. */
  owns(state: string): boolean {
    try {
      return this.#seal.open(state).startsWith('suspended ');
    } catch {
      return false;
    }
  }

  #drop(id: string): void {
    const kept = this.#kept.get(id);
    if (!kept) return;
    clearTimeout(kept.timer);
    this.#kept.delete(id);
    kept.call.abandon();
  }

  close(): void {
    for (const id of [...this.#kept.keys()]) this.#drop(id);
  }
}
