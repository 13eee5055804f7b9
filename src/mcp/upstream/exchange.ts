/** One HTTP exchange with an upstream: breaker, credentials, time, and a second try where the token had run out. */
import type { McpUpstream } from '../../catalog/mcp/server.ts';
import type { BodyLease } from '../../gateway/request/body-budget.ts';
import type { Deadlines } from '../../gateway/upstream/deadlines.ts';
import type { Secrets } from '../../secrets/resolver.ts';
import { Abort, type Abortable } from '../../wire/abort.ts';
import type { WireAnswer } from '../../wire/client/answer.ts';
import type { Bytes } from '../../wire/client/collected.ts';
import { McpError } from '../errors.ts';
import type { UpstreamIdentity } from '../principal.ts';
import type { McpBreakers } from './breaker.ts';
import { concealedAnswer } from './conceal.ts';
import { filledUpstream, renewedUpstream } from './filled.ts';
import { type SignIdentity, upstreamHeaders } from './headers.ts';
import { timedOut, type UpstreamHttp } from './http.ts';
import type { UpstreamTokens } from './tokens.ts';

export interface UpstreamDeps {
  http: UpstreamHttp;
  tokens: UpstreamTokens;
  breakers: McpBreakers;
  deadlines: Deadlines;
  sign: SignIdentity;
  /** Settings that live in secret managers; absent where nothing is mapped to any. */
  secrets?: Secrets;
  /** Milliseconds for a call when the integration says nothing else. */
  requestTimeout: number;
  pause(ms: number): Promise<void>;
}

export interface UpstreamCall {
  url?: string;
  method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  headers: Readonly<Record<string, string>>;
  body: Bytes | null;
  /** It may arrive twice: sent again where the upstream closes an idle connection in the moment of asking. */
  replayable?: boolean;
  /** A stream that may stay silent for ever says nothing of the upstream's health. */
  listens?: true;
  /** Counts what is held of the answer, for as long as whoever asked holds it. */
  room?: BodyLease;
}

/** A deadline that progress moves, up to a bound, and an abort that both it and the client pull. */
export class CallTime implements Abortable {
  readonly #abort = new Abort();
  readonly #deadline;
  readonly #ms: number;
  #extensions = 0;

  constructor(deadlines: Deadlines, ms: number, outer?: Abortable) {
    this.#ms = ms;
    this.#deadline = deadlines.set(ms, () => this.#abort.abort(timedOut(ms)));
    if (outer?.aborted) this.#abort.abort(outer.reason);
    else outer?.addEventListener('abort', () => this.abort(outer.reason));
  }

  get aborted(): boolean {
    return this.#abort.aborted;
  }

  get reason(): unknown {
    return this.#abort.reason;
  }

  addEventListener(type: 'abort', listener: Parameters<Abortable['addEventListener']>[1]): void {
    this.#abort.addEventListener(type, listener);
  }

  removeEventListener(type: 'abort', listener: Parameters<Abortable['removeEventListener']>[1]): void {
    this.#abort.removeEventListener(type, listener);
  }

  abort(reason: unknown): void {
    this.#deadline.clear();
    this.#abort.abort(reason);
  }

