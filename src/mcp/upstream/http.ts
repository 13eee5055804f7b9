/** HTTP to upstreams that customers chose: every address is checked, also behind a redirect, and the one that was checked is dialled. */
import { GatewayError } from '../../gateway/errors.ts';
import type { BodyBudget, BodyLease } from '../../gateway/request/body-budget.ts';
import { concealedFrom } from '../../gateway/upstream/conceal.ts';
import { CountedBody } from '../../gateway/upstream/counted-body.ts';
import { type HostGuard, marked } from '../../gateway/upstream/host-guard.ts';
import { version } from '../../version.ts';
import { Abort, type Abortable } from '../../wire/abort.ts';
import type { WireAnswer } from '../../wire/client/answer.ts';
import { type Bytes, collected } from '../../wire/client/collected.ts';
import { decodedBody, understood } from '../../wire/client/decoded.ts';
import type { HttpClient } from '../../wire/client/http-client.ts';
import { WireFault } from '../../wire/fault.ts';
import { McpError, ofGateway } from '../errors.ts';

export interface HttpCall {
  url: string;
  method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** By their names in lower case. */
  headers: Readonly<Record<string, string>>;
  body: Bytes | null;
  /** Reads always are. */
  replayable?: boolean;
  /** The organisation for which it is made: connections and look-ups come out of its share. */
  tenant: string;
  /** What is held of the answer is counted here, where it outlasts the reading; else as long as it is read. */
  room?: BodyLease;
}

export interface UpstreamHttp {
  /** Resolves with the head of the answer; fails in the words of the catalogue. */
  call(call: HttpCall, signal: Abortable): Promise<WireAnswer>;
  /** The whole of an answer, within a size and a time. */
  fetch(call: HttpCall, limits: { bytes: number; ms: number }): Promise<FetchedAnswer>;
  /** Why an address must not be called by what its name leads to; null where it may. */
  faultOf(url: string, tenant: string): Promise<string | null>;
  /** The same for an address that is to be saved: null also where the name cannot be looked up now, or not soon. */
  faultOfSaved(url: string, tenant: string): Promise<string | null>;
}

export interface FetchedAnswer {
  status: number;
  headers: WireAnswer['headers'];
  text: string;
  /** Where it came from in the end. */
  url: string;
}

/** Those who have not said who they are share one share. */
export const nobody = '';
const mostRedirects = 3;
/** Whoever saves an address waits no longer for its name. */
const lookupPatienceMs = 1_500;
const unlessSaid = { 'accept-encoding': understood, 'user-agent': `gw/${version}` };
const keepsMethod = new Set([307, 308]);
const redirects = new Set([301, 302, 303, 307, 308]);

/** Only these follow to another origin: any header that an integration sets may be a credential. */
const harmlessHeaders = new Set([
  'accept',
  'content-type',
  'user-agent',
  'traceparent',
  'tracestate',
  'mcp-protocol-version',
  'mcp-method',
  'mcp-name',
  'a2a-version',
  'a2a-extensions',
]);

const credentialsIn = (headers: Readonly<Record<string, string>>): Record<string, string> =>
  Object.fromEntries(Object.entries(headers).filter(([name]) => !harmlessHeaders.has(name)));

