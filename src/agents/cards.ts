/** Fetches agents' cards: only at their well-known places, at most 1 MB, within a time, and every address on the way is checked. */
import { readJson } from '../bounded-json.ts';
import { type AgentCard, largestCard, readCard } from '../catalog/agents/card.ts';
import type { AgentCards, CardResult } from '../catalog/agents/cards.ts';
import type { AgentUpstream } from '../catalog/agents/server.ts';
import type { McpError } from '../mcp/errors.ts';
import type { UpstreamIdentity } from '../mcp/principal.ts';
import { plainIdentity } from '../mcp/probe.ts';
import { exchange, type UpstreamDeps } from '../mcp/upstream/exchange.ts';
import { forwardedDigest } from '../mcp/upstream/headers.ts';
import { explained, timedOut } from '../mcp/upstream/http.ts';
import { Abort, type Abortable } from '../wire/abort.ts';
import { isOk, type WireAnswer } from '../wire/client/answer.ts';
import { collected } from '../wire/client/collected.ts';
import { WireFault } from '../wire/fault.ts';

const longestMs = 10_000;
const keptMs = 60_000;
const failureMs = 5_000;
const mostKept = 2_000;
const places = ['/.well-known/agent-card.json', '/.well-known/agent.json'] as const;

/** How one place is asked. */
type Ask = (url: string, headers: Readonly<Record<string, string>>, signal: Abortable) => Promise<WireAnswer>;

export interface LiveCards extends AgentCards {
  /** As the caller's generation of the protocol gets it: agents may answer each with a card of its own. */
  forVersion(upstream: AgentUpstream, identity: UpstreamIdentity, version: string | null): Promise<CardResult>;
}

interface Kept {
  result: Promise<CardResult>;
  until: number;
}

export function createAgentCards(deps: UpstreamDeps, now: () => number): LiveCards {
  const kept = new Map<string, Kept>();
  const timeoutMs = Math.min(longestMs, deps.requestTimeout);

  const atPlaces = async (base: string, ask: Ask, version: string | null): Promise<CardResult> => {
    const startedAt = performance.now();
    const abort = new Abort();
    const timer = setTimeout(() => abort.abort(timedOut(timeoutMs)), timeoutMs);
    const elapsed = () => Math.round(performance.now() - startedAt);
    const headers = { accept: 'application/json', ...(version !== null && { 'a2a-version': version }) };
    let refused: CardResult | null = null;
    try {
      for (const place of places) {
        const answer = await ask(base.replace(/\/+$/, '') + place, headers, abort);
        if (!isOk(answer)) {
          await answer.body?.cancel();
          const error = `answered with status ${answer.status}`;
          refused ??= failed('unreachable', answer.status, elapsed(), error);
          continue;
        }
        const reading = await cardIn(answer);
        if ('card' in reading) {
          return { found: true, card: reading.card, responseTimeMs: elapsed(), statusCode: answer.status };
        }
        refused = failed('card', answer.status, elapsed(), reading.fault);
      }
    } catch (fault) {
      return failedBy(explained(fault, abort), elapsed());
    } finally {
      clearTimeout(timer);
    }
    return refused ?? failed('unreachable', null, elapsed(), 'gave no answer');
  };

  const withCredentials =
    (upstream: AgentUpstream, identity: UpstreamIdentity): Ask =>
    async (url, headers, signal) =>
      (await exchange(deps, upstream, identity, { url, method: 'GET', headers, body: null, listens: true }, signal))
        .answer;

  const remembered = (key: string, fetch: () => Promise<CardResult>, fresh: boolean): Promise<CardResult> => {
    const known = kept.get(key);
    if (known && !fresh && known.until > now()) return known.result;
    if (kept.size >= mostKept) kept.clear();
    const result = fetch();
    const entry = { result, until: now() + keptMs };
    kept.set(key, entry);
    // An agent whose card fails is not asked for it by every call.
    result.then(
      ({ found }) => {
        if (!found) entry.until = now() + failureMs;
      },
      () => void kept.delete(key),
    );
    return result;
  };

  const keyOf = (upstream: AgentUpstream, identity: UpstreamIdentity, version: string | null): string =>
    [
      upstream.integrationId,
      upstream.revision,
      identity.key,
      version ?? '',
      forwardedDigest(upstream.settings, identity),
    ].join(' ');

  return {
    at(endpoint, headers, tenant) {
      const own = Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]));
      const ask: Ask = (url, asked, signal) =>
        deps.http.call({ url, method: 'GET', headers: { ...own, ...asked }, body: null, tenant }, signal);
      return atPlaces(endpoint, ask, newestVersion);
    },
    of(upstream, { fresh }) {
      const identity = plainIdentity(null);
      const fetch = () => atPlaces(upstream.url, withCredentials(upstream, identity), newestVersion);
      return remembered(keyOf(upstream, identity, newestVersion), fetch, fresh);
    },
    forVersion(upstream, identity, version) {
      const fetch = () => atPlaces(upstream.url, withCredentials(upstream, identity), version);
      return remembered(keyOf(upstream, identity, version), fetch, false);
    },
  };
}

/** The generation whose card is kept; older agents do not look at it. */
export const newestVersion = '1.0';

async function cardIn({ body }: WireAnswer): Promise<{ card: AgentCard } | { fault: string }> {
  let text: string;
  try {
    text = new TextDecoder().decode(body ? await collected(body, largestCard) : new Uint8Array());
  } catch (fault) {
    if (fault instanceof WireFault && fault.code === 'BodyTooLarge') {
      return { fault: `is larger than ${largestCard} bytes` };
    }
    throw fault;
  }
  try {
    return readCard(readJson(text));
  } catch {
    return { fault: 'is no JSON' };
  }
}

const failed = (
  fault: 'address' | 'card' | 'unreachable' | 'timeout',
  statusCode: number | null,
  responseTimeMs: number,
  error: string,
): CardResult => ({ found: false, fault, statusCode, responseTimeMs, error });

function failedBy({ kind, message }: McpError, responseTimeMs: number): CardResult {
  const fault = kind === 'upstream_timeout' ? 'timeout' : kind === 'upstream_forbidden' ? 'address' : 'unreachable';
  return failed(fault, null, responseTimeMs, message.replace(/^the upstream /, ''));
}