  /** Progress was told: the upstream is alive. */
  extend(): void {
    if (this.#extensions++ < mostExtensions) this.#deadline.extend(this.#ms);
  }

  /** A stream that stays open has no deadline. */
  lift(): void {
    this.#deadline.rest();
  }

  done(): void {
    this.#deadline.clear();
  }
}

const mostExtensions = 10;

export const timeoutOf = ({ settings }: McpUpstream, { requestTimeout }: UpstreamDeps): number =>
  Math.min(settings.timeout_ms ?? requestTimeout, requestTimeout);

/** Runs a call within its time: that of the request, else that of the integration. */
export async function inTime<T>(
  deps: UpstreamDeps,
  upstream: McpUpstream,
  { timeoutMs, signal }: { timeoutMs?: number | undefined; signal?: Abortable | undefined },
  work: (time: CallTime) => Promise<T>,
): Promise<T> {
  const time = new CallTime(deps.deadlines, timeoutMs ?? timeoutOf(upstream, deps), signal);
  try {
    return await work(time);
  } finally {
    time.done();
  }
}

export interface Exchanged {
  answer: WireAnswer;
  tokenRefreshed: boolean;
}

/** An answer of any status but 401; the breaker hears how it went. */
export async function exchange(
  deps: UpstreamDeps,
  wanted: McpUpstream,
  identity: UpstreamIdentity,
  asked: UpstreamCall,
  signal: Abortable,
): Promise<Exchanged> {
  let upstream = wanted.secrets ? await filledUpstream(deps.secrets, wanted) : wanted;
  const { breakers, tokens, http } = deps;
  const breaker = upstream.settings.circuit_breaker;
  let own = await upstreamHeaders(upstream.settings, identity, deps.sign);
  breakers.admit(upstream.id, breaker);
  let tokenRefreshed = false;
  /** The bearer of the last attempt. */
  let used: string | null = null;
  /** True where the secret managers have other values by now; then they are used. */
  const renewSecrets = async (): Promise<boolean> => {
    const renewed = wanted.secrets ? await renewedUpstream(deps.secrets, upstream) : null;
    if (!renewed) return false;
    upstream = renewed;
    own = await upstreamHeaders(upstream.settings, identity, deps.sign);
    return true;
  };
  const bearerOf = (refused: string | null) =>
    tokens.bearer(upstream, identity, refused).catch(async (fault: unknown) => {
      if (isRefusal(fault) && (await renewSecrets())) return tokens.bearer(upstream, identity, refused);
      throw fault;
    });
  const attempt = async (renew: boolean): Promise<WireAnswer> => {
    const bearer = await bearerOf(renew ? used : null);
    used = bearer?.token ?? null;
    tokenRefreshed ||= bearer?.refreshed ?? false;
    const url = asked.url ?? upstream.url;
    const headers = { ...own, ...(bearer && { authorization: `Bearer ${bearer.token}` }), ...asked.headers };
    const { method, body, replayable = false, room } = asked;
    const call = { url, method, headers, body, replayable, tenant: upstream.organisationId, ...(room && { room }) };
    const answer = await http.call(call, signal);
    return concealedAnswer(answer, { url, headers, own: upstream.settings.headers ?? {} });
  };
  try {
    let answer = await attempt(false);
    if (answer.status === 401 && usesTokens(upstream)) {
      tokens.learn(upstream, answer.headers.get('www-authenticate'));
      await answer.body?.cancel();
      answer = await attempt(true);
    }
    if (answer.status === 401 && (await renewSecrets())) {
      await answer.body?.cancel();
      answer = await attempt(true);
    }
    if (answer.status >= 500) breakers.failed(upstream, breaker);
    else breakers.succeeded(upstream.id);
    if (answer.status === 401) {
      tokens.learn(upstream, answer.headers.get('www-authenticate'));
      await answer.body?.cancel();
      throw new McpError('upstream_unauthorized', 'the upstream refuses the credentials of this integration (401)');
    }
    const challenge = answer.status === 403 && usesTokens(upstream) ? answer.headers.get('www-authenticate') : null;
    const wider = challenge?.includes('insufficient_scope') ? await tokens.wider(upstream, identity, challenge) : null;
    if (wider) {
      await answer.body?.cancel();
      throw wider;
    }
    return { answer, tokenRefreshed };
  } catch (fault) {
    const isFailure = fault instanceof McpError && countsAsFailure(fault) && !asked.listens && !wasLeft(signal);
    if (isFailure) breakers.failed(upstream, breaker);
    else breakers.undecided(upstream.id);
    throw fault;
  }
}

/** A token endpoint refused the credentials with which a token is got. */
const isRefusal = (fault: unknown): boolean => fault instanceof McpError && fault.kind === 'upstream_unauthorized';

const usesTokens = ({ authType }: McpUpstream): boolean =>
  authType === 'oauth_auto' || authType === 'oauth_client_credentials';

/** We gave it up, and not because it took too long. */
const wasLeft = ({ aborted, reason }: Abortable): boolean =>
  aborted && !(reason instanceof McpError && reason.kind === 'upstream_timeout');

/** What the upstream is to blame for; refusals of ours and sign-ins that are missing are not. */
const countsAsFailure = ({ kind }: McpError): boolean => kind === 'upstream_timeout' || kind === 'upstream_error';