export function createUpstreamHttp(client: HttpClient, guard: HostGuard, bodies: BodyBudget): UpstreamHttp {
  const once = async (call: HttpCall, signal: Abortable): Promise<WireAnswer> => {
    const pinned = await guard.check(call.url, call.tenant);
    const headers = marked(call.headers, guard.mark);
    const answer = await client.call({ ...call, headers, pinned, unlessSaid }, signal);
    const body = answer.body && decodedBody(answer.body, answer.headers);
    const read = body === answer.body ? answer : { ...answer, body };
    const concealed = concealedFrom(read, call.url, credentialsIn(call.headers));
    if (!concealed.body) return concealed;
    const isEvents = (answer.headers.get('content-type') ?? '').toLowerCase().startsWith('text/event-stream');
    const room = call.room ?? bodies.lease(call.tenant);
    return { ...concealed, body: new CountedBody(concealed.body, room, isEvents) };
  };

  const follow = async (first: HttpCall, signal: Abortable): Promise<{ answer: WireAnswer; url: string }> => {
    let call = first;
    for (let hop = 0; ; hop++) {
      const answer = await once(call, signal);
      const location = redirects.has(answer.status) ? answer.headers.get('location') : null;
      if (location === null) return { answer, url: call.url };
      await answer.body?.cancel();
      const next = URL.parse(location, call.url);
      // A POST that becomes a GET would lose what was asked.
      if (!next || hop >= mostRedirects || (call.method !== 'GET' && !keepsMethod.has(answer.status))) {
        throw new McpError('upstream_error', 'the upstream answered with a redirect that cannot be followed');
      }
      call = {
        ...call,
        url: next.href,
        headers: next.origin === new URL(call.url).origin ? call.headers : withoutCredentials(call.headers),
      };
    }
  };

  const call: UpstreamHttp['call'] = async (first, signal) => {
    try {
      return (await follow(first, signal)).answer;
    } catch (fault) {
      throw explained(fault, signal);
    }
  };

  return {
    call,
    async faultOf(url, tenant) {
      try {
        await guard.check(url, tenant);
        return null;
      } catch (fault) {
        if (!(fault instanceof GatewayError)) return 'cannot be looked up';
        return fault.message
          .replace(/^Gateway error: /, '')
          .replace('the custom host', '')
          .trim();
      }
    },
    async faultOfSaved(url, tenant) {
      const late = Promise.withResolvers<null>();
      const timer = setTimeout(late.resolve, lookupPatienceMs, null);
      try {
        await Promise.race([guard.check(url, tenant), late.promise]);
        return null;
      } catch (fault) {
        const isRefused = fault instanceof GatewayError && fault.code === 'invalid_custom_host';
        return isRefused ? `cannot be called: ${fault.message.replace(/^.*cannot be used: /, '')}` : null;
      } finally {
        clearTimeout(timer);
      }
    },
    async fetch(first, { bytes, ms }) {
      const abort = new Abort();
      const timer = setTimeout(() => abort.abort(timedOut(ms)), ms);
      try {
        const { answer, url } = await follow(first, abort);
        const body = answer.body ? await collected(answer.body, bytes) : new Uint8Array();
        return { status: answer.status, headers: answer.headers, text: new TextDecoder().decode(body), url };
      } catch (fault) {
        throw explained(fault, abort);
      } finally {
        clearTimeout(timer);
      }
    },
  };
}

const withoutCredentials = (headers: Readonly<Record<string, string>>): Record<string, string> =>
  Object.fromEntries(Object.entries(headers).filter(([name]) => harmlessHeaders.has(name)));

export const timedOut = (ms: number): McpError =>
  new McpError('upstream_timeout', `the upstream did not answer within ${ms} ms`);

/** What a failed connection means to the client. Addresses and internals stay out of the message. */
export function explained(fault: unknown, signal: Abortable): McpError {
  if (fault instanceof McpError) return fault;
  if (signal.aborted && signal.reason instanceof McpError) return signal.reason;
  if (fault instanceof GatewayError && fault.code === 'buffers_full') return ofGateway(fault);
  if (fault instanceof GatewayError) {
    return new McpError(
      'upstream_forbidden',
      fault.message.replace(/^Gateway error: /, '').replace('custom host', 'address'),
    );
  }
  if (fault instanceof WireFault && fault.code === 'ShareUsedUp') {
    return new McpError(
      'rate_limited',
      'this organisation has as many connections open as it may; try again in a moment',
    );
  }
  if (fault instanceof WireFault) {
    const reason = fault.code === 'BodyTooLarge' ? 'answered with too much' : `could not be reached (${fault.code})`;
    return new McpError('upstream_error', `the upstream ${reason}`);
  }
  return new McpError('upstream_error', 'the upstream could not be reached or closed the connection');
}
